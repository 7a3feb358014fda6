//! A file system that forgets, when the power is cut, whatever nobody asked it to keep.
//!
//! A file's bytes are safe once it was synced, its name once its folder was. The worst disk
//! keeps just that; a better one happens to have written more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lathe_store::{Disk, Entry, Fs, Stamp};

#[derive(Default)]
pub struct Powered(Mutex<Platter>);

#[derive(Default)]
struct Platter {
    is_cut: bool,
    /// How many changes the power lasts for, if it is to go by itself.
    left: Option<u64>,
    /// How many of the next changes the disk refuses.
    refused: u64,
    /// The bytes that were synced, under the name the file has now.
    bytes: BTreeMap<PathBuf, Vec<u8>>,
    /// What would be there after a cut.
    safe: BTreeMap<PathBuf, Vec<u8>>,
    /// The names that lead to the same file now and after a cut.
    same: BTreeSet<PathBuf>,
    /// How often a file took the place of another one.
    replaced: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
}

/// What of the unsynced the disk happens to have written.
#[derive(Debug, Clone, Copy)]
pub enum Luck {
    None,
    /// Everything but what this says of a path.
    AllBut(fn(&Path) -> bool),
}

impl Powered {
    /// What is there when the power comes back is on the disk.
    pub fn after_a_cut(root: &Path) -> Self {
        let files = files(root).into_iter();
        let safe: BTreeMap<_, _> = files
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        let folders = safe.keys().flat_map(|path| path.ancestors().skip(1));
        Powered(Mutex::new(Platter {
            folders: folders.map(Path::to_owned).collect(),
            bytes: safe.clone(),
            same: safe.keys().cloned().collect(),
            safe,
            ..Platter::default()
        }))
    }

    pub fn lasts_for(&self, changes: u64) {
        self.0.lock().unwrap().left = Some(changes);
    }

    pub fn refuses(&self, changes: u64) {
        self.0.lock().unwrap().refused = changes;
    }

    pub fn replaced(&self, is_wanted: fn(&Path) -> bool) -> usize {
        let platter = self.0.lock().unwrap();
        let wanted = platter.replaced.iter().filter(|(path, _)| is_wanted(path));
        wanted.map(|(_, times)| times).sum()
    }

    /// Nothing happens from now on, and below `root` is what the disk has kept.
    pub fn cut(&self, root: &Path, luck: Luck) {
        let mut platter = self.0.lock().unwrap();
        platter.is_cut = true;
        for path in files(root) {
            // Locks and logs are made without us, by the system's own calls.
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let ours = path.starts_with(root.join("storage")) || name.starts_with("journal-");
            let is_lost = match luck {
                Luck::None => true,
                Luck::AllBut(unlucky) => unlucky(&path),
            };
            if ours && is_lost {
                fs::remove_file(&path).unwrap();
            }
        }
        for (path, bytes) in &platter.safe {
            let is_there = |folder: &Path| {
                !folder.starts_with(root.join("storage")) || platter.folders.contains(folder)
            };
            if !path.exists() && path.ancestors().skip(1).all(is_there) {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Platter) -> io::Result<T>) -> io::Result<T> {
        let mut platter = self.0.lock().unwrap();
        if let Some(left) = &mut platter.left {
            *left = left.saturating_sub(1);
        }
        platter.is_cut |= platter.left == Some(0);
        if platter.refused > 0 {
            platter.refused -= 1;
            return Err(io::Error::other("refused"));
        }
        match platter.is_cut {
            true => Err(io::Error::other("no power")),
            false => change(&mut platter),
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

impl Fs for Powered {
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
        self.change(|platter| {
            platter.bytes.remove(path);
            platter.same.remove(path);
            Disk.create(path, bytes)
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(|_| Disk.append(path, bytes))
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        self.change(|_| Disk.truncate(path))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(|_| Disk.create_dir_all(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|platter| {
            let is_there = to.exists();
            Disk.rename(from, to)?;
            *platter.replaced.entry(to.to_owned()).or_default() += usize::from(is_there);
            platter.same.remove(from);
            platter.same.remove(to);
            match platter.bytes.remove(from) {
                Some(bytes) => platter.bytes.insert(to.to_owned(), bytes),
                None => platter.bytes.remove(to),
            };
            Ok(())
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(|platter| {
            platter.bytes.remove(path);
            platter.same.remove(path);
            Disk.remove_file(path)
        })
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(|_| Disk.remove_dir_all(path))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.change(|platter| {
            let bytes = fs::read(path)?;
            // A name that leads to the same file shows its new bytes.
            if platter.same.contains(path) {
                platter.safe.insert(path.to_owned(), bytes.clone());
            }
            platter.bytes.insert(path.to_owned(), bytes);
            Ok(())
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.change(|platter| {
            platter.safe.retain(|file, _| file.parent() != Some(path));
            for entry in fs::read_dir(path)? {
                let inside = entry?.path();
                if inside.is_dir() {
                    platter.folders.insert(inside);
                } else {
                    let bytes = platter.bytes.get(&inside).cloned().unwrap_or_default();
                    platter.same.insert(inside.clone());
                    platter.safe.insert(inside, bytes);
                }
            }
            Ok(())
        })
    }
}
