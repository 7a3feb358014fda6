//! What stands in the place of protected paths that do not exist.
//!
//! A mount needs something to be mounted on. So while a command runs, an empty folder (or, where
//! git would stumble over one, a small file) is there, and is read-only inside. It is removed
//! with the last command that needs it: each holds a shared lock on it, of this process or of
//! another one. One that a crash left behind is recognised by its mode and taken over.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::rules::{Access, Rules, Stand};

/// Unusual for a folder or file that a person made, and of use to nobody.
const FOLDER_MODE: u32 = 0o500;
const FILE_MODE: u32 = 0o400;
/// Others may remove one just when it is to be shared.
const ATTEMPTS: usize = 100;

/// The stands of one command.
#[derive(Debug, Default)]
pub(crate) struct Stands {
    held: Vec<(PathBuf, Stand, File)>,
}

impl Stands {
    pub fn create(rules: &Rules) -> io::Result<Self> {
        let mut stands = Self::default();
        for (path, rule) in rules.iter() {
            let inside = path.parent().map(|folder| rules.access(folder));
            if let (Some(stand), Some(Access::Write)) = (rule.missing, inside) {
                let file = hold(path, stand)?;
                stands.held.push((path.to_owned(), stand, file));
            }
        }
        Ok(stands)
    }
}

impl Drop for Stands {
    fn drop(&mut self) {
        for (path, stand, file) in self.held.drain(..).rev() {
            // Another command that needs it removes it.
            let last = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if last && is_at(&file, &path) && is_stand(&path, stand) {
                // Left behind it does no harm, and the next command takes it over.
                let _ = match stand {
                    Stand::Folder => fs::remove_dir(&path),
                    Stand::File(_) => fs::remove_file(&path),
                };
            }
        }
    }
}

/// Whether a path is a stand, of this or another command.
pub(crate) fn is_stand(path: &Path, stand: Stand) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else {
        return false;
    };
    let mode = found.permissions().mode() & 0o7777;
    match stand {
        Stand::Folder => {
            let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            found.is_dir() && mode == FOLDER_MODE && empty()
        }
        Stand::File(content) => {
            found.is_file()
                && mode == FILE_MODE
                && found.len() == content.len() as u64
                && fs::read_to_string(path).is_ok_and(|text| text == content)
        }
    }
}

fn hold(path: &Path, stand: Stand) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match make(path, stand) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let Ok(file) = File::open(path) else {
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

fn make(path: &Path, stand: Stand) -> io::Result<()> {
    match stand {
        Stand::Folder => DirBuilder::new().mode(FOLDER_MODE).create(path),
        Stand::File(content) => OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)?
            .write_all(content.as_bytes()),
    }
}

/// Whether the open file is still the one that its path leads to.
fn is_at(file: &File, path: &Path) -> bool {
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
    fn a_stand_goes_with_the_last_command_that_needs_it() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        let first = Stands::create(&rules(project.path())).unwrap();
        let second = Stands::create(&rules(project.path())).unwrap();
        assert!(is_stand(&path, Stand::Folder));
        drop(first);
        assert!(path.exists(), "the second command needs it");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn a_stand_that_a_crash_left_behind_is_removed_by_the_next_command() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        make(&path, Stand::Folder).unwrap();
        drop(Stands::create(&rules(project.path())).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn what_a_person_put_there_meanwhile_is_not_removed() {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".lathe");
        let stands = Stands::create(&rules(project.path())).unwrap();
        fs::remove_dir(&path).unwrap();
        fs::create_dir(&path).unwrap();
        drop(stands);
        assert!(path.exists());
    }
}
