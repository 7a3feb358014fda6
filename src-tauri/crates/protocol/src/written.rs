//! What a call writes, as far as the tool itself knows: the host needs it to revert exactly that.
//!
//! It is never stored or sent. It is here because `tools` and `review` do not know each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A file that one of our own tools is about to write or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Without symbolic links.
    pub path: PathBuf,
    /// The content that the tool found; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// The content that it will write; `None` if it removes the file.
    pub after: Option<Vec<u8>>,
}

/// Evidence of what a command wrote.
pub trait WriteEvidence: Send + Sync {
    /// To be called when the command has ended and the tree after it has been taken. Blocks for
    /// a moment. `None` if nothing was seen: then it is not known who wrote what.
    fn finish(self: Box<Self>) -> Option<CommandWrites>;
}

/// What the processes of a command were seen to write. Paths are absolute and without symbolic
/// links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandWrites {
    /// Files that were opened for writing, made, removed, or had their mode changed.
    pub files: BTreeSet<PathBuf>,
    pub renames: Renames,
    /// Files with several names that were written, by device and inode, with the name that the
    /// command used.
    pub linked: BTreeMap<(u64, u64), PathBuf>,
    /// What each of them was when the command first touched it.
    pub found: BTreeMap<PathBuf, Found>,
    /// Files that something else was seen to write, too.
    pub mixed: BTreeSet<PathBuf>,
    /// The command may have written by a way that was not seen.
    pub incomplete: bool,
}

/// A name that a command gave to a file or a folder, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub from: PathBuf,
    pub to: PathBuf,
    /// The two names were swapped.
    pub swaps: bool,
}

/// What was at a path when a command first touched it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Absent,
    /// Not changed since the tree before the command was taken, or by the command itself.
    AsBefore,
    /// It may have been changed since; this is its content. The tree has it as `origin`.
    Content {
        origin: PathBuf,
        bytes: Vec<u8>,
    },
    /// It may have been changed since, and its content is not known.
    Unsure,
}

/// Who changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    Command,
    /// The command and something else, or it is not known which of them.
    Shared,
    Others,
}

/// The files right before a command and right after it. A folder is there without content.
pub trait Around {
    fn before(&self, path: &Path) -> Option<Vec<u8>>;
    fn after(&self, path: &Path) -> Option<Vec<u8>>;
    /// Device and inode of a file that has several names now.
    fn linked(&self, path: &Path) -> Option<(u64, u64)>;
}

/// Renames in the order in which they were done. A command may do one for each file, so the ones
/// of a name are found without looking at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    all: Vec<Rename>,
    /// The positions of those that gave a name, and of those that took it away.
    given: HashMap<PathBuf, Vec<usize>>,
    taken: HashMap<PathBuf, Vec<usize>>,
}

impl Renames {
    pub fn push(&mut self, rename: Rename) {
        let at = self.all.len();
        let mut note = |given: &Path, taken: &Path| {
            self.given.entry(given.to_owned()).or_default().push(at);
            self.taken.entry(taken.to_owned()).or_default().push(at);
        };
        note(&rename.to, &rename.from);
        if rename.swaps {
            note(&rename.from, &rename.to);
        }
        self.all.push(rename);
    }

    /// Whether this name, or a folder above it, was taken away.
    pub fn took(&self, path: &Path) -> bool {
        path.ancestors().any(|name| self.taken.contains_key(name))
    }

    /// Whether this name, or a folder above it, was given or taken away.
    fn touch(&self, path: &Path) -> bool {
        self.took(path) || path.ancestors().any(|name| self.given.contains_key(name))
    }

    /// The last one before a position that gave a name to this path.
    fn last_given(&self, path: &Path, before: usize) -> Option<usize> {
        let last = |name: &Path| {
            let given = self.given.get(name)?;
            let end = given.partition_point(|at| *at < before);
            given.get(end.checked_sub(1)?).copied()
        };
        path.ancestors().filter_map(last).max()
    }

    /// The first one from a position on that took this path away.
    fn next_taken(&self, path: &Path, from: usize) -> Option<usize> {
        let next = |name: &Path| {
            let taken = self.taken.get(name)?;
            taken.get(taken.partition_point(|at| *at < from)).copied()
        };
        path.ancestors().filter_map(next).min()
    }
}

impl Extend<Rename> for Renames {
    fn extend<T: IntoIterator<Item = Rename>>(&mut self, renames: T) {
        renames.into_iter().for_each(|rename| self.push(rename));
    }
}

impl Rename {
    /// The name before this rename of what has this name after it.
    fn undone(&self, path: &Path) -> Option<PathBuf> {
        let back = replace(path, &self.to, &self.from);
        let other = || replace(path, &self.from, &self.to).filter(|_| self.swaps);
        back.or_else(other)
    }

