//! The log of a server: its standard error and its log messages, limited in size.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};

const MAX_LINES: usize = 200;
const MAX_LINE_LENGTH: usize = 2000;

#[derive(Clone, Default)]
pub struct Log {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl Log {
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().iter().cloned().collect()
    }

    pub fn last(&self) -> Option<String> {
        self.lines.lock().back().cloned()
    }

    pub fn clear(&self) {
        self.lines.lock().clear();
    }

    pub fn push(&self, text: &str) {
        let mut lines = self.lines.lock();
        for line in text.lines().map(printable).filter(|line| !line.is_empty()) {
            if lines.len() == MAX_LINES {
                lines.pop_front();
            }
            lines.push_back(line);
        }
    }

    /// Reads until the stream ends. An overlong line is cut, so that it cannot fill the memory.
    pub async fn follow(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = [0; 4096];
        let mut line: Vec<u8> = Vec::new();
        while let Ok(count) = stream.read(&mut chunk).await {
            if count == 0 {
                break;
            }
            for byte in &chunk[..count] {
                if *byte == b'\n' {
                    self.push(&String::from_utf8_lossy(&line));
                    line.clear();
                } else if line.len() < MAX_LINE_LENGTH {
                    line.push(*byte);
                }
            }
        }
        self.push(&String::from_utf8_lossy(&line));
    }
}

/// Removes escape sequences, control characters and bidirectional overrides.
fn printable(line: &str) -> String {
    let mut shown = String::new();
    let mut chars = line.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
            }
            '\t' => shown.push(' '),
            c if c.is_control() || is_bidi(c) => {}
            c => shown.push(c),
        }
    }
    shown.chars().take(MAX_LINE_LENGTH).collect()
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_log_is_limited_in_lines_and_in_line_length() {
        let log = Log::default();
        let text = format!("{}\n{}", "x".repeat(1_000_000), "line\n".repeat(1000));
        log.clone().follow(text.as_bytes()).await;
        let lines = log.lines();
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines.last().map(String::as_str), Some("line"));

        let log = Log::default();
        log.clone().follow("y".repeat(1_000_000).as_bytes()).await;
        assert_eq!(log.lines(), ["y".repeat(MAX_LINE_LENGTH)]);
    }

    #[test]
    fn escape_sequences_and_control_characters_are_removed() {
        let log = Log::default();
        log.push("\u{1b}[31mred\u{1b}[0m\tand \u{202e}more\u{7}\n\n");
        assert_eq!(log.lines(), ["red and more"]);
    }
}
