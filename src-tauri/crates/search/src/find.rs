//! Where a text stands inside another one, whatever its case.

use std::ops::Range;

/// How often `needle` stands in `text`; both are compared in lower case.
pub(crate) fn count(text: &str, needle: &str) -> usize {
    let needle = needle.to_lowercase();
    if needle.is_empty() {
        return 0;
    }
    text.to_lowercase().matches(&needle).count()
}

/// Where a short word stands first. Two letters stand inside every other word, so a word of an
/// alphabet counts only where one begins, also inside a name (`openDb`).
pub(crate) fn word(text: &str, wanted: &str) -> Option<Range<usize>> {
    let first = wanted.chars().next()?;
    let anywhere = !is_spaced(first);
    let mut before = None;
    for (at, c) in text.char_indices() {
        let begins = match before {
            Some(before) => !is_spaced(before) || (is_small(before) && !is_small(c)),
            None => true,
        };
        before = Some(c);
        if (anywhere || begins)
            && lower(c) == first
            && let Some(length) = begins_with(&text[at..], wanted)
        {
            return Some(at..at + length);
        }
    }
    None
}

/// How much of the text that is.
fn begins_with(text: &str, wanted: &str) -> Option<usize> {
    let mut rest = text.chars();
    for c in wanted.chars() {
        if lower(rest.next()?) != c {
            return None;
        }
    }
    Some(text.len() - rest.as_str().len())
}

/// Of a script that leaves blanks between its words.
fn is_spaced(c: char) -> bool {
    c.is_alphanumeric() && (c as u32) < 0x0e00
}

fn is_small(c: char) -> bool {
    c.is_lowercase() || c.is_numeric()
}

/// One character for one, so that places stay places.
fn lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::{count, word};

    #[test]
    fn a_short_word_is_found_where_a_word_begins() {
        for (text, wanted, at) in [
            ("build the UI", "ui", Some(10..12)),
            ("build", "ui", None),
            ("openDb()", "db", Some(4..6)),
            ("open_db", "db", Some(5..7)),
            ("Ärger", "är", Some(0..3)),
            ("これは日本語", "日本", Some(9..15)),
            ("x", "xy", None),
        ] {
            assert_eq!(word(text, wanted), at, "{text} {wanted}");
        }
    }

    #[test]
    fn case_does_not_matter_and_matches_do_not_overlap() {
        assert_eq!(count("Timer timer TIMERS", "tImEr"), 3);
        assert_eq!(count("aaaa", "aa"), 2);
        assert_eq!(count("ÄÖÜ äöü", "äö"), 2);
        assert_eq!(count("anything", ""), 0);
    }
}