    /// The name after this rename of what has this name before it.
    fn done(&self, path: &Path) -> Option<PathBuf> {
        let forth = replace(path, &self.from, &self.to);
        let other = || replace(path, &self.to, &self.from).filter(|_| self.swaps);
        forth.or_else(other)
    }
}

fn replace(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(match below.as_os_str().is_empty() {
        true => to.to_owned(),
        false => to.join(below),
    })
}

impl CommandWrites {
    /// All names that the file of this name had, the newest first.
    pub fn earlier_names(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = vec![path.to_owned()];
        let mut before = self.renames.all.len();
        while let Some(name) = names.last()
            && let Some(at) = self.renames.last_given(name, before)
            && let Some(earlier) = self.renames.all[at].undone(name)
        {
            names.push(earlier);
            before = at;
        }
        names
    }

    /// All names that the file of this name got.
    fn later_names(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = vec![path.to_owned()];
        let mut from = 0;
        while let Some(name) = names.last()
            && let Some(at) = self.renames.next_taken(name, from)
            && let Some(later) = self.renames.all[at].done(name)
        {
            names.push(later);
            from = at + 1;
        }
        names
    }

    /// Everything that was renamed, by its old and its new name.
    pub fn renamed(&self) -> impl Iterator<Item = &Path> {
        let names = self.renames.all.iter();
        names.flat_map(|one| [one.from.as_path(), one.to.as_path()])
    }

    /// Who changed this file, which is not the same before and after.
    pub fn writer(&self, path: &Path, around: &impl Around) -> Writer {
        if self.files.contains(path) {
            return self.unless_mixed(path, around);
        }
        if self.renames.touch(path) {
            return self.mover(path, around);
        }
        let name = around.linked(path).and_then(|file| self.linked.get(&file));
        match name {
            Some(_) if self.mixed.contains(path) => Writer::Shared,
            Some(name) => self.unless_mixed(name, around),
            None if self.incomplete => Writer::Shared,
            None => Writer::Others,
        }
    }

    /// The same for a file that was not written under this name, but got or lost it.
    fn mover(&self, path: &Path, around: &impl Around) -> Writer {
        let is_there = around.after(path).is_some();
        let names = match is_there {
            true => self.earlier_names(path),
            false => self.later_names(path),
        };
        if names.iter().any(|name| self.is_mixed(name, around)) {
            return Writer::Shared;
        }
        if names.iter().any(|name| self.files.contains(name)) {
            return Writer::Command;
        }
        let (Some(first), Some(last)) = (names.first(), names.last()) else {
            return Writer::Shared;
        };
        let (old, new) = match is_there {
            true => (last, first),
            false => (first, last),
        };
        let (old, new) = (around.before(old), around.after(new));
        match first != last && old == new {
            true => Writer::Command,
            false => Writer::Shared,
        }
    }

    fn unless_mixed(&self, path: &Path, around: &impl Around) -> Writer {
        match self.is_mixed(path, around) {
            true => Writer::Shared,
            false => Writer::Command,
        }
    }

    /// Whether something else wrote it, too, or may have.
    fn is_mixed(&self, path: &Path, around: &impl Around) -> bool {
        self.mixed.contains(path)
            || match self.found.get(path) {
                None | Some(Found::AsBefore) => false,
                Some(Found::Absent) => around.before(path).is_some(),
                Some(Found::Content { origin, bytes }) => {
                    around.before(origin).as_ref() != Some(bytes)
                }
                Some(Found::Unsure) => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(renames: &[(&str, &str, bool)]) -> CommandWrites {
        let mut writes = CommandWrites::default();
        let each = renames.iter().map(|(from, to, swaps)| Rename {
            from: from.into(),
            to: to.into(),
            swaps: *swaps,
        });
        writes.renames.extend(each);
        writes
    }

    fn shown(names: Vec<PathBuf>) -> Vec<String> {
        let names = names.iter();
        names.map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn a_file_is_followed_from_name_to_name() {
        let writes = renamed(&[
            ("/a", "/b", false),
            ("/x", "/a", false),
            ("/d", "/e", false),
            ("/b", "/e/f", false),
            ("/e", "/y", true),
        ]);
        let earlier = |path: &str| shown(writes.earlier_names(Path::new(path)));
        let later = |path: &str| shown(writes.later_names(Path::new(path)));
        assert_eq!(earlier("/y/f"), ["/y/f", "/e/f", "/b", "/a"]);
        assert_eq!(earlier("/a"), ["/a", "/x"]);
        assert_eq!(earlier("/e"), ["/e", "/y"]);
        assert_eq!(later("/a"), ["/a", "/b", "/e/f", "/y/f"]);
        assert_eq!(later("/d/g"), ["/d/g", "/e/g", "/y/g"]);
        assert_eq!(later("/z"), ["/z"]);
        assert!(writes.renames.took(Path::new("/d/g")));
        assert!(!writes.renames.took(Path::new("/z")));
    }
}
