//! Parses JSON with comments and trailing commas (JSONC).
//!
//! Comments and trailing commas are overwritten with spaces, so that the line and column of an
//! error are those in the user's file.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsoncError {
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
}

/// An empty file is an empty config.
pub fn parse_jsonc(text: &str) -> Result<Value, JsoncError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = blank_out(text)?;
    if json.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&json).map_err(|error| {
        let line = error.line().max(1);
        let bytes = error.column();
        let before = text.lines().nth(line - 1).unwrap_or_default();
        let end = before.len().min(bytes);
        let column = String::from_utf8_lossy(&before.as_bytes()[..end])
            .chars()
            .count();
        JsoncError {
            line,
            column: column.max(1),
            message: message_without_position(&error),
        }
    })
}

/// The parser's message without the position, which the error states separately.
fn message_without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

#[derive(PartialEq)]
enum Inside {
    Code,
    String,
    LineComment,
    BlockComment,
}

/// Replaces each byte of a comment and each trailing comma by a space.
fn blank_out(text: &str) -> Result<String, JsoncError> {
    let mut bytes = text.as_bytes().to_vec();
    let mut inside = Inside::Code;
    let mut comma = None;
    // The last byte that is neither white space nor in a comment.
    let mut last = 0;
    let mut opened = 0;
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at], bytes.get(at + 1).copied());
        match (&inside, pair) {
            (Inside::Code, (b'/', Some(b'/'))) => {
                inside = Inside::LineComment;
                continue;
            }
            (Inside::Code, (b'/', Some(b'*'))) => {
                opened = at;
                bytes[at] = b' ';
                bytes[at + 1] = b' ';
                inside = Inside::BlockComment;
                at += 1;
            }
            (Inside::Code, (b'"', _)) => {
                comma = None;
                last = b'"';
                inside = Inside::String;
            }
            // Only a comma after a value can be a trailing one; any other remains, as an error.
            (Inside::Code, (b',', _)) => {
                comma = (!b"[{,".contains(&last)).then_some(at);
                last = b',';
            }
            (Inside::Code, (byte @ (b'}' | b']'), _)) => {
                last = byte;
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            (Inside::Code, (byte, _)) if byte.is_ascii_whitespace() => {}
            (Inside::Code, (byte, _)) => {
                comma = None;
                last = byte;
            }
            (Inside::String, (b'\\', _)) => at += 1,
            (Inside::String, (b'"', _)) => inside = Inside::Code,
            (Inside::String, _) => {}
            (Inside::LineComment, (b'\n', _)) => inside = Inside::Code,
            (Inside::BlockComment, (b'*', Some(b'/'))) => {
                bytes[at] = b' ';
                bytes[at + 1] = b' ';
                inside = Inside::Code;
                at += 1;
            }
            (Inside::BlockComment, (b'\n' | b'\r', _)) => {}
            (Inside::LineComment | Inside::BlockComment, _) => bytes[at] = b' ',
        }
        at += 1;
    }
    if inside == Inside::BlockComment {
        return Err(unclosed(text, opened));
    }
    // Still valid UTF-8: only whole characters were replaced, because comments end at ASCII bytes.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unclosed(text: &str, opened: usize) -> JsoncError {
    let before = &text[..opened];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    JsoncError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: "this comment is never closed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_ignored() {
        let text = "\u{feff}// é top\n{\n  /* a, b */ \"url\": \"http://x/*y*/\", // tail ✓\n  \
                    \"list\": [1, 2, /* ] */ ],\n  \"quote\": \"\\\"//,}\",\n}\n// end";
        assert_eq!(
            parse_jsonc(text),
            Ok(json!({"url": "http://x/*y*/", "list": [1, 2], "quote": "\"//,}"}))
        );
        assert_eq!(parse_jsonc(" // nothing\n"), Ok(json!({})));
    }

    #[test]
    fn an_error_names_its_line_and_column_in_the_users_file() {
        let error = parse_jsonc("{\n  // é\n  \"é\": 1 \"b\": 2\n}").unwrap_err();
        assert_eq!(error.to_string(), "line 3, column 10: expected `,` or `}`");

        let error = parse_jsonc("{\n /* open").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2, column 2: this comment is never closed"
        );
    }

    #[test]
    fn two_commas_in_a_row_stay_an_error() {
        assert!(parse_jsonc("[1,,]").is_err());
        assert!(parse_jsonc("[,]").is_err());
    }

    proptest::proptest! {
        #[test]
        fn valid_json_parses_to_the_same_value(text in "[\\[\\]{},:/*\"\\\\ \\na1é-]{0,40}") {
            let plain: Result<Value, _> = serde_json::from_str(&text);
            let read = parse_jsonc(&text);
            if let Ok(plain) = plain {
                proptest::prop_assert_eq!(read, Ok(plain));
            }
        }
    }
}
