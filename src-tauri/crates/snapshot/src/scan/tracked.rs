//! The files that the user's own repository tracks.
//!
//! Our own reader reads only names from the index: no repository is opened, so its
//! configuration, hooks and filters have no effect. An unreadable index tracks nothing, which
//! reduces what a snapshot covers (and is reported), but is never unsafe.

use crate::path::within;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tracked(Vec<Box<[u8]>>);

impl Tracked {
    pub fn parse(index: &[u8]) -> Self {
        Self(names(index).unwrap_or_default())
    }

    pub fn file(&self, path: &[u8]) -> bool {
        let found = self.0.binary_search_by(|name| name.as_ref().cmp(path));
        found.is_ok()
    }

    /// Whether something below the folder is tracked.
    pub fn below(&self, folder: &[u8]) -> bool {
        let start = [folder, b"/"].concat();
        let at = self.0.partition_point(|name| name.as_ref() < &start[..]);
        self.0.get(at).is_some_and(|name| within(name, folder))
    }
}

fn names(index: &[u8]) -> Option<Vec<Box<[u8]>>> {
    let version = word(index, 4)?;
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let count = word(index, 8)? as usize;
    let mut names: Vec<Box<[u8]>> = Vec::with_capacity(count.min(index.len() / 62));
    let mut at = 12;
    for _ in 0..count {
        let flags = u16::from_be_bytes(index.get(at + 60..at + 62)?.try_into().ok()?);
        let extended = version >= 3 && flags & 0x4000 != 0;
        let mut start = at + if extended { 64 } else { 62 };
        let mut name = Vec::new();
        if version == 4 {
            let (strip, used) = offset(index.get(start..)?)?;
            start += used;
            let last = names.last().map(AsRef::as_ref).unwrap_or_default();
            name.extend_from_slice(last.get(..last.len().checked_sub(strip)?)?);
        }
        let rest = index.get(start..)?;
        let len = rest.iter().position(|b| *b == 0)?;
        name.extend_from_slice(&rest[..len]);
        // Before version 4, entries are padded to a multiple of eight bytes.
        at = match version {
            4 => start + len + 1,
            _ => at + ((start - at + len + 8) & !7),
        };
        names.push(name.into());
    }
    names.sort_unstable();
    Some(names)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (n, byte) in bytes.iter().enumerate().take(8) {
        value = value.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, n + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(version: u32, names: &[&str]) -> Vec<u8> {
        let mut out = b"DIRC".to_vec();
        out.extend(version.to_be_bytes());
        out.extend((names.len() as u32).to_be_bytes());
        let mut last = "";
        for name in names {
            let start = out.len();
            out.extend([0; 62]);
            if version == 4 {
                let same = last
                    .bytes()
                    .zip(name.bytes())
                    .take_while(|(a, b)| a == b)
                    .count();
                out.push((last.len() - same) as u8);
                out.extend(&name.as_bytes()[same..]);
                out.push(0);
            } else {
                out.extend(name.as_bytes());
                out.push(0);
                while !(out.len() - start).is_multiple_of(8) {
                    out.push(0);
                }
            }
            last = name;
        }
        out
    }

    #[test]
    fn names_are_read_from_every_version_of_the_index() {
        for version in [2, 3, 4] {
            let tracked = Tracked::parse(&index(version, &["a/one", "a/one-two", "b"]));
            assert!(tracked.file(b"a/one") && tracked.file(b"b"), "{version}");
            assert!(!tracked.file(b"a"));
            assert!(tracked.below(b"a"));
            assert!(!tracked.below(b"b"));
        }
    }

    #[test]
    fn a_truncated_index_tracks_nothing() {
        let whole = index(2, &["a/one", "b"]);
        for len in 0..whole.len() - 8 {
            assert_eq!(Tracked::parse(&whole[..len]), Tracked::default());
        }
    }
}
