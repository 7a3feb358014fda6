//! One line of text around a match, in pieces, so that a window can highlight it without HTML.

use std::ops::Range;

use lathe_protocol::ipc::SnippetPiece;

/// SQLite puts these around a match; indexed text never contains them (see `part_text.rs`).
pub(crate) const OPEN: char = '\u{2}';
pub(crate) const CLOSE: char = '\u{3}';

/// Characters shown before and after a match that SQLite did not mark.
const BEFORE: usize = 24;
const AFTER: usize = 40;

/// Like a snippet of SQLite, around a given place.
pub(crate) fn around(text: &str, hit: &Range<usize>) -> Vec<SnippetPiece> {
    let before = text[..hit.start].char_indices().rev().take(BEFORE).last();
    let from = before.map_or(hit.start, |(at, _)| at);
    let rest = &text[hit.end..];
    let to = hit.end
        + rest
            .char_indices()
            .nth(AFTER)
            .map_or(rest.len(), |(at, _)| at);
    let cut = |missing: bool| if missing { "…" } else { "" };
    pieces(&format!(
        "{}{}{OPEN}{}{CLOSE}{}{}",
        cut(from > 0),
        &text[from..hit.start],
        &text[hit.clone()],
        &text[hit.end..to],
        cut(to < text.len()),
    ))
}

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
    fn matches_are_separate_pieces_and_line_breaks_become_spaces() {
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

    #[test]
    fn a_snippet_is_cut_at_both_ends() {
        let text = format!("{}the DB{}", "ä".repeat(40), "ö".repeat(60));
        let pieces: Vec<_> = around(&text, &(84..86))
            .into_iter()
            .map(|piece| (piece.text, piece.hit))
            .collect();
        let [before, hit, after] = pieces.as_slice() else {
            panic!("{pieces:?}")
        };
        assert_eq!(before.0, format!("…{}the ", "ä".repeat(20)));
        assert_eq!(*hit, ("DB".to_owned(), true));
        assert_eq!(after.0, format!("{}…", "ö".repeat(40)));
    }
}
