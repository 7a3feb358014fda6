//! The paths that a snapshot does not cover, with the reasons.

use std::{collections::BTreeMap, fmt};

use super::stat_cache::{CachedFolder, Entry};
use crate::{
    error::{Result, damaged},
    path::{RelPath, join},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// By a `.gitignore` rule.
    Ignored,
    /// Trees of earlier versions had no empty folders and listed them here.
    EmptyFolder,
    /// Permission denied, or another error of the system.
    Unreadable,
    /// FIFO, socket or device.
    Special,
    TooLarge,
    /// It changed each time it was read.
    Unstable,
    TooDeep,
    /// A name that is not allowed in a tree.
    BadName,
}

const ALL: [(Reason, u8); 8] = [
    (Reason::Ignored, b'i'),
    (Reason::EmptyFolder, b'e'),
    (Reason::Unreadable, b'u'),
    (Reason::Special, b's'),
    (Reason::TooLarge, b'l'),
    (Reason::Unstable, b'c'),
    (Reason::TooDeep, b'd'),
    (Reason::BadName, b'n'),
];

impl Reason {
    /// Ignored paths and empty folders are left out on purpose; any other reason makes the
    /// snapshot incomplete.
    pub fn expected(self) -> bool {
        matches!(self, Reason::Ignored | Reason::EmptyFolder)
    }

    pub(super) fn code(self) -> u8 {
        ALL.iter()
            .find(|(reason, _)| *reason == self)
            .map_or(b'?', |(_, code)| *code)
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        let found = ALL.iter().find(|(_, known)| *known == code);
        found.map(|(reason, _)| *reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Ignored => "ignored by a rule",
            Reason::EmptyFolder => "an empty folder",
            Reason::Unreadable => "it can’t be read",
            Reason::Special => "neither file, folder nor link",
            Reason::TooLarge => "too large",
            Reason::Unstable => "it kept changing while it was read",
            Reason::TooDeep => "nested too deeply",
            Reason::BadName => "its name can’t be kept",
        })
    }
}

/// The paths that a snapshot does not cover; of a folder, only the folder itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut(BTreeMap<Vec<u8>, Reason>);

impl LeftOut {
    pub fn collect(root: &CachedFolder) -> Self {
        let mut found = BTreeMap::new();
        collect(b"", root, &mut found);
        Self(found)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Reason)> {
        self.0.iter().map(|(path, reason)| (&path[..], *reason))
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Why the snapshot does not cover this path; `None` if it does.
    pub fn reason_for(&self, path: &RelPath) -> Option<Reason> {
        std::iter::once(path.clone())
            .chain(path.ancestors())
            .find_map(|at| self.0.get(at.as_bytes()))
            .or_else(|| self.0.get(&b""[..]))
            .copied()
            .filter(|reason| *reason != Reason::EmptyFolder)
    }

    pub fn was_empty_folder(&self, path: &RelPath) -> bool {
        self.0.get(path.as_bytes()) == Some(&Reason::EmptyFolder)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (path, reason) in &self.0 {
            out.push(reason.code());
            out.extend_from_slice(path);
            out.push(0);
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let records = bytes.split(|b| *b == 0).filter(|record| !record.is_empty());
        records
            .map(|record| {
                let reason = Reason::from_code(record[0])
                    .ok_or_else(|| damaged("an unknown reason in a snapshot"))?;
                Ok((record[1..].to_vec(), reason))
            })
            .collect::<Result<_>>()
            .map(Self)
    }
}

fn collect(at: &[u8], folder: &CachedFolder, found: &mut BTreeMap<Vec<u8>, Reason>) {
    for (name, reason) in &folder.left_out {
        let path = if name.is_empty() {
            at.to_vec()
        } else {
            join(at, name)
        };
        found.insert(path, *reason);
    }
    for (name, entry) in &folder.entries {
        if let Entry::Folder(inner) = entry {
            collect(&join(at, name), inner, found);
        }
    }
}
