//! A project that was moved or renamed keeps its snapshots.
//!
//! A side repository is found by the path of its work tree. It also has a mark of its own: the
//! identity of the work tree's folder, which stays when it is renamed, and the first entry in the
//! history of the user's repository, which stays when it is copied to another disk. If there is no
//! side repository for a path, one with the same mark whose work tree is gone is taken over. Where
//! only the history is the same it is copied: the original may be on a disk that is not there now.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use lathe_files::TEMPORARY_PREFIX;
use sha2::{Digest, Sha256};

use crate::{
    abandoned::{WORKTREE, is_abandoned},
    fields::{Reader, Writer},
    scan::git_dir,
    temporary_files::file_names,
};

const MARK: &str = "mark";
const MAGIC: &[u8] = b"lathe-mark-1\n";
/// The first line of a history is far shorter.
const LINE: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    /// Inode and time of creation. The number of a device may change when it is mounted again.
    folder: Option<(u64, u64)>,
    repository: Option<Vec<u8>>,
}

impl Mark {
    fn of(worktree: &Path) -> Self {
        Self {
            folder: folder_identity(worktree),
            repository: repository_identity(worktree),
        }
    }

    fn read(dir: &Path) -> Option<Self> {
        let bytes = fs::read(dir.join(MARK)).ok()?;
        let mut from = Reader::new(&bytes, MAGIC)?;
        let (inode, created) = (from.number()?, from.number()?);
        let repository = from.text()?.into_vec();
        Some(Self {
            folder: (inode != 0).then_some((inode, created)),
            repository: (!repository.is_empty()).then_some(repository),
        })
    }

    fn write(&self, dir: &Path) -> io::Result<()> {
        let (inode, created) = self.folder.unwrap_or_default();
        let mut out = Writer::new(MAGIC);
        out.number(inode);
        out.number(created);
        out.text(self.repository.as_deref().unwrap_or_default());
        lathe_files::write_unsynced(&dir.join(MARK), &out.finish())
    }

    fn is_same_folder(&self, other: &Self) -> bool {
        self.folder.is_some() && self.folder == other.folder
    }

    fn is_same_repository(&self, other: &Self) -> bool {
        self.repository.is_some() && self.repository == other.repository
    }
}

/// The side repository of a project that was at another path before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    Moved(PathBuf),
    /// The original may still exist.
    Copied(PathBuf),
}

pub(crate) fn find(data_dir: &Path, worktree: &Path) -> io::Result<Option<Earlier>> {
    let mark = Mark::of(worktree);
    let all = data_dir.join("snapshot");
    let mut found = None;
    for name in file_names(&all)? {
        let dir = all.join(name);
        let Some(other) = Mark::read(&dir) else {
            continue;
        };
        let moved = mark.is_same_folder(&other);
        if (moved || mark.is_same_repository(&other)) && is_abandoned(&dir) {
            // Of several, the one that was used last.
            let used = fs::metadata(dir.join(LOCK)).and_then(|lock| lock.modified());
            let rank = (moved, used.unwrap_or(UNIX_EPOCH));
            if found.as_ref().is_none_or(|(best, _)| rank > *best) {
                found = Some((rank, dir));
            }
        }
    }
    Ok(found.map(|((moved, _), dir)| match moved {
        true => Earlier::Moved(dir),
        false => Earlier::Copied(dir),
    }))
}

/// Takes such a repository over under the name for the new path.
pub(crate) fn take_over(data_dir: &Path, worktree: &Path, dir: &Path) -> io::Result<()> {
    if dir.exists() {
        return Ok(());
    }
    match find(data_dir, worktree)? {
        Some(Earlier::Moved(earlier)) => fs::rename(earlier, dir),
        Some(Earlier::Copied(earlier)) => copy(&earlier, dir),
        None => Ok(()),
    }
}

const LOCK: &str = "lock";
/// What all snapshots of a repository consist of. An open restore stays with the original, and
/// what the last scan found does not hold for other files.
const COPIED: [&str; 3] = ["objects", "refs", "packed-refs"];

/// It has its name when it is complete.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // Nobody tidies the original up meanwhile.
    let lock = fs::File::options().write(true).open(from.join(LOCK))?;
    lock.lock()?;
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let aside = format!("{TEMPORARY_PREFIX}{name}-{}", std::process::id());
    let aside = to.with_file_name(aside);
    let _ = fs::remove_dir_all(&aside);
    lathe_files::create_private_folder(&aside)?;
    for name in COPIED {
        copy_all(&from.join(name), &aside.join(name))?;
    }
    fs::rename(&aside, to)
}

/// Files of a side repository are never changed, only replaced: both can have the same.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(meta) if meta.is_dir() => {
            fs::create_dir_all(to)?;
            for name in file_names(from)? {
                if !name.starts_with(TEMPORARY_PREFIX) {
                    copy_all(&from.join(&name), &to.join(&name))?;
                }
            }
            Ok(())
        }
        Ok(_) => fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)),
    }
}

/// Notes down where the work tree is now and how to recognise it.
pub(crate) fn note_down(dir: &Path, worktree: &Path) -> io::Result<()> {
    let path = worktree.as_os_str().as_encoded_bytes();
    if fs::read(dir.join(WORKTREE)).ok().as_deref() != Some(path) {
        lathe_files::write_unsynced(&dir.join(WORKTREE), path)?;
    }
    let mark = Mark::of(worktree);
    match Mark::read(dir) {
        Some(known) if known == mark => Ok(()),
        _ => mark.write(dir),
    }
}

#[cfg(unix)]
fn folder_identity(worktree: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(worktree).ok()?;
    let created = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let inode = std::os::unix::fs::MetadataExt::ino(&meta);
    Some((inode, u64::try_from(created.as_nanos()).ok()?))
}

#[cfg(not(unix))]
fn folder_identity(_worktree: &Path) -> Option<(u64, u64)> {
    None
}

/// A hash of the first entry in the history of HEAD: who made the first commit or the clone, and
/// when. It is unique for each clone.
fn repository_identity(worktree: &Path) -> Option<Vec<u8>> {
    let (own, _) = git_dir(worktree)?;
    let history = lathe_files::open(&own.join("logs/HEAD")).ok()?.0;
    let mut line = Vec::new();
    let mut start = io::Read::take(history, LINE as u64);
    io::Read::read_to_end(&mut start, &mut line).ok()?;
    let end = line.iter().position(|b| *b == b'\n')?;
    Some(Sha256::digest(&line[..end]).to_vec())
}
