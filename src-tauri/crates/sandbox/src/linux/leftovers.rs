//! Notes of which placeholders a command has, to remove them after a kill.
//!
//! Each launch has a file in a folder of the caller's and holds a lock on it. A file without a lock
//! belongs to a process that is gone.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::placeholder::{is_at, remove_left_behind};
use crate::git;
use crate::rules::Placeholder;

/// More is in no note of ours.
const LONGEST: u64 = 1024 * 1024;
/// Another process may remove one between making and locking it.
const ATTEMPTS: usize = 100;
/// In a note, each path ends with this.
const END: u8 = 0;

/// The note of one launch; removed when it is dropped.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    _locked: File,
}

impl Note {
    /// Written before there is anything that it names.
    pub fn write(folder: &Path, placeholders: &[(PathBuf, Placeholder)]) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut text = Vec::new();
        for (path, _) in placeholders {
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(END);
        }
        for _ in 0..ATTEMPTS {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            let made = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            let mut file = match made {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if locked && is_at(&file, &path) {
                file.write_all(&text)?;
                return Ok(Self {
                    path,
                    _locked: file,
                });
            }
        }
        Err(io::Error::other("the notes of the sandbox keep changing"))
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes what processes that are gone have left, and their notes.
pub(crate) fn remove_leftovers(notes: &Path) {
    for entry in fs::read_dir(notes).into_iter().flatten().flatten() {
        let path = entry.path();
        let open = OpenOptions::new()
            .read(true)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&path);
        let Ok(file) = open else { continue };
        let is_note = file
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
        let abandoned = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !is_note || !abandoned || !is_at(&file, &path) {
            continue;
        }
        let Ok(text) = fs::read(&path) else { continue };
        // The inner ones come last.
        for name in text.split(|byte| *byte == END).rev() {
            let placeholder = Path::new(OsStr::from_bytes(name));
            if placeholder.is_absolute() {
                git::placeholders(placeholder)
                    .for_each(|kind| remove_left_behind(placeholder, kind));
            }
        }
        let _ = fs::remove_file(&path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::placeholder::Placeholders;
    use super::*;
    use crate::confinement::Confinement;
    use crate::rules::Rules;

    struct Project {
        folder: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let project = Self {
                folder: tempfile::tempdir().unwrap(),
            };
            fs::create_dir_all(project.root().join(".git")).unwrap();
            project
        }

        fn root(&self) -> PathBuf {
            fs::canonicalize(self.folder.path())
                .unwrap()
                .join("project")
        }

        fn notes(&self) -> PathBuf {
            self.folder.path().join("data/placeholders")
        }

        fn put(&self) -> Placeholders {
            let mut confinement = Confinement::new(&self.root());
            let protected = [".git", ".husky", ".vscode/tasks.json"];
            confinement.protected = protected.map(|name| self.root().join(name)).to_vec();
            confinement.git_writable = true;
            let rules = Rules::resolve(&confinement).unwrap();
            Placeholders::create(&rules, Some(&self.notes())).unwrap()
        }

        fn names(&self) -> Vec<String> {
            let names = |folder: PathBuf| fs::read_dir(folder).unwrap().flatten();
            let all = names(self.root()).chain(names(self.root().join(".git")));
            let mut all: Vec<String> = all
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect();
            all.sort();
            all
        }

        fn number_of_notes(&self) -> usize {
            fs::read_dir(self.notes()).unwrap().count()
        }
    }

    /// As a kill leaves it: the locks are gone, and nothing was removed.
    fn kill(placeholders: Placeholders, project: &Project) {
        let note = fs::read_dir(project.notes())
            .unwrap()
            .flatten()
            .next()
            .unwrap();
        let text = fs::read(note.path()).unwrap();
        let copy = project.folder.path().join("copy");
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .args([project.root(), copy.clone()])
            .status();
        assert!(copied.unwrap().success());
        drop(placeholders);
        fs::remove_dir_all(project.root()).unwrap();
        fs::rename(copy, project.root()).unwrap();
        fs::write(note.path(), text).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_removed_with_its_note() {
        let project = Project::new();
        let before = project.names();
        kill(project.put(), &project);
        assert!(
            project.names().len() > before.len() + 5,
            "{:?}",
            project.names()
        );
        remove_leftovers(&project.notes());
        assert_eq!(project.names(), before);
        assert_eq!(project.number_of_notes(), 0);
    }

    #[test]
    fn what_a_running_command_needs_stays() {
        let project = Project::new();
        let before = project.names();
        kill(project.put(), &project);
        let running = project.put();
        let during = project.names();
        remove_leftovers(&project.notes());
        assert_eq!(project.names(), during);
        drop(running);
        assert_eq!(project.names(), before);
        assert_eq!(project.number_of_notes(), 0);
    }

    #[test]
    fn what_a_person_has_filled_or_made_stays() {
        let project = Project::new();
        kill(project.put(), &project);
        let husky = project.root().join(".husky");
        fs::remove_dir(&husky).unwrap();
        fs::create_dir(&husky).unwrap();
        let config = project.root().join(".git/config.worktree");
        fs::remove_file(&config).unwrap();
        fs::write(&config, "[core]").unwrap();
        remove_leftovers(&project.notes());
        assert_eq!(project.names(), [".git", ".husky", "config.worktree"]);
    }

    #[test]
    fn a_folder_that_no_note_names_stays() {
        let project = Project::new();
        let own = project.root().join("empty");
        DirBuilder::new().mode(0o500).create(&own).unwrap();
        remove_leftovers(&project.notes());
        assert!(own.exists());
    }
}
