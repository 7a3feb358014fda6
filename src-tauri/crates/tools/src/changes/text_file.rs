//! Converts a file's bytes to the text that the model sees, with `\n` only, and back.

use std::ops::Range;

use crate::context::ContentHash;

const BOM: &str = "\u{feff}";

/// A file's content at the time it was read.
pub(crate) struct Found {
    pub bytes: Vec<u8>,
    pub hash: ContentHash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnding {
    Lf,
    CrLf,
}

impl LineEnding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The most frequent line ending of `text`; `None` for a single line.
    pub fn of(text: &str) -> Option<Self> {
        let breaks = memchr_count(b'\n', text);
        let with_cr = text.matches("\r\n").count();
        match (breaks, with_cr) {
            (0, _) => None,
            (breaks, with_cr) if with_cr * 2 > breaks => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
    }

    /// `text` with all line breaks converted to this ending.
    pub fn apply(self, text: &str) -> String {
        let plain = text.replace("\r\n", "\n");
        match self {
            Self::Lf => plain,
            Self::CrLf => plain.replace('\n', "\r\n"),
        }
    }
}

fn memchr_count(byte: u8, text: &str) -> usize {
    text.bytes().filter(|b| *b == byte).count()
}

pub(crate) fn count_lines(text: &str) -> usize {
    text.lines().count()
}

impl Found {
    pub fn new(bytes: Vec<u8>) -> Self {
        let hash = ContentHash::of(&bytes);
        Self { bytes, hash }
    }

    /// Text that can be restored byte for byte; `None` for any other encoding.
    pub fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        (!text.contains('\0')).then(|| text.strip_prefix(BOM).unwrap_or(text))
    }

    pub fn has_bom(&self) -> bool {
        self.bytes.starts_with(BOM.as_bytes())
    }

    /// `text` with the byte order mark of this file, if it has one.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        if self.has_bom() {
            [BOM, text].concat().into_bytes()
        } else {
            text.as_bytes().to_vec()
        }
    }
}

/// The text without carriage returns before line breaks, and their positions.
pub(crate) struct Endings<'a> {
    original: &'a str,
    plain: std::borrow::Cow<'a, str>,
    /// Positions in `plain` of the line breaks that had one.
    with_cr: Vec<usize>,
}

impl<'a> Endings<'a> {
    pub fn of(original: &'a str) -> Self {
        if !original.contains("\r\n") {
            return Self {
                original,
                plain: original.into(),
                with_cr: Vec::new(),
            };
        }
        let mut plain = String::with_capacity(original.len());
        let mut with_cr = Vec::new();
        let mut rest = original;
        while let Some(at) = rest.find("\r\n") {
            plain.push_str(&rest[..at]);
            with_cr.push(plain.len());
            plain.push('\n');
            rest = &rest[at + 2..];
        }
        plain.push_str(rest);
        Self {
            original,
            plain: plain.into(),
            with_cr,
        }
    }

    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// The same range in the original.
    pub fn original_range(&self, plain: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| offset + self.with_cr.partition_point(|cr| *cr < offset);
        at(plain.start)..at(plain.end)
    }

    /// The line ending for text that replaces `range` (of the original): that of the lines
    /// there, else that of the line around it, else the most frequent one of the file.
    pub fn ending_at(&self, range: &Range<usize>) -> LineEnding {
        let text = self.original;
        LineEnding::of(&text[range.clone()])
            .or_else(|| {
                let line = text[range.end..].find('\n')?;
                LineEnding::of(&text[range.start..=range.end + line])
            })
            .or_else(|| {
                let line = text[..range.start].rfind('\n')?;
                LineEnding::of(&text[line.saturating_sub(1)..=line])
            })
            .unwrap_or(LineEnding::Lf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ending_is_that_of_the_lines_around() {
        let endings = Endings::of("a\r\nb\nc\r\n");
        assert_eq!(endings.plain(), "a\nb\nc\n");
        assert_eq!(endings.ending_at(&(0..1)), LineEnding::CrLf);
        assert_eq!(endings.ending_at(&(3..4)), LineEnding::Lf);
        assert_eq!(endings.ending_at(&(5..6)), LineEnding::CrLf);
        assert_eq!(endings.ending_at(&(8..8)), LineEnding::CrLf);
        assert_eq!(Endings::of("a").ending_at(&(0..1)), LineEnding::Lf);
    }

    proptest! {
        #[test]
        fn a_stretch_of_the_plain_text_is_found_again_in_the_original(text in "(a|ü|\r\n|\n|\r){0,20}", a in 0usize..20, b in 0usize..20) {
            let endings = Endings::of(&text);
            let plain = endings.plain();
            let offsets: Vec<usize> = plain.char_indices().map(|(at, _)| at).chain([plain.len()]).collect();
            let (a, b) = (offsets[a % offsets.len()], offsets[b % offsets.len()]);
            let range = a.min(b)..a.max(b);
            let original = &text[endings.original_range(&range)];
            prop_assert_eq!(original.replace("\r\n", "\n"), &plain[range]);
        }
    }
}
