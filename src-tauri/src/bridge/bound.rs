//! How much of a text is drawn.
//!
//! A model may print a line of megabytes or a table of thousands of cells. Drawing that would keep
//! the window busy for seconds with every frame, so the rest is left out and shown on request.

/// Bytes of one line.
const LINE: usize = 16 * 1024;
/// Bytes of lines without a blank line between them: a paragraph, a list, a table.
const BLOCK: usize = 32 * 1024;
/// What a cell of a table counts besides its text: the page makes an element of it.
const CELL: usize = 24;
/// Bytes of the whole text.
const TEXT: usize = 512 * 1024;
/// Enough to recognise a code fence.
const START: usize = 16;

const ELLIPSIS: &str = "…";

/// Passes a growing text on, up to its limits. The same text gives the same result however it is
/// split: a block and the whole text end with a line.
#[derive(Debug, Default)]
pub struct Bound {
    /// Something was left out.
    pub is_cut: bool,
    text: usize,
    block: usize,
    line: usize,
    line_start: String,
    is_in_fence: bool,
    is_line_cut: bool,
    is_block_cut: bool,
    is_text_cut: bool,
}

impl Bound {
    /// The part of the text that is drawn.
    pub fn push(&mut self, text: &str) -> String {
        let mut drawn = String::with_capacity(text.len().min(TEXT));
        for piece in text.split_inclusive('\n') {
            let words = piece.strip_suffix('\n').unwrap_or(piece);
            self.push_words(words, &mut drawn);
            if words.len() < piece.len() {
                self.end_line(&mut drawn);
            }
        }
        drawn
    }

    /// A line without its break, or a part of one.
    fn push_words(&mut self, words: &str, drawn: &mut String) {
        let missing = START.saturating_sub(self.line_start.len());
        self.line_start.push_str(start_of(words, missing));
        let before = self.line;
        self.line += words.len();
        if self.is_text_cut || self.is_block_cut || self.is_line_cut {
            self.is_cut |= !words.is_empty();
            return;
        }
        let shown = start_of(words, LINE - before);
        drawn.push_str(shown);
        self.text += shown.len();
        self.block += shown.len() + CELL * shown.matches('|').count();
        if shown.len() < words.len() {
            drawn.push_str(ELLIPSIS);
            self.is_line_cut = true;
            self.is_cut = true;
        }
    }

    fn end_line(&mut self, drawn: &mut String) {
        let start = std::mem::take(&mut self.line_start);
        let start = start.trim();
        if start.is_empty() && self.line <= START {
            self.block = 0;
            self.is_block_cut = false;
        } else if start.starts_with("```") || start.starts_with("~~~") {
            self.is_in_fence = !self.is_in_fence;
            self.block = 0;
        }
        self.line = 0;
        self.is_line_cut = false;
        if self.is_text_cut || self.is_block_cut {
            return;
        }
        drawn.push('\n');
        self.text += 1;
        self.block += 1;
        self.is_text_cut = self.text >= TEXT;
        self.is_block_cut = self.block >= BLOCK && !self.is_in_fence;
        if self.is_text_cut || self.is_block_cut {
            drawn.push_str("\n…\n");
        }
    }
}

/// At most this many bytes, without a broken character.
fn start_of(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> (String, bool) {
        let mut bound = Bound::default();
        let drawn = bound.push(text);
        (drawn, bound.is_cut)
    }

    #[test]
    fn an_ordinary_text_is_drawn_as_it_is() {
        let line = "word ".repeat(40);
        let text = format!("# Title\n\n{line}\n\n```rust\nfn main() {{}}\n\n```\n\n- a\n- b");
        assert_eq!(drawn(&text), (text, false));
    }

    #[test]
    fn a_long_line_is_cut_and_what_follows_is_drawn() {
        let long = "ä".repeat(3_000_000);
        let (text, cut) = drawn(&format!("before\n\n{long}\n\nafter\n"));
        assert!(cut);
        assert!(text.starts_with("before\n\nää") && text.ends_with("ä…\n\nafter\n"));
        assert!(text.len() < LINE + 100);
    }

    #[test]
    fn a_large_table_is_cut_and_what_follows_is_drawn() {
        let row = "| a ".repeat(100) + "|\n";
        let (text, cut) = drawn(&format!("{}\nafter\n", row.repeat(2_000)));
        assert!(cut);
        assert!(text.len() < BLOCK + 1_000, "{}", text.len());
        assert!(text.contains("\n\n…\n") && text.ends_with("after\n"));
    }

    #[test]
    fn a_long_listing_in_a_fence_is_not_a_block_of_its_own() {
        let code = format!("```\n{}```\nafter\n", "let a = 1;\n".repeat(10_000));
        assert_eq!(drawn(&code), (code, false));
    }

    #[test]
    fn the_whole_text_has_a_limit() {
        let (text, cut) = drawn(&"a paragraph\n\n".repeat(500_000));
        assert!(cut);
        assert!(text.len() < TEXT + 100);
    }

    #[test]
    fn the_same_text_is_cut_at_the_same_places_however_it_is_split() {
        let row = "| cell ".repeat(60) + "|\n";
        let long = "x".repeat(2 * LINE);
        let text = format!(
            "a\n\n{}\nb {long} c\n\n```\n{long}\n```\nend",
            row.repeat(300)
        );
        let whole = drawn(&text);
        for size in [1, 7, 1000, LINE - 1, LINE, LINE + 1] {
            let mut bound = Bound::default();
            let mut parts = String::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                parts.push_str(&bound.push(piece));
                rest = after;
            }
            assert_eq!((parts, bound.is_cut), whole, "in pieces of {size}");
        }
    }
}
