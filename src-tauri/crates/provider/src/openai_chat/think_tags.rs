//! Separates thinking from text for local models, which put it into `<think>` tags.
//!
//! Only at the very beginning of the answer: a later tag is part of the text.

use crate::decoder::BlockKind;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

#[derive(Debug, Default)]
pub(super) struct ThinkTagParser {
    state: State,
    /// Text that may still turn out to be a tag, or space around one.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Beginning,
    Thinking,
    /// After the closing tag, where white space is dropped.
    AfterThinking,
    Text,
}

impl ThinkTagParser {
    /// All further input is text.
    pub(super) fn is_past_thinking(&self) -> bool {
        self.state == State::Text
    }

    /// Splits the text by kind. The result does not depend on where the input is cut.
    pub(super) fn feed(&mut self, text: String) -> Vec<(BlockKind, String)> {
        if self.state == State::Text {
            return vec![(BlockKind::Text, text)];
        }
        self.held.push_str(&text);
        let mut out = Vec::new();
        while self.step(&mut out) {}
        out
    }

    /// The input has ended, so the held text was no tag.
    pub(super) fn finish(&mut self) -> Option<(BlockKind, String)> {
        let held = std::mem::take(&mut self.held);
        let kind = match self.state {
            State::Thinking => BlockKind::Reasoning,
            State::Beginning | State::Text => {
                self.state = State::Text;
                BlockKind::Text
            }
            State::AfterThinking => return None,
        };
        (!held.is_empty()).then_some((kind, held))
    }

    /// Returns true when the state has changed and more of the held text can be processed.
    fn step(&mut self, out: &mut Vec<(BlockKind, String)>) -> bool {
        match self.state {
            State::Beginning => {
                let rest = self.held.trim_start();
                if let Some(thought) = rest.strip_prefix(OPEN) {
                    self.held = thought.to_owned();
                    self.state = State::Thinking;
                    return true;
                }
                if OPEN.starts_with(rest) {
                    return false;
                }
                self.state = State::Text;
                out.push((BlockKind::Text, std::mem::take(&mut self.held)));
                false
            }
            State::Thinking => {
                if let Some((thought, rest)) = self.held.split_once(CLOSE) {
                    out.push((BlockKind::Reasoning, thought.to_owned()));
                    self.held = rest.to_owned();
                    self.state = State::AfterThinking;
                    return true;
                }
                let partial_tag = partial_close_tag(&self.held);
                let thought: String = self.held.drain(..self.held.len() - partial_tag).collect();
                out.push((BlockKind::Reasoning, thought));
                false
            }
            State::AfterThinking => {
                let rest = self.held.trim_start();
                if !rest.is_empty() {
                    out.push((BlockKind::Text, rest.to_owned()));
                    self.state = State::Text;
                }
                self.held.clear();
                false
            }
            State::Text => false,
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn partial_close_tag(text: &str) -> usize {
    let longest = (CLOSE.len() - 1).min(text.len());
    (1..=longest)
        .rev()
        .find(|&length| text.ends_with(&CLOSE[..length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All thinking and all text.
    fn split<'a>(chunks: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut parser = ThinkTagParser::default();
        let mut pieces: Vec<_> = chunks
            .into_iter()
            .flat_map(|chunk| parser.feed(chunk.to_owned()))
            .collect();
        pieces.extend(parser.finish());
        let join = |kind: BlockKind| -> String {
            let pieces = pieces.iter().filter(|(other, _)| *other == kind);
            pieces.map(|(_, text)| text.as_str()).collect()
        };
        (join(BlockKind::Reasoning), join(BlockKind::Text))
    }

    #[test]
    fn thinking_at_the_beginning_is_separated_however_the_text_is_cut() {
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
        for (text, thinking, answer) in cases {
            let expected = (thinking.to_owned(), answer.to_owned());
            assert_eq!(split([text]), expected, "{text:?} whole");
            for (at, _) in text.char_indices() {
                let halves = [&text[..at], &text[at..]];
                assert_eq!(split(halves), expected, "{text:?} cut at {at}");
            }
            let letters = text
                .char_indices()
                .map(|(at, letter)| &text[at..at + letter.len_utf8()]);
            assert_eq!(split(letters), expected, "{text:?} letter by letter");
        }
    }
}
