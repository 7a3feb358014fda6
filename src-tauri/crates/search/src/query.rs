//! From what a person typed to what is looked for.

/// Shorter ones are in no index: it knows three letters at a time.
const INDEXED: usize = 3;

/// What must all stand in a text, whatever its case or accents: each word, and `"quoted words"` as
/// they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// For SQLite's full-text search.
    pub indexed: Option<String>,
    /// Words too short for it, in lower case.
    pub short: Vec<String>,
}

impl Query {
    /// `None` when there is nothing to look for.
    pub fn new(typed: &str) -> Option<Self> {
        let mut words: Vec<&str> = Vec::new();
        for (index, piece) in typed.split('"').enumerate() {
            match index % 2 {
                1 => words.push(piece.trim()),
                _ => words.extend(piece.split_whitespace()),
            }
        }
        // Punctuation alone stands everywhere.
        words.retain(|word| word.chars().any(char::is_alphanumeric));
        let (long, short): (Vec<&str>, Vec<&str>) =
            words.into_iter().partition(|word| letters(word) >= INDEXED);
        // Quotes cannot occur inside: they were split at.
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

/// As the index counts them: without accents that are characters of their own.
fn letters(word: &str) -> usize {
    let accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    word.chars().filter(|c| !accent(c)).count()
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn long_words_are_the_index_s_and_short_ones_are_not() {
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
            // What means something to the search engine is only text here.
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
