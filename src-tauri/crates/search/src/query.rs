//! Parses what the user typed into the search box.

/// Shorter words are not in the index, whose tokens are trigrams.
const MIN_INDEXED: usize = 3;

/// A text matches when it has every word, and every `"quoted phrase"` literally. Case and accents
/// are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// The long words, in the syntax of SQLite's full-text search.
    pub indexed: Option<String>,
    /// Words too short for the index, in lower case.
    pub short: Vec<String>,
}

impl Query {
    /// `None` when there is nothing to search for.
    pub fn new(typed: &str) -> Option<Self> {
        let mut words: Vec<&str> = Vec::new();
        for (index, piece) in typed.split('"').enumerate() {
            match index % 2 {
                1 => words.push(piece.trim()),
                _ => words.extend(piece.split_whitespace()),
            }
        }
        // Punctuation alone would match everywhere.
        words.retain(|word| word.chars().any(char::is_alphanumeric));
        let (long, short): (Vec<&str>, Vec<&str>) = words
            .into_iter()
            .partition(|word| count_letters(word) >= MIN_INDEXED);
        // A word cannot contain quotes: the text was split at them.
        let terms: Vec<String> = long
            .iter()
            .map(|word| format!("\"{}\"", word.replace('\0', " ")))
            .collect();
        let query = Query {
            indexed: (!terms.is_empty()).then(|| terms.join(" ")),
            short: short.into_iter().map(str::to_lowercase).collect(),
        };
        (query.indexed.is_some() || !query.short.is_empty()).then_some(query)
    }
}

/// Counts like the index does: without combining accents.
fn count_letters(word: &str) -> usize {
    let accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    word.chars().filter(|c| !accent(c)).count()
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn long_words_go_to_the_index_and_short_ones_do_not() {
        let cases = [
            ("flick", Some(r#""flick""#), &[][..]),
            ("  two  words ", Some(r#""two" "words""#), &[]),
            (
                r#"say "hello there" now"#,
                Some(r#""say" "hello there" "now""#),
                &[],
            ),
            ("DB timeout", Some(r#""timeout""#), &["db"]),
            ("日本", None, &["日本"]),
            ("ne\u{301}", None, &["ne\u{301}"]),
            // Operators of the search engine are plain text.
            ("a OR NEAR(c)", Some(r#""NEAR(c)""#), &["a", "or"]),
            (r#"open "quote"#, Some(r#""open" "quote""#), &[]),
        ];
        for (typed, indexed, short) in cases {
            let query = Query::new(typed).unwrap();
            assert_eq!(query.indexed.as_deref(), indexed, "{typed}");
            assert_eq!(query.short, short, "{typed}");
        }
        for typed in ["", "  -- ** ", r#""""#] {
            assert_eq!(Query::new(typed), None, "{typed}");
        }
    }
}
