//! Encodes and decodes `data:` URLs.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataUrl {
    pub mime: String,
    pub bytes: Vec<u8>,
}

pub fn encode(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}

/// Decodes base64 and percent encoding; text in another charset is converted to UTF-8.
pub fn decode(url: &str) -> Option<DataUrl> {
    let (head, body) = url.strip_prefix("data:")?.split_once(',')?;
    let mut fields = head.split(';');
    let mime = fields
        .next()
        .filter(|mime| !mime.is_empty())
        .unwrap_or("text/plain")
        .to_owned();
    let (mut base64, mut charset) = (false, None);
    for field in fields.map(str::trim) {
        if field.eq_ignore_ascii_case("base64") {
            base64 = true;
        } else if let Some((name, value)) = field.split_once('=')
            && name.eq_ignore_ascii_case("charset")
        {
            charset = Some(value.trim_matches('"').to_ascii_lowercase());
        }
    }
    let raw = percent_decode(body);
    let bytes = if base64 {
        let packed: Vec<u8> = raw
            .into_iter()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let unpadded = packed
            .strip_suffix(b"==")
            .or_else(|| packed.strip_suffix(b"="));
        STANDARD_NO_PAD.decode(unpadded.unwrap_or(&packed)).ok()?
    } else {
        raw
    };
    let bytes = match charset.as_deref() {
        Some("iso-8859-1" | "latin1" | "windows-1252") => bytes
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into_bytes(),
        Some("utf-16" | "utf-16le") => utf16(&bytes, u16::from_le_bytes),
        Some("utf-16be") => utf16(&bytes, u16::from_be_bytes),
        _ => bytes,
    };
    Some(DataUrl { mime, bytes })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]))
        .collect();
    String::from_utf16_lossy(&units)
        .trim_start_matches('\u{feff}')
        .to_owned()
        .into_bytes()
}

pub fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let hex = |at: usize| {
            bytes
                .get(at)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        match (bytes[index], hex(index + 1), hex(index + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                index += 3;
            }
            (byte, ..) => {
                out.push(byte);
                index += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(url: &str) -> Option<(String, String)> {
        decode(url).map(|data| (data.mime, String::from_utf8_lossy(&data.bytes).into_owned()))
    }

    #[test]
    fn the_charset_and_the_base64_flag_are_respected() {
        let read = |url| text(url).map(|(_, text)| text);
        assert_eq!(read("data:text/plain;base64,aGk="), Some("hi".into()));
        assert_eq!(read("data:text/plain;base64,aGk"), Some("hi".into()));
        assert_eq!(
            read("data:text/plain;charset=utf-8,h%C3%A9"),
            Some("hé".into())
        );
        assert_eq!(
            read("data:text/plain;charset=iso-8859-1;base64,aOk="),
            Some("hé".into())
        );
        assert_eq!(
            read("data:text/plain;charset=utf-16le;base64,aADpAA=="),
            Some("hé".into())
        );
        assert_eq!(read("data:,100%25"), Some("100%".into()));
        assert_eq!(read("data:text/plain;base64,!!"), None);
        assert_eq!(read("file:///a"), None);
        assert_eq!(
            text("data:,x").map(|(mime, _)| mime),
            Some("text/plain".into())
        );
    }

    #[test]
    fn decoding_reverses_encoding() {
        let bytes = vec![0, 255, 7];
        assert_eq!(
            decode(&encode("image/png", &bytes)),
            Some(DataUrl {
                mime: "image/png".into(),
                bytes
            })
        );
    }
}
