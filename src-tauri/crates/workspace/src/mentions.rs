//! `@` in a prompt: which words name something, and what they could be completed to.

mod files;
mod find;
mod symbols;
mod tags;

use lathe_protocol::{Extra, SourceText};

pub use find::Finder;

/// Lines of a file, from 1, the last one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    pub first: usize,
    pub last: usize,
}

/// An `@` and what stands after it, up to the next space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Without the `@`.
    word: String,
    is_quoted: bool,
    /// Of the `@`, in UTF-16 code units.
    start: usize,
}

/// One way to read a [`Named`].
#[derive(Debug, Clone, PartialEq)]
pub struct Spelling {
    pub path: String,
    pub lines: Option<Lines>,
    pub source: SourceText,
}

/// Not after a word character (an address) and not after a backtick (code).
pub fn named(text: &str) -> Vec<Named> {
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
                let named = Named {
                    word: word.to_owned(),
                    is_quoted,
                    start,
                };
                found.push(named);
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

/// Where these words stand in a text.
pub fn place_of(words: &str, text: &str) -> Option<SourceText> {
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

/// Quotes hold names with spaces together.
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

/// What ends a sentence may also end a name: `app/(group)`, `notes.`.
const PUNCTUATION: &[char] = &[
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '*', '_', '…',
];

impl Named {
    /// The longest reading first.
    pub fn spellings(&self) -> impl Iterator<Item = Spelling> {
        let mut next = Some(self.word.as_str());
        let mut words = Vec::new();
        while let Some(word) = next.filter(|word| !word.is_empty()) {
            words.push(word);
            next = word.strip_suffix(PUNCTUATION).filter(|_| !self.is_quoted);
        }
        words.into_iter().map(|word| self.spelling(word))
    }

    fn spelling(&self, word: &str) -> Spelling {
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
        Spelling {
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
