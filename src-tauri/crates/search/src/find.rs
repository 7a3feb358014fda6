//! Where a text stands inside another one, whatever its case.

/// How often `needle` stands in `text`; both are compared in lower case.
pub(crate) fn count(text: &str, needle: &str) -> usize {
    let needle = needle.to_lowercase();
    if needle.is_empty() {
        return 0;
    }
    text.to_lowercase().matches(&needle).count()
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn case_does_not_matter_and_matches_do_not_overlap() {
        assert_eq!(count("Timer timer TIMERS", "tImEr"), 3);
        assert_eq!(count("aaaa", "aa"), 2);
        assert_eq!(count("ÄÖÜ äöü", "äö"), 2);
        assert_eq!(count("anything", ""), 0);
    }
}
