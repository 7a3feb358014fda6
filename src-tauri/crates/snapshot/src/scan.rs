//! Walks the work tree and writes the tree object that describes it.
//!
//! A file is read only if its metadata has changed since the last scan. If it is known which
//! folders were touched, only those are scanned. Paths that cannot or should not be taken are
//! listed as left out, with the reason. A scan never writes to the work tree and never follows
//! a link.

mod left_out;
mod rules;
pub(crate) mod stat_cache;
mod tracked;
mod visit;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(not(target_os = "linux"))]
#[path = "scan/no_watch.rs"]
mod watch;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::{
    error::{Context, Result},
    objects::Batch,
    os::Folder,
    path::within,
};
pub(crate) use left_out::LeftOut;
pub use left_out::Reason;
use rules::UserExcludes;
pub(crate) use rules::git_dir;
use stat_cache::{CachedFolder, Entry};
pub(crate) use watch::Watch;

/// Files over `untracked` bytes are taken only if the user's repository tracks them; over
/// `tracked` bytes, never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeLimits {
    pub untracked: u64,
    pub tracked: u64,
}

/// Which folders a scan has to read.
pub(crate) enum Scope {
    Everything,
    Touched(Touched),
}

/// Folders in which something may have changed.
#[derive(Debug, Default)]
pub(crate) struct Touched(BTreeSet<Vec<u8>>);

impl Touched {
    pub fn add(&mut self, folder: &[u8]) {
        self.0.insert(folder.to_vec());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, folder: &[u8]) -> bool {
        self.0.contains(folder)
    }

    fn at_or_below(&self, folder: &[u8]) -> bool {
        let start = [folder, b"/"].concat();
        self.contains(folder)
            || folder.is_empty()
            || self
                .0
                .range(start..)
                .next()
                .is_some_and(|path| within(path, folder))
    }
}

pub(crate) struct Scan<'a> {
    worktree: &'a Path,
    batch: &'a Batch<'a>,
    watch: Option<&'a Watch>,
    limits: SizeLimits,
    scope: Scope,
    user: UserExcludes,
    files_read: AtomicUsize,
    changed: AtomicBool,
}

/// The result of a scan.
pub(crate) struct Scanned {
    pub root: CachedFolder,
    /// Whether the stat cache has changed.
    pub changed: bool,
    pub files_read: usize,
}

impl<'a> Scan<'a> {
    pub fn new(
        worktree: &'a Path,
        batch: &'a Batch<'a>,
        watch: Option<&'a Watch>,
        limits: SizeLimits,
        scope: Scope,
    ) -> Self {
        Self {
            worktree,
            batch,
            watch,
            limits,
            scope,
            user: UserExcludes::read(),
            files_read: AtomicUsize::new(0),
            changed: AtomicBool::new(false),
        }
    }

    pub fn run(self, before: CachedFolder) -> Result<Scanned> {
        let folder = Folder::open(self.worktree).context("opening the work tree")?;
        let root = visit::root(&self, &folder, before)?;
        Ok(Scanned {
            root,
            changed: self.changed.load(Ordering::Relaxed),
            files_read: self.files_read.load(Ordering::Relaxed),
        })
    }
}

/// The repositories in the work tree, each with a stamp of its index and its excludes. The work
/// tree itself counts as one.
pub(crate) fn repositories(worktree: &Path, root: &CachedFolder) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    collect(worktree.to_owned(), root, true, &mut found);
    return found;

    fn collect(path: PathBuf, folder: &CachedFolder, top: bool, found: &mut Vec<(PathBuf, u64)>) {
        if top || folder.repository {
            found.push((path.clone(), rules::repository_stamp(&path)));
        }
        for (name, entry) in &folder.entries {
            if let Entry::Folder(inner) = entry {
                collect(path.join(crate::os::path_of(name)), inner, false, found);
            }
        }
    }
}

/// Adds the folders with hard-linked files: those can change through another name, without an
/// event in the folder.
pub(crate) fn add_folders_with_hard_links(root: &CachedFolder, touched: &mut Touched) {
    fn collect(path: &[u8], folder: &CachedFolder, touched: &mut Touched) {
        if folder.has_hard_links {
            touched.add(path);
        }
        for (name, entry) in &folder.entries {
            if let Entry::Folder(inner) = entry {
                collect(&crate::path::join(path, name), inner, touched);
            }
        }
    }
    collect(b"", root, touched);
}
