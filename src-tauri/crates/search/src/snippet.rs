//! A line of text around a match, in pieces that a window can mark without markup.

use lathe_protocol::ipc::SnippetPiece;

/// What SQLite puts around a match; never part of indexed text (see `words.rs`).
pub(crate) const OPEN: char = '\u{2}';
pub(crate) const CLOSE: char = '\u{3}';

pub(crate) fn pieces(marked: &str) -> Vec<SnippetPiece> {
    let mut pieces: Vec<SnippetPiece> = Vec::new();
    let mut hit = false;
    let mut text = String::new();
    let mut flush = |text: &mut String, hit: bool| {
        if !text.is_empty() {
            pieces.push(SnippetPiece {
                text: std::mem::take(text),
                hit,
            });
        }
    };
    for c in marked.chars() {
        match c {
            OPEN | CLOSE => {
                flush(&mut text, hit);
                hit = c == OPEN;
            }
            c if c.is_whitespace() => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            c => text.push(c),
        }
    }
    flush(&mut text, hit);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_pieces_of_their_own_and_lines_become_one() {
        let piece = |text: &str, hit| SnippetPiece {
            text: text.to_owned(),
            hit,
        };
        assert_eq!(
            pieces("a\n  b \u{2}<i>\u{3}\u{2}c\u{3}"),
            [piece("a b ", false), piece("<i>", true), piece("c", true)]
        );
        assert_eq!(pieces(""), []);
    }
}
