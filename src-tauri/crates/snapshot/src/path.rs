//! A validated path inside the work tree.
//!
//! It consists of bytes, because file names are bytes on Unix. Validation guarantees that the
//! path itself does not leave the tree; the code that opens it must make sure that no symbolic
//! link does.

use std::fmt;

/// Relative, `/`-separated, without `.`, `..`, empty or `.git` components.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Box<[u8]>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a path inside the work tree")]
pub struct BadPath(pub String);

impl RelPath {
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, BadPath> {
        let bytes = bytes.as_ref();
        if !bytes.is_empty() && bytes.split(|b| *b == b'/').all(allowed_name) {
            Ok(Self(bytes.into()))
        } else {
            Err(BadPath(String::from_utf8_lossy(bytes).into_owned()))
        }
    }

    /// For a path that was checked by other means: it consists of names that were found on the
    /// disk, or it was written by us.
    pub(crate) fn unchecked(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As earlier versions stored it: bytes that are not text are lost.
    pub fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|b| *b == b'/')
    }

    pub fn name(&self) -> &[u8] {
        self.components().next_back().unwrap_or_default()
    }

    pub fn parent(&self) -> Option<RelPath> {
        let slash = self.0.iter().rposition(|b| *b == b'/')?;
        Some(Self(self.0[..slash].into()))
    }

    /// The parents, nearest first, without the path itself.
    pub fn ancestors(&self) -> impl Iterator<Item = RelPath> {
        std::iter::successors(self.parent(), RelPath::parent)
    }
}

/// Whether a tree can have an entry of this name.
pub(crate) fn allowed_name(name: &[u8]) -> bool {
    let special_on_windows = cfg!(windows) && (name.contains(&b'\\') || name.contains(&b':'));
    !name.is_empty()
        && name != b"."
        && name != b".."
        && !name.contains(&0)
        && !name.eq_ignore_ascii_case(b".git")
        && !special_on_windows
}

pub(crate) fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(parent.len() + 1 + name.len());
    path.extend_from_slice(parent);
    if !parent.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Whether `path` is `top` or below it.
pub(crate) fn within(path: &[u8], top: &[u8]) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || top.is_empty())
}

impl std::str::FromStr for RelPath {
    type Err = BadPath;
    fn from_str(text: &str) -> Result<Self, BadPath> {
        Self::new(text)
    }
}

/// Bytes that are not text are written as `\xff`, so that two paths never look the same because
/// of them.
impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_are_accepted() {
        for good in ["a", "a/b c", "new\nline", "...", ".gitignore", "a/.github"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
        for bad in [
            "", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", ".git", "a/.GIT/x", "a\0b",
        ] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_told_apart() {
        let shown = |bytes: &[u8]| RelPath::new(bytes).unwrap().to_string();
        assert_eq!(shown(b"d/a\xffb"), "d/a\\xffb");
        assert_eq!(shown(b"d/a\xfeb"), "d/a\\xfeb");
        assert_eq!(shown("d/\u{e4}".as_bytes()), "d/\u{e4}");
    }

    #[test]
    fn within_compares_whole_components() {
        assert!(within(b"a/b", b"a"));
        assert!(within(b"a", b"a"));
        assert!(within(b"a", b""));
        assert!(!within(b"ab", b"a"));
    }
}
