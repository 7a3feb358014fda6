//! Paths in text: shown relative to the project, and recognised as references to its files.
//!
//! Works on text alone: whether a file exists is not known here, and opening one is the
//! shell's business, which checks the path again.

use std::borrow::Cow;

mod reference;

pub(crate) use reference::{FileRef, link_target, reference};

/// Strips `root` where it is a whole path prefix. A path that is the root itself stays as it
/// is, and so does a longer name that merely starts like it (`/a/project-old`).
///
/// A root with a drive letter matches with either separator, doubled ones (as in JSON) and in
/// any case; any other root matches to the letter.
pub fn relativize<'t>(text: &'t str, root: &str) -> Cow<'t, str> {
    let Some(root) = Root::new(root) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = root.find(text, at) {
        match root.prefix_len(text, found) {
            Some(len) => {
                out.push_str(&text[copied..found]);
                copied = found + len;
                at = copied;
            }
            None => at = found + text[found..].chars().next().map_or(1, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Whether `text` ends with a beginning of `root`, and where: in a text still being written
/// that piece is likely to vanish again.
pub(crate) fn trailing_root_prefix(text: &str, root: &str) -> Option<usize> {
    let start = text.rfind(|c: char| !is_path_char(c)).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    let piece = &text[start..];
    let whole = format!("{}/", root.trim_end_matches(['/', '\\']));
    (piece.len() > 1 && whole.starts_with(piece)).then_some(start)
}

struct Root<'r> {
    parts: Vec<&'r str>,
    windows: bool,
}

impl<'r> Root<'r> {
    /// Nothing is relative to the top of a disk.
    fn new(root: &'r str) -> Option<Self> {
        let root = root.strip_prefix(r"\\?\").unwrap_or(root);
        let windows = has_drive(root) || root.starts_with('\\');
        let separators: &[char] = if windows { &['/', '\\'] } else { &['/'] };
        let trimmed = root.trim_end_matches(separators);
        let parts: Vec<&str> = trimmed.split(separators).collect();
        (parts.len() > 1).then_some(Self { parts, windows })
    }

    /// The next place where the root may start.
    fn find(&self, text: &str, from: usize) -> Option<usize> {
        if !self.windows {
            let needle = format!("/{}", self.parts.get(1)?);
            return text.get(from..)?.find(&needle).map(|at| from + at);
        }
        let first = self.parts.first()?.chars().next().unwrap_or('\\');
        text.get(from..)?
            .find(|c: char| c.eq_ignore_ascii_case(&first))
            .map(|at| from + at)
    }

    /// How much to strip at `at`, if the root stands there with a path below it.
    fn prefix_len(&self, text: &str, at: usize) -> Option<usize> {
        if text[..at].chars().next_back().is_some_and(is_path_char) {
            return None;
        }
        let mut rest = &text[at..];
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                rest = self.skip_separator(rest)?;
            }
            rest = self.skip_part(rest, part)?;
        }
        rest = self.skip_separator(rest)?;
        let below = rest
            .chars()
            .next()
            .is_some_and(|c| is_path_char(c) && c != '/' && c != '\\');
        below.then(|| text.len() - at - rest.len())
    }

    fn skip_separator<'t>(&self, text: &'t str) -> Option<&'t str> {
        if self.windows {
            let rest = text.trim_start_matches('\\');
            let count = text.len() - rest.len();
            return match count {
                0 => text.strip_prefix('/'),
                1 | 2 => Some(rest),
                _ => None,
            };
        }
        text.strip_prefix('/')
    }

    fn skip_part<'t>(&self, text: &'t str, part: &str) -> Option<&'t str> {
        if !self.windows {
            return text.strip_prefix(part);
        }
        let mut rest = text.chars();
        for wanted in part.chars() {
            let found = rest.next()?;
            if !found.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
        }
        Some(rest.as_str())
    }
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "/\\._-+@~$%#&".contains(c)
}

#[cfg(test)]
#[path = "paths/tests.rs"]
mod tests;
