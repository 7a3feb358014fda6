//! The stat cache: the result of the last scan.
//!
//! A file with unchanged metadata keeps its hash without being read. The cache is kept in memory
//! and, for the next start, in one file that is ignored if it is damaged.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Reason, rules::Rules};
use crate::{
    os::{Stamp, Timestamp},
    tree::{Mode, Oid},
};

/// One folder of the work tree.
#[derive(Default)]
pub(crate) struct CachedFolder {
    /// Device and inode, to recognise another folder of the same name.
    pub identity: (u64, u64),
    /// By name, in byte order.
    pub entries: Vec<(Box<[u8]>, Entry)>,
    pub left_out: Vec<(Box<[u8]>, Reason)>,
    /// `None` if it could not be read.
    pub tree: Option<Oid>,
    pub rules_key: u64,
    /// Not stored on disk: the first scan computes it.
    pub rules: Option<Rules>,
    /// A rule matches this folder, so only tracked files in it are taken. Valid if `rules` is
    /// present.
    pub tracked_only: bool,
    /// This folder is the root of a repository.
    pub repository: bool,
    /// A file in it has another name too, through which it can change without an event in this
    /// folder.
    pub has_hard_links: bool,
    /// The permission bits of the folder itself.
    pub mode: u32,
}

pub(crate) enum Entry {
    File(CachedFile),
    Folder(Box<CachedFolder>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CachedFile {
    pub stamp: Stamp,
    /// It was read so soon after its last change that a later change may have left the same
    /// timestamps. So it is read again.
    pub racy: bool,
    /// It has extended attributes.
    pub attributed: bool,
    pub mode: Mode,
    pub id: Oid,
}

impl CachedFolder {
    pub fn entry(&self, name: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|(n, _)| n.as_ref().cmp(name));
        at.ok().map(|at| &self.entries[at].1)
    }
}

/// Whether the file may change again without a change of its timestamps. Clocks tick at least
/// every 10 ms; a whole second suggests a file system that stores no fractions.
pub(crate) fn is_racy(stamp: &Stamp, read_at: Timestamp) -> bool {
    let newest = stamp.modified.max(stamp.changed);
    let tick = if newest % 1_000_000_000 == 0 {
        2_000_000_000
    } else {
        20_000_000
    };
    newest >= read_at - tick
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as Timestamp)
}

/// The file format.
pub(crate) mod file {
    use super::*;
    use crate::fields::{Reader, Writer};

    const MAGIC: &[u8] = b"lathe-known-4\n";

    pub(crate) fn encode(root: &CachedFolder) -> Vec<u8> {
        let mut out = Writer::new(MAGIC);
        write_folder(&mut out, root);
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<CachedFolder> {
        read_folder(&mut Reader::new(bytes, MAGIC)?)
    }

    fn write_folder(out: &mut Writer, cached: &CachedFolder) {
        out.number(cached.identity.0);
        out.number(cached.identity.1);
        out.number(cached.rules_key);
        out.bytes(&cached.mode.to_le_bytes());
        out.byte(u8::from(cached.repository) | u8::from(cached.has_hard_links) << 1);
        out.byte(u8::from(cached.tree.is_some()));
        out.bytes(cached.tree.as_ref().map_or(&[][..], |id| id.as_slice()));
        out.number(cached.left_out.len() as u64);
        for (name, reason) in &cached.left_out {
            out.text(name);
            out.byte(reason.code());
        }
        out.number(cached.entries.len() as u64);
        for (name, entry) in &cached.entries {
            out.text(name);
            match entry {
                Entry::Folder(inner) => {
                    out.byte(b'd');
                    write_folder(out, inner);
                }
                Entry::File(file) => write_file(out, file),
            }
        }
    }

    fn write_file(out: &mut Writer, file: &CachedFile) {
        out.byte(match file.mode {
            Mode::File => b'f',
            Mode::Executable => b'x',
            Mode::Link => b'l',
            // Never the case: folders are entries of another kind.
            Mode::Folder => b'?',
        });
        out.byte(u8::from(file.racy) | u8::from(file.attributed) << 1);
        let stamp = &file.stamp;
        out.number(stamp.device);
        out.number(stamp.inode);
        out.number(stamp.size);
        out.bytes(&stamp.mode.to_le_bytes());
        out.bytes(&stamp.links.to_le_bytes());
        out.bytes(&stamp.modified.to_le_bytes());
        out.bytes(&stamp.changed.to_le_bytes());
        out.bytes(file.id.as_slice());
    }

    fn read_folder(from: &mut Reader<'_>) -> Option<CachedFolder> {
        let identity = (from.number()?, from.number()?);
        let rules_key = from.number()?;
        let mode = u32::from_le_bytes(from.array()?);
        let flags = from.byte()?;
        let tree = match from.byte()? {
            0 => None,
            _ => Some(from.id()?),
        };
        let left_out = (0..from.number()?)
            .map(|_| Some((from.text()?, Reason::from_code(from.byte()?)?)))
            .collect::<Option<Vec<_>>>()?;
        let entries = (0..from.number()?)
            .map(|_| Some((from.text()?, read_entry(from)?)))
            .collect::<Option<Vec<_>>>()?;
        Some(CachedFolder {
            identity,
            entries,
            left_out,
            tree,
            rules_key,
            rules: None,
            tracked_only: false,
            repository: flags & 1 != 0,
            has_hard_links: flags & 2 != 0,
            mode,
        })
    }

    fn read_entry(from: &mut Reader<'_>) -> Option<Entry> {
        let mode = match from.byte()? {
            b'd' => return Some(Entry::Folder(Box::new(read_folder(from)?))),
            b'f' => Mode::File,
            b'x' => Mode::Executable,
            b'l' => Mode::Link,
            _ => return None,
        };
        let flags = from.byte()?;
        let stamp = Stamp {
            device: from.number()?,
            inode: from.number()?,
            size: from.number()?,
            mode: u32::from_le_bytes(from.array()?),
            links: u32::from_le_bytes(from.array()?),
            modified: Timestamp::from_le_bytes(from.array()?),
            changed: Timestamp::from_le_bytes(from.array()?),
        };
        let id = from.id()?;
        Some(Entry::File(CachedFile {
            stamp,
            racy: flags & 1 != 0,
            attributed: flags & 2 != 0,
            mode,
            id,
        }))
    }
}
