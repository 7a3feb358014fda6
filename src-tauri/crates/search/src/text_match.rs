//! Case-insensitive search inside a single text, for what the full-text index cannot answer.

use std::ops::Range;

/// Counts the occurrences of `needle` in `text`, ignoring case.
pub(crate) fn count(text: &str, needle: &str) -> usize {
    let needle = needle.to_lowercase();
    if needle.is_empty() {
        return 0;
    }
    text.to_lowercase().matches(&needle).count()
}

/// Finds the first occurrence of a short word. Two letters occur inside most longer words, so
/// in scripts with spaces only the beginning of a word counts, also inside a name (`openDb`).
pub(crate) fn find_short_word(text: &str, wanted: &str) -> Option<Range<usize>> {
    let first = wanted.chars().next()?;
    let anywhere = !is_spaced_script(first);
    let mut previous = None;
    for (at, c) in text.char_indices() {
        let starts_word = match previous {
            Some(previous) => {
                !is_spaced_script(previous)
                    || (is_lower_or_digit(previous) && !is_lower_or_digit(c))
            }
            None => true,
        };
        previous = Some(c);
        if (anywhere || starts_word)
            && lowercase(c) == first
            && let Some(length) = match_prefix(&text[at..], wanted)
        {
            return Some(at..at + length);
        }
    }
    None
}

/// The length in bytes of the prefix of `text` that equals `wanted`.
fn match_prefix(text: &str, wanted: &str) -> Option<usize> {
    let mut rest = text.chars();
    for c in wanted.chars() {
        if lowercase(rest.next()?) != c {
            return None;
        }
    }
    Some(text.len() - rest.as_str().len())
}

/// A letter of a script that puts spaces between words.
fn is_spaced_script(c: char) -> bool {
    c.is_alphanumeric() && (c as u32) < 0x0e00
}

fn is_lower_or_digit(c: char) -> bool {
    c.is_lowercase() || c.is_numeric()
}

/// Maps one character to exactly one, so that positions in the text stay valid.
fn lowercase(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::{count, find_short_word};

    #[test]
    fn a_short_word_is_found_only_at_the_start_of_a_word() {
        for (text, wanted, at) in [
            ("build the UI", "ui", Some(10..12)),
            ("build", "ui", None),
            ("openDb()", "db", Some(4..6)),
            ("open_db", "db", Some(5..7)),
            ("Ärger", "är", Some(0..3)),
            ("これは日本語", "日本", Some(9..15)),
            ("x", "xy", None),
        ] {
            assert_eq!(find_short_word(text, wanted), at, "{text} {wanted}");
        }
    }

    #[test]
    fn case_is_ignored_and_matches_do_not_overlap() {
        assert_eq!(count("Timer timer TIMERS", "tImEr"), 3);
        assert_eq!(count("aaaa", "aa"), 2);
        assert_eq!(count("ÄÖÜ äöü", "äö"), 2);
        assert_eq!(count("anything", ""), 0);
    }
}
