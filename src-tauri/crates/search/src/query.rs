//! From what a person typed to what SQLite's full-text search is asked.

/// Every word as the beginning of one in the text, `"quoted words"` as they stand. `None`
/// when there is nothing to look for.
pub(crate) fn match_expression(typed: &str) -> Option<String> {
    let mut terms = Vec::new();
    for (index, piece) in typed.split('"').enumerate() {
        if index % 2 == 1 {
            terms.extend(phrase(piece, ""));
        } else {
            terms.extend(
                piece
                    .split_whitespace()
                    .filter_map(|word| phrase(word, "*")),
            );
        }
    }
    (!terms.is_empty()).then(|| terms.join(" "))
}

/// Punctuation alone has no token to look for. Quotes cannot occur: they were split at.
fn phrase(text: &str, ending: &str) -> Option<String> {
    let has_token = text.chars().any(char::is_alphanumeric);
    has_token.then(|| format!("\"{}\"{ending}", text.replace('\0', " ")))
}

#[cfg(test)]
mod tests {
    use super::match_expression;

    #[test]
    fn words_are_beginnings_and_quotes_are_phrases() {
        let cases = [
            ("flick", Some(r#""flick"*"#)),
            ("  two  words ", Some(r#""two"* "words"*"#)),
            (
                r#"say "hello there" now"#,
                Some(r#""say"* "hello there" "now"*"#),
            ),
            // What means something to the search engine is only text here.
            ("a OR b* NEAR(c)", Some(r#""a"* "OR"* "b*"* "NEAR(c)"*"#)),
            (r#"open "quote"#, Some(r#""open"* "quote""#)),
            ("", None),
            ("  -- ** ", None),
            (r#""""#, None),
        ];
        for (typed, expected) in cases {
            assert_eq!(match_expression(typed).as_deref(), expected, "{typed}");
        }
    }
}
