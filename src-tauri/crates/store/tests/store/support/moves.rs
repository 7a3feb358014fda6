//! A file system that notices what is said to be done before it is on the disk.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lathe_store::{Disk, Entry, Fs, Stamp};

#[derive(Default)]
pub struct Moves(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// Folders where something came or went since they were last synced.
    unsynced: BTreeSet<PathBuf>,
    /// What was unsynced when a manifest was signed, or a grave was removed.
    too_early: Vec<(PathBuf, BTreeSet<PathBuf>)>,
}

impl Moves {
    /// Forgets what was before.
    pub fn begin(&self) {
        *self.0.lock().unwrap() = Seen::default();
    }

    pub fn too_early(&self) -> Vec<(PathBuf, BTreeSet<PathBuf>)> {
        self.0.lock().unwrap().too_early.clone()
    }

    fn moved(&self, path: &Path) {
        let folder = path.parent().unwrap().to_owned();
        self.0.lock().unwrap().unsynced.insert(folder);
    }

    fn is_done(&self, path: &Path) {
        let mut seen = self.0.lock().unwrap();
        if !seen.unsynced.is_empty() {
            let unsynced = seen.unsynced.clone();
            seen.too_early.push((path.to_owned(), unsynced));
        }
    }
}

impl Fs for Moves {
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()> {
        Disk.read(path, into)
    }

    fn stat(&self, path: &Path) -> io::Result<Stamp> {
        Disk.stat(path)
    }

    fn entries(&self, path: &Path) -> io::Result<Vec<Entry>> {
        Disk.entries(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
        Disk.create(path, bytes)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        Disk.append(path, bytes)
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        Disk.truncate(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        for folder in path.ancestors().take_while(|folder| !folder.exists()) {
            self.moved(folder);
        }
        Disk.create_dir_all(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let is_manifest = to.ends_with("manifest.json");
        // The first of a grave comes before everything else.
        if is_manifest && to.exists() {
            self.is_done(to);
        }
        Disk.rename(from, to)?;
        if !is_manifest {
            self.moved(from);
        }
        self.moved(to);
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        Disk.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.is_done(path);
        Disk.remove_dir_all(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        Disk.stat(path).map(drop)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        Disk.stat(path)?;
        self.0.lock().unwrap().unsynced.remove(path);
        Ok(())
    }
}
