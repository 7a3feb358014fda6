//! Contents that are not text, as `git apply` takes them: both sides whole, so that the patch can
//! be applied in both directions.

use std::fmt::Write;

use lathe_snapshot::{blob_id, deflate};

use crate::error::{Result, ReviewError};

const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// A line has at most so many bytes.
const LINE: usize = 52;

/// The body of the patch of one file; without bytes there is no file on that side.
pub fn push(out: &mut String, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<()> {
    let id = |bytes: Option<&[u8]>| match bytes {
        Some(bytes) => blob_id(bytes),
        None => Ok("0".repeat(40)),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "index {}..{}\nGIT binary patch", id(old)?, id(new)?);
    for bytes in [new, old] {
        let bytes = bytes.unwrap_or_default();
        let packed = deflate(bytes).map_err(|error| ReviewError::refused(error.to_string()))?;
        let _ = writeln!(out, "literal {}", bytes.len());
        for line in packed.chunks(LINE) {
            push_line(out, line);
        }
        out.push('\n');
    }
    Ok(())
}

/// How many bytes the line has, and the bytes in base 85, each four as five digits.
fn push_line(out: &mut String, line: &[u8]) {
    let count = u8::try_from(line.len()).unwrap_or(u8::MAX);
    out.push(char::from(match count {
        0..=26 => b'A' + count - 1,
        _ => b'a' + count - 27,
    }));
    for group in line.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let number = u32::from_be_bytes(four);
        for place in [52_200_625, 614_125, 7_225, 85, 1] {
            let digit = number / place % 85;
            out.push(char::from(ALPHABET[digit as usize]));
        }
    }
    out.push('\n');
}
