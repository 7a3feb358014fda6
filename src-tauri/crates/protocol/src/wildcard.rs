//! Wildcards, as in permission rules and lists of variables.

/// `*` is any text and `?` one character; everything else is itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    // On a mismatch it goes back to the newest star only, so its time is bounded by the product
    // of both lengths.
    let mut star: Option<(&str, &str)> = None;
    while let Some(next) = text.chars().next() {
        let wanted = pattern.chars().next();
        if wanted == Some('*') {
            pattern = &pattern[1..];
            star = Some((pattern, text));
        } else if let Some(wanted) = wanted.filter(|wanted| *wanted == '?' || *wanted == next) {
            pattern = &pattern[wanted.len_utf8()..];
            text = &text[next.len_utf8()..];
        } else if let Some((behind, from)) = star {
            // The star takes one character more.
            let taken = from.chars().next().map_or(0, char::len_utf8);
            star = Some((behind, &from[taken..]));
            (pattern, text) = (behind, &from[taken..]);
        } else {
            return false;
        }
    }
    pattern.chars().all(|wanted| wanted == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
            ("*", "a\nb/c", true),
            ("?.rs", "a.rs", true),
            ("?.rs", "é.rs", true),
            ("?.rs", "ab.rs", false),
            ("?.rs", ".rs", false),
            ("*_KEY", "APP_KEY", true),
            ("*_KEY", "APP_KEY_TOKEN", false),
            ("*_KEY", "A_KEY_B_KEY", true),
            ("CORP_*", "CORP_", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a]", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern:?} on {text:?}");
        }
    }

    #[test]
    fn many_stars_do_not_take_for_ever() {
        let (pattern, text) = ("*a".repeat(200), "a".repeat(5_000) + "b");
        assert!(!matches(&pattern, &text));
    }
}
