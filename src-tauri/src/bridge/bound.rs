//! How much of a text is drawn.
//!
//! A model may print a line of megabytes or a table of thousands of cells. Drawing that would keep
//! the window busy for seconds with every frame, so the rest is left out and shown on request.

/// Bytes of one line.
const LINE: usize = 16 * 1024;
/// Bytes of lines without a blank line between them: a paragraph, a list, a table.
const BLOCK: usize = 32 * 1024;
/// Bytes of the whole text.
const TEXT: usize = 512 * 1024;
/// What a line or a cell of a table counts in its block besides its text: the page makes elements
/// of it.
const ELEMENT: usize = 24;
/// The same in the whole text, which is drawn at once. Code has fewer elements.
const ELEMENT_OF_TEXT: usize = 96;

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
    start: LineStart,
    fence: Option<Fence>,
    is_line_cut: bool,
    is_block_cut: bool,
    is_text_cut: bool,
}

/// A code fence that is open.
#[derive(Debug)]
struct Fence {
    mark: u8,
    marks: usize,
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
        let shown = start_of(words, LINE.saturating_sub(self.line));
        self.line += words.len();
        self.start.read(shown);
        if self.is_text_cut || self.is_block_cut || self.is_line_cut {
            self.is_cut |= !words.is_empty();
            return;
        }
        drawn.push_str(shown);
        self.count(shown.len(), shown.matches('|').count());
        if shown.len() < words.len() {
            drawn.push_str(ELLIPSIS);
            self.is_line_cut = true;
            self.is_cut = true;
        }
    }

    fn count(&mut self, bytes: usize, elements: usize) {
        let in_text = match self.fence {
            Some(_) => ELEMENT,
            None => ELEMENT_OF_TEXT,
        };
        self.text += bytes + in_text * elements;
        self.block += bytes + ELEMENT * elements;
    }

    fn end_line(&mut self, drawn: &mut String) {
        let start = std::mem::take(&mut self.start);
        // The mark of a line that was cut is not blank.
        let is_blank = start.is_blank() && !self.is_line_cut;
        self.line = 0;
        self.is_line_cut = false;
        match &self.fence {
            Some(fence) if start.closes(fence) => {
                self.fence = None;
                self.block = 0;
            }
            // If its opening was left out, so is all that is in it: it would be drawn as text.
            Some(_) => {}
            None if is_blank => {
                self.block = 0;
                self.is_block_cut = false;
            }
            None => {
                self.fence = start.opens();
                if self.fence.is_some() {
                    self.block = 0;
                }
            }
        }
        if self.is_text_cut || self.is_block_cut {
            return;
        }
        drawn.push('\n');
        self.count(1, 1);
        self.is_text_cut = self.text >= TEXT;
        self.is_block_cut = self.block >= BLOCK && self.fence.is_none();
        if self.is_text_cut || self.is_block_cut {
            drawn.push_str("\n…\n");
        }
    }
}

/// What a line says about code fences, by the rules of CommonMark that the renderer follows.
#[derive(Debug, Default)]
struct LineStart {
    /// In columns; a tab reaches the fourth one.
    indent: usize,
    mark: u8,
    marks: usize,
    /// Something came after the marks.
    has_ended: bool,
    has_words: bool,
    has_backtick: bool,
    /// It begins with something else.
    is_other: bool,
}

impl LineStart {
    fn read(&mut self, words: &str) {
        for byte in words.bytes() {
            if self.is_other {
                return;
            }
            match byte {
                b' ' if self.marks == 0 => self.indent += 1,
                b'\t' if self.marks == 0 => self.indent += 4,
                b'\r' if self.marks == 0 => {}
                b'`' | b'~' if self.marks == 0 => (self.mark, self.marks) = (byte, 1),
                _ if self.marks == 0 => self.is_other = true,
                _ if byte == self.mark && !self.has_ended => self.marks += 1,
                _ => {
                    self.has_ended = true;
                    self.has_words |= !byte.is_ascii_whitespace();
                    self.has_backtick |= byte == b'`';
                }
            }
        }
    }

    fn is_blank(&self) -> bool {
        self.marks == 0 && !self.is_other
    }

    fn opens(&self) -> Option<Fence> {
        let is_code_in_a_line = self.mark == b'`' && self.has_backtick;
        let opens = self.indent < 4 && self.marks >= 3 && !is_code_in_a_line;
        opens.then_some(Fence {
            mark: self.mark,
            marks: self.marks,
        })
    }

    fn closes(&self, fence: &Fence) -> bool {
        let is_same = self.mark == fence.mark && self.marks >= fence.marks;
        is_same && self.indent < 4 && !self.has_words
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
    fn what_only_looks_like_a_fence_does_not_lift_the_limit_of_a_table() {
        let row = "| a ".repeat(100) + "|\n";
        let table = row.repeat(2_000);
        for before in [
            "```ls```\n",
            "````\n```\n````\n",
            "~~~\n```\n~~~\n",
            "    ```\n",
            "\t```\n",
            "``` a `b`\n",
            "``\n",
        ] {
            let (text, cut) = drawn(&format!("{before}\n{table}\nafter\n"));
            assert!(cut, "{before:?}");
            assert!(
                text.len() < BLOCK + 1_000,
                "{before:?}: {} bytes",
                text.len()
            );
            assert!(text.ends_with("after\n"), "{before:?}");
        }
    }

    #[test]
    fn code_after_what_only_looks_like_a_fence_is_drawn_whole() {
        let code = "let a = 1;\n".repeat(10_000);
        for (open, close) in [
            ("```rust", "```"),
            ("~~~~", "~~~~~"),
            ("   ```", "  ``` "),
            ("````", "```\n````"),
        ] {
            let text = format!("```ls```\n\n{open}\n{code}{close}\nafter\n");
            assert_eq!(drawn(&text), (text, false), "{open}");
        }
    }

    #[test]
    fn code_whose_fence_is_left_out_is_left_out_to_its_end() {
        let block = "rose bush\n".repeat(5_000);
        let text = format!("{block}```\ncode\n\nmore\n```\nrose\n\nafter\n");
        let (text, cut) = drawn(&text);
        assert!(cut);
        assert!(text.ends_with("rose bush\n\n…\n\nafter\n"), "{text:?}");
    }

    #[test]
    fn the_whole_text_has_a_limit() {
        let (text, cut) = drawn(&"a paragraph\n\n".repeat(500_000));
        assert!(cut);
        assert!(text.len() < TEXT + 100);
    }

    #[test]
    fn short_paragraphs_and_items_count_as_what_the_page_makes_of_them() {
        for (short, most) in [("a\n\n", 5_000), ("- a\n\n", 5_000), ("-\n", 2_000)] {
            let (text, cut) = drawn(&short.repeat(170_000));
            assert!(cut, "{short:?}");
            let blocks = text.lines().filter(|line| !line.is_empty()).count();
            assert!(blocks < most, "{short:?}: {blocks}");
        }
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
