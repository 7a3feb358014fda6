//! A disk that loses, when the power is cut, everything that was not synced.
//!
//! A file's bytes are safe once the file was synced, its name once its folder was. The worst disk
//! keeps exactly that; a better one happens to have written more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::test_fs::{Change, ChangeHook};

#[derive(Default)]
pub struct PowerCutDisk(Mutex<State>);

#[derive(Default)]
struct State {
    is_cut: bool,
    /// After how many more changes the power is cut, if it is to happen by itself.
    changes_left: Option<u64>,
    /// How many of the next changes fail.
    failures_left: u64,
    /// The bytes that were synced, under the name the file has now.
    synced_bytes: BTreeMap<PathBuf, Vec<u8>>,
    /// The files that would be there after a cut.
    safe: BTreeMap<PathBuf, Vec<u8>>,
    /// The names that lead to the same file now and after a cut.
    safe_names: BTreeSet<PathBuf>,
    safe_folders: BTreeSet<PathBuf>,
    /// How often each path was renamed over.
    replaced: BTreeMap<PathBuf, usize>,
}

/// What happens to unsynced changes when the power is cut.
#[derive(Debug, Clone, Copy)]
pub enum Unsynced {
    Lost,
    /// The disk happens to have written everything except the files this is true of.
    WrittenExcept(fn(&Path) -> bool),
}

impl PowerCutDisk {
    /// The disk after the power came back: everything below `root` is safe.
    pub fn after_a_cut(root: &Path) -> Self {
        let files = files(root).into_iter();
        let safe: BTreeMap<_, _> = files
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        let folders = safe.keys().flat_map(|path| path.ancestors().skip(1));
        PowerCutDisk(Mutex::new(State {
            safe_folders: folders.map(Path::to_owned).collect(),
            synced_bytes: safe.clone(),
            safe_names: safe.keys().cloned().collect(),
            safe,
            ..State::default()
        }))
    }

    pub fn cut_after(&self, changes: u64) {
        self.0.lock().unwrap().changes_left = Some(changes);
    }

    pub fn fail_next(&self, changes: u64) {
        self.0.lock().unwrap().failures_left = changes;
    }

    /// How often a file for which this is true was renamed over.
    pub fn replaced(&self, is_wanted: fn(&Path) -> bool) -> usize {
        let state = self.0.lock().unwrap();
        let wanted = state.replaced.iter().filter(|(path, _)| is_wanted(path));
        wanted.map(|(_, times)| times).sum()
    }

    /// Every later change fails, and below `root` remains what survives the cut.
    pub fn cut(&self, root: &Path, unsynced: Unsynced) {
        let mut state = self.0.lock().unwrap();
        state.is_cut = true;
        for path in files(root) {
            // Lock files and temp file logs are not written through this file system.
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_tracked = path.starts_with(root.join("storage")) || name.starts_with("journal-");
            let is_lost = match unsynced {
                Unsynced::Lost => true,
                Unsynced::WrittenExcept(is_lost) => is_lost(&path),
            };
            if is_tracked && is_lost {
                fs::remove_file(&path).unwrap();
            }
        }
        for (path, bytes) in &state.safe {
            let is_there = |folder: &Path| {
                !folder.starts_with(root.join("storage")) || state.safe_folders.contains(folder)
            };
            if !path.exists() && path.ancestors().skip(1).all(is_there) {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

impl State {
    /// Counts the change and says whether it can be made.
    fn admit(&mut self) -> io::Result<()> {
        if let Some(left) = &mut self.changes_left {
            *left = left.saturating_sub(1);
        }
        self.is_cut |= self.changes_left == Some(0);
        if self.failures_left > 0 {
            self.failures_left -= 1;
            return Err(io::Error::other("refused"));
        }
        match self.is_cut {
            true => Err(io::Error::other("no power")),
            false => Ok(()),
        }
    }

    fn forget(&mut self, path: &Path) {
        self.synced_bytes.remove(path);
        self.safe_names.remove(path);
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let is_there = to.exists();
        Change::Rename { from, to }.apply()?;
        *self.replaced.entry(to.to_owned()).or_default() += usize::from(is_there);
        self.safe_names.remove(from);
        self.safe_names.remove(to);
        match self.synced_bytes.remove(from) {
            Some(bytes) => self.synced_bytes.insert(to.to_owned(), bytes),
            None => self.synced_bytes.remove(to),
        };
        Ok(())
    }

    fn sync_file(&mut self, path: &Path) -> io::Result<()> {
        let bytes = fs::read(path)?;
        // A safe name shows the new bytes of its file.
        if self.safe_names.contains(path) {
            self.safe.insert(path.to_owned(), bytes.clone());
        }
        self.synced_bytes.insert(path.to_owned(), bytes);
        Ok(())
    }

    fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.safe.retain(|file, _| file.parent() != Some(path));
        for entry in fs::read_dir(path)? {
            let inside = entry?.path();
            if inside.is_dir() {
                self.safe_folders.insert(inside);
            } else {
                let bytes = self.synced_bytes.get(&inside).cloned().unwrap_or_default();
                self.safe_names.insert(inside.clone());
                self.safe.insert(inside, bytes);
            }
        }
        Ok(())
    }
}

impl ChangeHook for PowerCutDisk {
    fn change(&self, change: Change<'_>) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        state.admit()?;
        match change {
            Change::Create { path, .. } | Change::RemoveFile(path) => {
                state.forget(path);
                change.apply()
            }
            Change::Rename { from, to } => state.rename(from, to),
            Change::SyncFile(path) => state.sync_file(path),
            Change::SyncDir(path) => state.sync_dir(path),
            _ => change.apply(),
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
