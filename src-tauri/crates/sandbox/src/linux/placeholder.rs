//! What placeholders in the place of protected paths that do not exist.
//!
//! A mount needs something to be mounted on. So while a command runs, an empty folder (or, where
//! git would stumble over one, a small file) is there, and is read-only inside. It is removed
//! with the last command that needs it: each holds a shared lock on it, of this process or of
//! another one. One that a crash left behind is recognised by its mode and taken over, and it is
//! noted beside our data, so that it is removed also where no further command needs it.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::leftovers::Note;

use crate::rules::{Access, Placeholder, Rules};

/// Modes that a person has no reason to give, so that a placeholder is recognised by them.
const FOLDER_MODE: u32 = 0o500;
const FILE_MODE: u32 = 0o400;
/// Others may remove one just when it is to be shared.
const ATTEMPTS: usize = 100;

/// The placeholders of one command.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    held: Vec<(PathBuf, Placeholder, File)>,
    /// Removed after them.
    _note: Option<Note>,
}

impl Placeholders {
    pub fn create(rules: &Rules, notes: Option<&Path>) -> io::Result<Self> {
        let needed = rules.iter().filter_map(|(path, rule)| {
            let inside = path.parent().map(|folder| rules.access(folder));
            let placeholder = rule.missing.filter(|_| inside == Some(Access::Write))?;
            Some((path.to_owned(), placeholder))
        });
        let needed: Vec<(PathBuf, Placeholder)> = needed.collect();
        let mut placeholders = Self {
            held: Vec::new(),
            _note: match notes {
                Some(folder) if !needed.is_empty() => Some(Note::write(folder, &needed)?),
                _ => None,
            },
        };
        for (path, placeholder) in needed {
            let file = hold(&path, placeholder)?;
            placeholders.held.push((path, placeholder, file));
        }
        Ok(placeholders)
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        for (path, placeholder, file) in self.held.drain(..).rev() {
            remove_unused(&path, placeholder, &file);
        }
    }
}

/// Unless another command needs it, which then removes it.
fn remove_unused(path: &Path, placeholder: Placeholder, file: &File) {
    let last = flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
    if last && is_at(file, path) && is_placeholder(path, placeholder) {
        // Left behind it does no harm, and the next command takes it over.
        let _ = match placeholder {
            Placeholder::Folder => fs::remove_dir(path),
            Placeholder::File(_) => fs::remove_file(path),
        };
    }
}

/// Removes one that no command holds any more.
pub(super) fn remove_left_behind(path: &Path, placeholder: Placeholder) {
    if is_placeholder(path, placeholder)
        && let Ok(file) = open(path)
    {
        remove_unused(path, placeholder, &file);
    }
}

/// Whether a path is a placeholder, of this or another command.
pub(crate) fn is_placeholder(path: &Path, placeholder: Placeholder) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    let mode = found.permissions().mode() & 0o7777;
    match placeholder {
        Placeholder::Folder => {
            let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            found.is_dir() && mode == FOLDER_MODE && empty()
        }
        Placeholder::File(content) => {
            found.is_file()
                && mode == FILE_MODE
                && found.len() == content.len() as u64
                && fs::read_to_string(path).is_ok_and(|text| text == content)
        }
    }
}

fn hold(path: &Path, placeholder: Placeholder) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match make(path, placeholder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let Ok(file) = open(path) else {
            continue;
        };
        let locked = flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
        if locked && is_at(&file, path) {
            return Ok(file);
        }
    }
    let sentence = format!("{} keeps changing", path.display());
    Err(io::Error::other(sentence))
}

/// Never follows a link, nor waits for the other end of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

fn make(path: &Path, placeholder: Placeholder) -> io::Result<()> {
    match placeholder {
        Placeholder::Folder => DirBuilder::new().mode(FOLDER_MODE).create(path),
        Placeholder::File(content) => OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)?
            .write_all(content.as_bytes()),
    }
}

/// Whether the open file is still the one that its path leads to.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: &Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(found)) => identity(&open) == identity(&found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confinement::Confinement;

    fn rules(project: &Path) -> Rules {
        let mut confinement = Confinement::new(project);
        confinement.protected = vec![project.join(".lathe")];
        Rules::resolve(&confinement).unwrap()
    }

    #[test]
    fn a_placeholder_is_removed_by_the_last_command_that_needs_it() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        let first = Placeholders::create(&rules(project.path()), None).unwrap();
        let second = Placeholders::create(&rules(project.path()), None).unwrap();
        assert!(is_placeholder(&path, Placeholder::Folder));
        drop(first);
        assert!(path.exists(), "the second command needs it");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn a_placeholder_that_a_crash_left_behind_is_removed_by_the_next_command() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        make(&path, Placeholder::Folder).unwrap();
        drop(Placeholders::create(&rules(project.path()), None).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn what_a_person_put_there_meanwhile_is_not_removed() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        let placeholders = Placeholders::create(&rules(project.path()), None).unwrap();
        fs::remove_dir(&path).unwrap();
        fs::create_dir(&path).unwrap();
        drop(placeholders);
        assert!(path.exists());
    }
}
