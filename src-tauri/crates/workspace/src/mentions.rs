//! `@` mentions in a prompt: finding them in the text, and completing them while typing.

mod files;
mod find;
mod symbols;
mod tags;

use lathe_protocol::{Extra, SourceText};

pub use find::Finder;

/// A range of lines, counted from 1, including the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    pub first: usize,
    pub last: usize,
}

/// An `@` and the word after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionText {
    /// Without the `@`.
    word: String,
    is_quoted: bool,
    /// Position of the `@`, in UTF-16 code units.
    start: usize,
    /// The same, in bytes.
    at: usize,
}

/// One possible reading of a [`MentionText`], with or without its trailing punctuation.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub path: String,
    pub lines: Option<Lines>,
    pub source: SourceText,
}

/// Finds the mentions in a text. An `@` after a word character (an email address) or after a
/// backtick (code) is not a mention.
pub fn find_mentions(text: &str) -> Vec<MentionText> {
    let mut found = Vec::new();
    let (mut before, mut start) = (None, 0);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = &rest[next.len_utf8()..];
        let opens = next == '@' && before.is_none_or(|c: char| !is_word(c) && c != '`');
        let word = if opens { word(after) } else { None };
        match word {
            Some((word, is_quoted)) => {
                let taken = 1 + word.len() + if is_quoted { 2 } else { 0 };
                let mention = MentionText {
                    word: word.to_owned(),
                    is_quoted,
                    start,
                    at: text.len() - rest.len(),
                };
                found.push(mention);
                let passed = &rest[..taken];
                start += utf16(passed);
                before = passed.chars().next_back();
                rest = &rest[taken..];
            }
            None => {
                start += next.len_utf16();
                before = Some(next);
                rest = after;
            }
        }
    }
    found
}

/// The position of the first occurrence of `words` in `text`.
pub fn locate(words: &str, text: &str) -> Option<SourceText> {
    let start = utf16(&text[..text.find(words)?]);
    let count = |at: usize| (at as i64).into();
    Some(SourceText {
        value: words.to_owned(),
        start: count(start),
        end: count(start + utf16(words)),
        extra: Extra::default(),
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word at the start of `text`, and whether it is quoted. A quoted word may have spaces.
fn word(text: &str) -> Option<(&str, bool)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let line = quoted.lines().next()?;
        let end = line.find('"').filter(|end| *end > 0)?;
        return Some((&quoted[..end], true));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '`' || c == '@');
    let word = &text[..end.unwrap_or(text.len())];
    (!word.is_empty()).then_some((word, false))
}

fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Punctuation that may belong to the sentence or to the name: `app/(group)`, `notes.`.
const PUNCTUATION: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '*', '_', '…',
];

impl MentionText {
    /// The longest candidate first.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> {
        let mut next = Some(self.word.as_str());
        let mut words = Vec::new();
        while let Some(word) = next.filter(|word| !word.is_empty()) {
            words.push(word);
            next = word.strip_suffix(PUNCTUATION).filter(|_| !self.is_quoted);
        }
        words.into_iter().map(|word| self.candidate(word))
    }

    fn candidate(&self, word: &str) -> Candidate {
        let (path, lines) = match word.rsplit_once('#') {
            Some((path, fragment)) if !path.is_empty() => match lines(fragment) {
                Some(lines) => (path, Some(lines)),
                None => (word, None),
            },
            _ => (word, None),
        };
        let value = match self.is_quoted {
            true => format!("@\"{word}\""),
            false => format!("@{word}"),
        };
        let end = self.start + utf16(&value);
        let count = |at: usize| (at as i64).into();
        Candidate {
            path: path.to_owned(),
            lines,
            source: SourceText {
                value,
                start: count(self.start),
                end: count(end),
                extra: Extra::default(),
            },
        }
    }

    /// Where it begins, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn overlaps(&self, text: &SourceText) -> bool {
        let start = self.start as i64;
        let quotes = if self.is_quoted { 2 } else { 0 };
        let end = start + (1 + utf16(&self.word) + quotes) as i64;
        text.start.0 < end && start < text.end.0
    }
}

/// `L10`, `L10-L20` or `L10-20`.
fn lines(fragment: &str) -> Option<Lines> {
    let range = fragment.strip_prefix('L')?;
    let (first, last) = match range.split_once('-') {
        Some((first, last)) => (first, last.strip_prefix('L').unwrap_or(last)),
        None => (range, range),
    };
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (1..=last).contains(&first).then_some(Lines { first, last })
}

#[cfg(test)]
mod tests;
