//! Reads fields of records whose form is not ours to define: what is missing or of another type is
//! absent.

use lathe_protocol::{CacheTokens, Count, Extra, Map, Millis, TokenUsage};
use serde_json::Value;

pub fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().filter(|text| !text.is_empty())
}

pub fn is_true(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool) == Some(true)
}

pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    let list = value.get(field).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

pub fn number(value: &Value, field: &str) -> i64 {
    // A float, or a number out of range, is no count.
    value.get(field).and_then(Value::as_i64).unwrap_or(0).max(0)
}

/// A time as RFC 3339 text, or in milliseconds.
pub fn time(value: &Value, field: &str) -> Option<Millis> {
    let millis = match value.get(field)? {
        Value::String(text) => text.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
        Value::Number(number) => number.as_f64()? as i64,
        _ => return None,
    };
    // The ids and the lists take any time, but one before the epoch is a mistake.
    (millis > 0).then_some(Millis(millis))
}

/// The tokens of one answer. Both programs count cached tokens and reasoning in different ways, so
/// the caller subtracts.
pub fn tokens(input: i64, output: i64, reasoning: i64, read: i64, write: i64) -> TokenUsage {
    TokenUsage {
        input: Count(input.max(0)),
        output: Count(output.max(0)),
        reasoning: Count(reasoning),
        cache: CacheTokens {
            read: Count(read),
            write: Count(write),
            extra: Extra::default(),
        },
        extra: Extra::default(),
    }
}

/// A call's input. What is not an object becomes one, because ours always is.
pub fn input(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other)]),
    }
}

/// The type of a record, for the list of what was left out.
pub fn kind(value: &Value) -> &str {
    text(value, "type").unwrap_or("record without a type")
}
