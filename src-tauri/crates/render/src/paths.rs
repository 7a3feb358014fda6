//! Paths in text: shortens them relative to the project, and finds references to its files.
//!
//! This works on text alone: whether a file exists is not checked here. The shell checks a path
//! again before it opens the file.

use std::borrow::Cow;

mod reference;

pub(crate) use reference::{FileRef, parse_link_target, parse_reference};

/// Removes `root` wherever a path in `text` starts with it. The root itself stays, and so does a
/// path that only starts with the same characters (`/a/project-old`).
///
/// A Windows root matches in any case and with either separator, also a doubled one as in JSON;
/// any other root must match exactly.
pub(crate) fn relativize<'t>(text: &'t str, root: &str) -> Cow<'t, str> {
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

/// The position of a prefix of `root` at the end of `text`. While a text streams in, this prefix
/// is not shown, because it will probably be removed by [`relativize`].
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
    /// `None` for the root of a disk: paths are not shown relative to that.
    fn new(root: &'r str) -> Option<Self> {
        let root = root.strip_prefix(r"\\?\").unwrap_or(root);
        let windows = has_drive(root) || root.starts_with('\\');
        let separators: &[char] = if windows { &['/', '\\'] } else { &['/'] };
        let trimmed = root.trim_end_matches(separators);
        let parts: Vec<&str> = trimmed.split(separators).collect();
        (parts.len() > 1).then_some(Self { parts, windows })
    }

    /// The next position where the root may start.
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

    /// The length of the root at `at`, if a path below it follows.
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
mod tests;
