//! The permission bits that git trees have no room for.
//!
//! Git stores only whether a file is executable. All other bits are in an entry of our own
//! beside the files of a folder. It lists what is not usual, so most folders have none. The root
//! of a tree always has one: it marks that the bits of the whole tree are known. Trees from
//! before that have no mark, and nothing is concluded from bits that are not known.

use std::collections::BTreeMap;

use super::Mode;
use crate::error::{Result, damaged};

/// The name of the entry. A file of the user with this name is left out of snapshots.
pub(crate) const ENTRY: &[u8] = b".lathe-modes";

/// The bits of a file or a folder, or that they are not known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permissions(Option<u16>);

impl Permissions {
    pub const UNKNOWN: Self = Self(None);

    pub fn new(bits: u32) -> Self {
        Self(Some((bits & 0o7777) as u16))
    }

    pub fn bits(self) -> Option<u32> {
        self.0.map(u32::from)
    }

    /// Whether the two do not contradict each other.
    pub fn agree(self, other: Self) -> bool {
        match (self.0, other.0) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }

    pub(super) fn usual(mode: Mode) -> Self {
        match mode {
            Mode::File => Self(Some(0o644)),
            Mode::Executable | Mode::Folder => Self(Some(0o755)),
            Mode::Link => Self::UNKNOWN,
        }
    }
}

/// What is not usual in a folder. With a umask that is not the most common one, no file would be
/// usual, so a list can begin with what is usual in it.
pub(super) struct List {
    usual: [Permissions; 3],
    unusual: BTreeMap<Vec<u8>, Permissions>,
}

/// Names of records that no file can have.
const USUAL: [(Mode, &[u8]); 3] = [
    (Mode::File, b"/file"),
    (Mode::Executable, b"/executable"),
    (Mode::Folder, b"/folder"),
];

impl List {
    pub fn none() -> Self {
        Self {
            usual: USUAL.map(|(mode, _)| Permissions::usual(mode)),
            unusual: BTreeMap::new(),
        }
    }

    pub fn of(&self, name: &[u8], mode: Mode) -> Permissions {
        let usual = USUAL.iter().position(|(known, _)| *known == mode);
        let usual = usual.map_or(Permissions::UNKNOWN, |at| self.usual[at]);
        self.unusual.get(name).copied().unwrap_or(usual)
    }

    /// The bytes are empty if everything is usual.
    pub fn encode<'a>(
        entries: impl Iterator<Item = (&'a [u8], Mode, Permissions)> + Clone,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut usual = Self::none().usual;
        for (at, (mode, name)) in USUAL.iter().enumerate() {
            let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
            for (.., permissions) in entries.clone().filter(|(_, one, _)| one == mode) {
                if let Some(bits) = permissions.0 {
                    *counts.entry(bits).or_default() += 1;
                }
            }
            // Of equally many, the smaller bits: the bytes must not depend on chance.
            let most = counts.iter().rev().max_by_key(|(_, count)| **count);
            if let Some((bits, _)) = most.filter(|(bits, _)| usual[at].0 != Some(**bits)) {
                usual[at] = Permissions(Some(*bits));
                record(&mut out, *bits, name);
            }
        }
        for (name, mode, permissions) in entries {
            let at = USUAL.iter().position(|(known, _)| *known == mode);
            if let (Some(at), Some(bits)) = (at, permissions.0)
                && usual[at].0 != Some(bits)
            {
                record(&mut out, bits, name);
            }
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut list = Self::none();
        let bad = || damaged("a list of permissions that can’t be read");
        for record in bytes.split(|b| *b == 0).filter(|record| !record.is_empty()) {
            let space = record.iter().position(|b| *b == b' ').ok_or_else(bad)?;
            let bits = std::str::from_utf8(&record[..space]).ok();
            let bits = bits.and_then(|octal| u16::from_str_radix(octal, 8).ok());
            let permissions = Permissions::new(u32::from(bits.ok_or_else(bad)?));
            let name = &record[space + 1..];
            match USUAL.iter().position(|(_, known)| *known == name) {
                Some(at) => list.usual[at] = permissions,
                None => {
                    list.unusual.insert(name.to_vec(), permissions);
                }
            }
        }
        Ok(list)
    }
}

fn record(out: &mut Vec<u8>, bits: u16, name: &[u8]) {
    out.extend_from_slice(format!("{bits:o} ").as_bytes());
    out.extend_from_slice(name);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(entries: &[(&'static str, Mode, u32)]) -> Vec<u8> {
        let entries = entries.iter();
        List::encode(
            entries.map(|(name, mode, bits)| (name.as_bytes(), *mode, Permissions::new(*bits))),
        )
    }

    #[test]
    fn usual_permissions_take_no_room() {
        let usual = [
            ("a", Mode::File, 0o644),
            ("b", Mode::Executable, 0o755),
            ("c", Mode::Folder, 0o755),
        ];
        assert_eq!(encoded(&usual), b"");
        let group = [("a", Mode::File, 0o664), ("b", Mode::File, 0o664)];
        assert_eq!(encoded(&group), b"664 /file\0");
    }

    #[test]
    fn every_permission_is_read_as_it_was_written() {
        let entries = [
            ("a", Mode::File, 0o600),
            ("b", Mode::File, 0o664),
            ("c c", Mode::File, 0o664),
            ("d", Mode::Executable, 0o4711),
            ("e", Mode::Folder, 0o700),
            ("f", Mode::Folder, 0o1777),
        ];
        let list = List::decode(&encoded(&entries)).unwrap();
        for (name, mode, bits) in entries {
            assert_eq!(list.of(name.as_bytes(), mode).bits(), Some(bits), "{name}");
        }
    }

    #[test]
    fn a_damaged_list_is_an_error() {
        for bad in ["644", "999 a", " a", "x a"] {
            assert!(List::decode(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
