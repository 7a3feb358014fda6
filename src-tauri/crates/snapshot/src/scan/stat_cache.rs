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
    /// `None` if no file in it was taken.
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

pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as Timestamp)
}

/// The file format: all fields in order, and a checksum at the end.
pub(crate) mod file {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::tree::HASH;

    const MAGIC: &[u8] = b"lathe-known-2\n";

    pub(crate) fn encode(root: &CachedFolder) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        folder(&mut out, root);
        let sum = Sha256::digest(&out);
        out.extend_from_slice(&sum);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<CachedFolder> {
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if Sha256::digest(body)[..] != *sum {
            return None;
        }
        Reader(body.strip_prefix(MAGIC)?).folder()
    }

    fn folder(out: &mut Vec<u8>, cached: &CachedFolder) {
        number(out, cached.identity.0);
        number(out, cached.identity.1);
        number(out, cached.rules_key);
        out.push(u8::from(cached.repository) | u8::from(cached.has_hard_links) << 1);
        out.push(u8::from(cached.tree.is_some()));
        out.extend_from_slice(cached.tree.as_ref().map_or(&[][..], |id| id.as_slice()));
        number(out, cached.left_out.len() as u64);
        for (name, reason) in &cached.left_out {
            text(out, name);
            out.push(reason.code());
        }
        number(out, cached.entries.len() as u64);
        for (name, entry) in &cached.entries {
            text(out, name);
            match entry {
                Entry::Folder(inner) => {
                    out.push(b'd');
                    folder(out, inner);
                }
                Entry::File(file) => self::file(out, file),
            }
        }
    }

    fn file(out: &mut Vec<u8>, file: &CachedFile) {
        out.push(match file.mode {
            Mode::File => b'f',
            Mode::Executable => b'x',
            Mode::Link => b'l',
        });
        out.push(u8::from(file.racy));
        let stamp = &file.stamp;
        number(out, stamp.device);
        number(out, stamp.inode);
        number(out, stamp.size);
        out.extend_from_slice(&stamp.mode.to_le_bytes());
        out.extend_from_slice(&stamp.links.to_le_bytes());
        out.extend_from_slice(&stamp.modified.to_le_bytes());
        out.extend_from_slice(&stamp.changed.to_le_bytes());
        out.extend_from_slice(file.id.as_slice());
    }

    fn number(out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes());
    }

    fn text(out: &mut Vec<u8>, bytes: &[u8]) {
        number(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }

    struct Reader<'a>(&'a [u8]);

    impl<'a> Reader<'a> {
        fn take(&mut self, len: usize) -> Option<&'a [u8]> {
            let (head, rest) = self.0.split_at_checked(len)?;
            self.0 = rest;
            Some(head)
        }

        fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
            self.take(N)?.try_into().ok()
        }

        fn byte(&mut self) -> Option<u8> {
            self.array::<1>().map(|[byte]| byte)
        }

        fn number(&mut self) -> Option<u64> {
            self.array().map(u64::from_le_bytes)
        }

        fn text(&mut self) -> Option<Box<[u8]>> {
            let len = usize::try_from(self.number()?).ok()?;
            self.take(len).map(Into::into)
        }

        fn id(&mut self) -> Option<Oid> {
            Oid::try_from(self.take(HASH.len_in_bytes())?).ok()
        }

        fn folder(&mut self) -> Option<CachedFolder> {
            let identity = (self.number()?, self.number()?);
            let rules_key = self.number()?;
            let flags = self.byte()?;
            let tree = match self.byte()? {
                0 => None,
                _ => Some(self.id()?),
            };
            let left_out = (0..self.number()?)
                .map(|_| Some((self.text()?, Reason::from_code(self.byte()?)?)))
                .collect::<Option<Vec<_>>>()?;
            let entries = (0..self.number()?)
                .map(|_| Some((self.text()?, self.entry()?)))
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
            })
        }

        fn entry(&mut self) -> Option<Entry> {
            let mode = match self.byte()? {
                b'd' => return Some(Entry::Folder(Box::new(self.folder()?))),
                b'f' => Mode::File,
                b'x' => Mode::Executable,
                b'l' => Mode::Link,
                _ => return None,
            };
            let racy = self.byte()? != 0;
            let stamp = Stamp {
                device: self.number()?,
                inode: self.number()?,
                size: self.number()?,
                mode: u32::from_le_bytes(self.array()?),
                links: u32::from_le_bytes(self.array()?),
                modified: Timestamp::from_le_bytes(self.array()?),
                changed: Timestamp::from_le_bytes(self.array()?),
            };
            let id = self.id()?;
            Some(Entry::File(CachedFile {
                stamp,
                racy,
                mode,
                id,
            }))
        }
    }
}
