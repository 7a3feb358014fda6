//! Thinking that comes in the text itself: local models open their answer with `<think>`.
//!
//! Only at the very beginning: a tag further in is something the model wrote about.

use crate::stream::BlockKind;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

#[derive(Debug, Default)]
pub(super) struct Think {
    place: Place,
    /// What may yet turn out to be a tag, or space around one.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Beginning,
    Thinking,
    /// Behind the closing tag; the space after it belongs to nobody.
    Between,
    Text,
}

impl Think {
    /// Whatever comes now is text.
    pub(super) fn is_over(&self) -> bool {
        self.place == Place::Text
    }

    /// The same pieces, told apart. However the text is cut, it adds up to the same.
    pub(super) fn take(&mut self, text: String) -> Vec<(BlockKind, String)> {
        if self.place == Place::Text {
            return vec![(BlockKind::Text, text)];
        }
        self.held.push_str(&text);
        let mut out = Vec::new();
        while self.step(&mut out) {}
        out
    }

    /// No more text comes: what was held was no tag.
    pub(super) fn finish(&mut self) -> Option<(BlockKind, String)> {
        let held = std::mem::take(&mut self.held);
        let kind = match self.place {
            Place::Thinking => BlockKind::Reasoning,
            Place::Beginning | Place::Text => {
                self.place = Place::Text;
                BlockKind::Text
            }
            Place::Between => return None,
        };
        (!held.is_empty()).then_some((kind, held))
    }

    /// True when something changed and there may be more to do.
    fn step(&mut self, out: &mut Vec<(BlockKind, String)>) -> bool {
        match self.place {
            Place::Beginning => {
                let rest = self.held.trim_start();
                if let Some(thought) = rest.strip_prefix(OPEN) {
                    self.held = thought.to_owned();
                    self.place = Place::Thinking;
                    return true;
                }
                if OPEN.starts_with(rest) {
                    return false;
                }
                self.place = Place::Text;
                out.push((BlockKind::Text, std::mem::take(&mut self.held)));
                false
            }
            Place::Thinking => {
                if let Some((thought, rest)) = self.held.split_once(CLOSE) {
                    out.push((BlockKind::Reasoning, thought.to_owned()));
                    self.held = rest.to_owned();
                    self.place = Place::Between;
                    return true;
                }
                let kept = begun(&self.held);
                let thought: String = self.held.drain(..self.held.len() - kept).collect();
                out.push((BlockKind::Reasoning, thought));
                false
            }
            Place::Between => {
                let rest = self.held.trim_start();
                if !rest.is_empty() {
                    out.push((BlockKind::Text, rest.to_owned()));
                    self.place = Place::Text;
                }
                self.held.clear();
                false
            }
            Place::Text => false,
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn begun(text: &str) -> usize {
    let longest = (CLOSE.len() - 1).min(text.len());
    (1..=longest)
        .rev()
        .find(|&length| text.ends_with(&CLOSE[..length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was thought and what was said.
    fn tell_apart<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut think = Think::default();
        let mut told: Vec<_> = pieces
            .into_iter()
            .flat_map(|piece| think.take(piece.to_owned()))
            .collect();
        told.extend(think.finish());
        let of = |kind: BlockKind| -> String {
            let pieces = told.iter().filter(|(other, _)| *other == kind);
            pieces.map(|(_, text)| text.as_str()).collect()
        };
        (of(BlockKind::Reasoning), of(BlockKind::Text))
    }

    #[test]
    fn thinking_at_the_beginning_is_told_apart_however_it_is_cut() {
        let cases = [
            ("<think>hm, é</think>\n\nHello", "hm, é", "Hello"),
            ("\n <think>\nhm\n</think>Hello", "\nhm\n", "Hello"),
            ("<think></think>Hello", "", "Hello"),
            ("<think>cut sh", "cut sh", ""),
            ("<think>a </thin b</think> c", "a </thin b", "c"),
            ("<think>hm</think>", "hm", ""),
            ("Hello", "", "Hello"),
            ("  Hello", "", "  Hello"),
            ("<b>Hello</b>", "", "<b>Hello</b>"),
            ("<thi", "", "<thi"),
            ("I say <think>x</think>", "", "I say <think>x</think>"),
            (
                "<think>a</think>b<think>c</think>",
                "a",
                "b<think>c</think>",
            ),
            ("<think>a</think", "a</think", ""),
            ("", "", ""),
        ];
        for (text, thought, said) in cases {
            let expected = (thought.to_owned(), said.to_owned());
            assert_eq!(tell_apart([text]), expected, "{text:?} whole");
            for (at, _) in text.char_indices() {
                let halves = [&text[..at], &text[at..]];
                assert_eq!(tell_apart(halves), expected, "{text:?} cut at {at}");
            }
            let letters = text
                .char_indices()
                .map(|(at, letter)| &text[at..at + letter.len_utf8()]);
            assert_eq!(tell_apart(letters), expected, "{text:?} letter by letter");
        }
    }
}
