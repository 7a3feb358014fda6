//! Walks the work tree and gives the tree object that describes it.
//!
//! Reads a file only when its stamp changed since the last scan, and, when told which
//! directories were touched, looks only there. What it cannot or should not take it lists as
//! left out, with the reason. Never writes to the work tree and never follows a link.

pub(crate) mod known;
mod left_out;
mod rules;
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
    error::{Doing, Result},
    objects::Batch,
    os::Folder,
    path::within,
};
use known::{Entry, Known};
pub(crate) use left_out::LeftOut;
pub use left_out::Reason;
use rules::UserExcludes;
pub(crate) use watch::Watch;

/// Files over `untracked` bytes are taken only if the user's repository tracks them; over
/// `tracked` bytes, never.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeLimits {
    pub untracked: u64,
    pub tracked: u64,
}

/// Where a scan has to look.
pub(crate) enum Scope {
    Everything,
    Touched(Touched),
}

/// Directories in which something happened.
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

/// What a scan found out, beside the tree.
pub(crate) struct Scanned {
    pub root: Known,
    /// Whether the stat cache differs from before.
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

    pub fn run(self, before: Known) -> Result<Scanned> {
        let folder = Folder::open(self.worktree).doing("opening the work tree")?;
        let root = visit::root(&self, &folder, before)?;
        Ok(Scanned {
            root,
            changed: self.changed.load(Ordering::Relaxed),
            files_read: self.files_read.load(Ordering::Relaxed),
        })
    }
}

/// Every repository in the work tree with what its view depends on; the top counts as one.
pub(crate) fn repositories(worktree: &Path, root: &Known) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    collect(worktree.to_owned(), root, true, &mut found);
    return found;

    fn collect(path: PathBuf, known: &Known, top: bool, found: &mut Vec<(PathBuf, u64)>) {
        if top || known.repository {
            found.push((path.clone(), rules::repository_stamp(&path)));
        }
        for (name, entry) in &known.entries {
            if let Entry::Folder(inner) = entry {
                collect(path.join(crate::os::path_of(name)), inner, false, found);
            }
        }
    }
}

/// Directories that must be looked into though nothing was heard of them.
pub(crate) fn deaf_spots(root: &Known, touched: &mut Touched) {
    fn collect(path: &[u8], known: &Known, touched: &mut Touched) {
        if known.shared_files {
            touched.add(path);
        }
        for (name, entry) in &known.entries {
            if let Entry::Folder(inner) = entry {
                collect(&crate::path::join(path, name), inner, touched);
            }
        }
    }
    collect(b"", root, touched);
}
