//! Cleans a line before it is written: no secrets, and nothing that a terminal would obey.

use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use tracing_subscriber::fmt::MakeWriter;

use crate::Redact;

/// A longer line is cut: a log is read by people, and its size is bounded.
const MAX_LINE: usize = 8 * 1024;

pub struct CleanLines<W> {
    inner: Mutex<W>,
    redact: Arc<RwLock<Option<Redact>>>,
}

impl<W: Write> CleanLines<W> {
    pub fn new(inner: W, redact: Arc<RwLock<Option<Redact>>>) -> Self {
        let inner = Mutex::new(inner);
        CleanLines { inner, redact }
    }
}

/// One event: it is written whole, or not at all.
pub struct Line<'a, W: Write> {
    to: &'a CleanLines<W>,
    text: Vec<u8>,
}

impl<'a, W: Write + 'static> MakeWriter<'a> for CleanLines<W> {
    type Writer = Line<'a, W>;

    fn make_writer(&'a self) -> Line<'a, W> {
        let text = Vec::new();
        Line { to: self, text }
    }
}

impl<W: Write> Write for Line<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Line<'_, W> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let redact = self.to.redact.read().clone();
        let text = match redact {
            Some(redact) => redact(&text),
            None => text.into_owned(),
        };
        // A disk that is full is reported by the store; there is no place to say it here.
        let _ = self.to.inner.lock().write_all(clean(&text).as_bytes());
    }
}

/// One line that ends with a line break. Breaks inside it are indented, so that no text can look
/// like another line of the log.
fn clean(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    let mut cut = MAX_LINE.min(text.len());
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let mut line = String::with_capacity(cut + 1);
    for character in text[..cut].chars() {
        match character {
            '\n' => line.push_str("\n    "),
            '\t' => line.push('\t'),
            other if is_hidden(other) => line.extend(other.escape_unicode()),
            other => line.push(other),
        }
    }
    if cut < text.len() {
        line.push_str(" …");
    }
    line.push('\n');
    line
}

/// Control characters, and marks that change the order in which text is shown.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_look_like_two_or_colour_a_terminal() {
        assert_eq!(clean("one\n"), "one\n");
        assert_eq!(clean("one\nERROR two\n"), "one\n    ERROR two\n");
        assert_eq!(clean("\u{1b}[31mred\r"), "\\u{1b}[31mred\n");
        assert_eq!(clean("a\u{202e}b"), "a\\u{202e}b\n");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = clean(&"ü".repeat(MAX_LINE));
        assert_eq!(line, format!("{} …\n", "ü".repeat(MAX_LINE / 2)));
    }
}
