//! JSON text as `JSON.stringify(value, null, 2)` formats it, and back.
//!
//! Other programs write the same files, and people compare them with `diff`, so an unchanged
//! record must have the same bytes whichever program wrote it.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(256);
    value.serialize(&mut Serializer::with_formatter(
        &mut bytes,
        JavaScriptFormatter::default(),
    ))?;
    Ok(bytes)
}

pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|error| match replace_lone_surrogates(bytes) {
        Some(replaced) => serde_json::from_slice(&replaced),
        None => Err(error),
    })
}

/// JavaScript may cut a string inside a surrogate pair and write the lone half as an escape, which
/// is not valid Unicode. It becomes the replacement character. None if there is no lone half.
fn replace_lone_surrogates(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6)?;
        let hex = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut changed = false;
    let mut at = 0;
    while at < bytes.len() {
        let step = match (bytes[at], unit(at)) {
            (b'\\', Some(0xD800..=0xDBFF)) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            (b'\\', Some(0xD800..=0xDFFF)) => {
                replaced.extend_from_slice(b"\\ufffd");
                changed = true;
                at += 6;
                continue;
            }
            (b'\\', _) => 2,
            _ => 1,
        };
        let end = (at + step).min(bytes.len());
        replaced.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    changed.then_some(replaced)
}

#[derive(Default)]
struct JavaScriptFormatter {
    pretty: PrettyFormatter<'static>,
}

macro_rules! delegate_to_pretty {
    ($($name:ident($($arg:ident: $Arg:ty),*);)*) => {$(
        fn $name<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $arg: $Arg)*) -> io::Result<()> {
            self.pretty.$name(writer $(, $arg)*)
        }
    )*};
}

impl Formatter for JavaScriptFormatter {
    delegate_to_pretty! {
        begin_array(); end_array(); begin_array_value(first: bool); end_array_value();
        begin_object(); end_object(); begin_object_key(first: bool); begin_object_value();
        end_object_value();
    }

    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number(value).as_bytes())
    }
}

/// Whole numbers have no decimal point, and exponents are used where JavaScript uses them.
fn number(value: f64) -> Cow<'static, str> {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs();
    if (1e-6..1e21).contains(&size) {
        return value.to_string().into();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}").into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn values_are_formatted_as_javascript_formats_them() {
        let value = json!({
            "a": [], "b": {}, "c": [1, 2.0, 0.00001, 1e-7, 1e21, 123456789012345680000.0, -0.0],
            "d": "tab\t nul\u{0} del\u{7f} é \u{2028} \"\\/", "e": null, "f": 0.1,
        });
        let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    2,\n    0.00001,\n    1e-7,\n    1e+21,\n    123456789012345680000,\n    0\n  ],\n  \"d\": \"tab\\t nul\\u0000 del\u{7f} é \u{2028} \\\"\\\\/\",\n  \"e\": null,\n  \"f\": 0.1\n}";
        assert_eq!(
            String::from_utf8(to_bytes(&value).unwrap()).unwrap(),
            expected
        );
    }

    #[test]
    fn a_lone_surrogate_does_not_make_a_file_unreadable() {
        let text = br#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d","d":"\udE00y"}"#;
        assert_eq!(
            from_bytes::<Value>(text).unwrap(),
            json!({ "a": "x\u{fffd}", "b": "😀", "c": "\\ud83d", "d": "\u{fffd}y" }),
        );
        assert!(from_bytes::<Value>(br#"{"a":"x\ud8"#).is_err());
    }
}
