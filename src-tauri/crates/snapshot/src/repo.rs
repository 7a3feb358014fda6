//! The side repository of one work tree: the public handle of this crate.
//!
//! Calls block; on an async runtime, make them on a blocking thread.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    error::{Context, Refused, Result, SnapshotError},
    extras::Extras,
    moved,
    objects::{Batch, Budget, Objects, repack},
    path::RelPath,
    refs::{self, Refs, SnapshotRef},
    restore::{self, Recovered},
    roots::{check_worktree, repository_dir},
    scan::{
        self, LeftOut, Reason, Scan, Scope, SizeLimits, Watch,
        stat_cache::{self, CachedFile, CachedFolder, Entry},
    },
    temporary_files::remove_temporary_files,
    tree::{self, Mode, Node, Oid, TreeId},
};

#[derive(Debug, Clone)]
pub struct Options {
    /// The maximum size on disk of all snapshots of one project, in bytes.
    pub limit: u64,
    /// Bytes that must stay free on the disk.
    pub keep_free: u64,
    /// Larger files are taken only if the user's repository tracks them.
    pub untracked_limit: u64,
    /// After this time every file is examined again, because a watch may miss a change. Zero
    /// means that the work tree is not watched.
    pub rescan_after: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit: 2 << 30,
            keep_free: 5 << 30,
            untracked_limit: 2 << 20,
            rescan_after: Duration::from_secs(60),
        }
    }
}

const ROUNDS: &str = "rounds";

/// Larger files are not taken even if tracked, because a file is read into memory.
const TRACKED_LIMIT: u64 = 512 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub hash: TreeId,
    /// Whether nothing was skipped.
    pub complete: bool,
    pub skipped: Vec<Skipped>,
    /// Keeps the snapshot until it is released.
    pub reference: SnapshotRef,
    /// How many files had to be read; the others were in the stat cache.
    pub files_read: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Empty for the work tree itself.
    pub path: String,
    pub reason: Reason,
}

pub struct SideRepo {
    worktree: PathBuf,
    dir: PathBuf,
    options: Options,
    objects: Objects,
    refs: Refs,
    state: Mutex<State>,
    recovered: Vec<Recovered>,
}

#[derive(Default)]
struct State {
    cache: Option<CachedFolder>,
    watch: Option<Watch>,
    /// This tree cannot be watched, so do not try again at each snapshot.
    unwatchable: bool,
    scanned_all: Option<Instant>,
    repositories: Vec<(PathBuf, u64)>,
    /// Changes with each garbage collection, which may remove objects that `cache` refers to.
    generation: Option<Vec<u8>>,
}

impl SideRepo {
    pub fn open(data_dir: &Path, worktree: &Path) -> Result<Self, Refused> {
        Self::open_with(data_dir, worktree, Options::default())
    }

    pub fn open_with(data_dir: &Path, worktree: &Path, options: Options) -> Result<Self, Refused> {
        let unusable = |source| Refused::NotADirectory {
            path: worktree.to_owned(),
            source,
        };
        let worktree = fs::canonicalize(worktree).map_err(unusable)?;
        if !worktree.is_dir() {
            return Err(unusable(io::ErrorKind::NotADirectory.into()));
        }
        fs::create_dir_all(data_dir).map_err(Refused::NoRepository)?;
        let data_dir = fs::canonicalize(data_dir).map_err(Refused::NoRepository)?;
        check_worktree(&worktree, &data_dir)?;
        let dir = repository_dir(&data_dir, &worktree);
        moved::take_over(&data_dir, &worktree, &dir).map_err(Refused::NoRepository)?;
        let mut opened = Self::open_at(&dir, &worktree)?;
        moved::note_down(&dir, &worktree).map_err(Refused::NoRepository)?;
        opened.options = options;
        Ok(opened)
    }

    /// Opens or creates the repository in a folder. The work tree was checked by the caller.
    pub(crate) fn open_at(dir: &Path, worktree: &Path) -> Result<Self, Refused> {
        let (objects, refs) = create_layout(dir).map_err(Refused::NoRepository)?;
        Ok(Self {
            worktree: worktree.to_owned(),
            dir: dir.to_owned(),
            options: Options::default(),
            objects,
            refs,
            state: Mutex::default(),
            recovered: restore::roll_back_without_owner(&dir.join(ROUNDS), worktree),
        })
    }

    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// What was rolled back when the repository was opened: restores by [`SideRepo::apply`] that
    /// were killed.
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Takes a snapshot for the owner `label`. Taking the same content twice for one label gives
    /// the same snapshot.
    pub fn take(&self, label: &str) -> Result<Snapshot> {
        let budget = Budget {
            limit: self.options.limit,
            keep_free: self.options.keep_free,
            used: 0,
        };
        self.take_within(label, budget)
    }

    pub(crate) fn take_within(&self, label: &str, budget: Budget) -> Result<Snapshot> {
        Refs::check_label(label)?;
        let _lock = self.lock()?;
        let mut state = self.state();
        match self.take_locked(label, budget, &mut state) {
            Err(error) => {
                // An interrupted scan may have cached objects that were never written.
                *state = State::default();
                Err(error)
            }
            taken => taken,
        }
    }

    fn take_locked(&self, label: &str, budget: Budget, state: &mut State) -> Result<Snapshot> {
        self.reset_if_collected(state)?;
        let used = self.disk_use()?;
        let budget = Budget { used, ..budget };
        budget.check(self.objects.dir(), 0, &mut None)?;

        let batch = Batch::new(&self.objects, budget);
        let (root, changed, files_read) = self.scan(&batch, state)?;
        let tree = root
            .tree
            .ok_or_else(|| crate::error::damaged("a scan without a tree"))?;
        let left_out = LeftOut::collect(&root);
        let extras = Extras::collect(&self.worktree, &root);
        let wrapper = refs::write_wrapper(&batch, tree, &left_out, Some(&extras))?;
        batch.finish()?;
        if changed {
            self.write_cache(&root)?;
        }
        state.cache = Some(root);
        let reference = self.refs.add(label, TreeId(tree), wrapper)?;
        let skipped = skipped(&left_out);
        Ok(Snapshot {
            hash: TreeId(tree),
            complete: skipped.is_empty(),
            skipped,
            reference,
            files_read,
        })
    }

    fn scan(&self, batch: &Batch<'_>, state: &mut State) -> Result<(CachedFolder, bool, usize)> {
        let scope = self.scope(state);
        let before = match state.cache.take() {
            Some(cache) => cache,
            None => self.load_cache(),
        };
        if matches!(&scope, Scope::Touched(touched) if touched.is_empty()) {
            return Ok((before, false, 0));
        }
        let everything = matches!(scope, Scope::Everything);
        // Not at the first scan: a short-lived command scans only once, and removing the watches
        // takes time.
        let again = state.scanned_all.is_some() && !self.options.rescan_after.is_zero();
        if everything && again && state.watch.is_none() && !state.unwatchable {
            state.watch = Watch::start(&self.worktree);
        }
        let limits = SizeLimits {
            untracked: self.options.untracked_limit,
            tracked: TRACKED_LIMIT,
        };
        let started = Instant::now();
        let scan = Scan::new(&self.worktree, batch, state.watch.as_ref(), limits, scope);
        let scanned = scan.run(before)?;
        state.repositories = scan::repositories(&self.worktree, &scanned.root);
        if everything {
            state.scanned_all = Some(started);
            state.unwatchable = again && state.watch.as_ref().is_none_or(Watch::is_broken);
        }
        Ok((scanned.root, scanned.changed, scanned.files_read))
    }

    /// Only the touched folders, if the watch is reliable.
    fn scope(&self, state: &mut State) -> Scope {
        // The queue is always emptied: this scan covers the events in it.
        let touched = state.watch.as_ref().and_then(Watch::touched);
        if touched.is_none() {
            state.watch = None;
        }
        let fresh = state
            .scanned_all
            .is_some_and(|at| at.elapsed() < self.options.rescan_after);
        match (&state.cache, touched) {
            (Some(cache), Some(mut touched))
                if fresh && scan::repositories(&self.worktree, cache) == state.repositories =>
            {
                scan::add_folders_with_hard_links(cache, &mut touched);
                Scope::Touched(touched)
            }
            _ => Scope::Everything,
        }
    }

    fn load_cache(&self) -> CachedFolder {
        let cache = fs::read(self.cache_path())
            .ok()
            .and_then(|bytes| stat_cache::file::decode(&bytes));
        // As long as its tree exists, so do all objects that it refers to; otherwise it must not
        // be used.
        cache
            .filter(|cache| cache.tree.is_some_and(|tree| self.objects.has(tree)))
            .unwrap_or_default()
    }

    fn write_cache(&self, cache: &CachedFolder) -> Result<()> {
        lathe_files::write_unsynced(&self.cache_path(), &stat_cache::file::encode(cache))
            .context("writing the stat cache")
    }

    /// Releases snapshots. Their content stays until the next garbage collection.
    pub fn release(&self, references: &[SnapshotRef]) -> Result<()> {
        let _lock = self.lock()?;
        // Written first, so that after a crash the garbage collection is still known to be due.
        lathe_files::write_unsynced(&self.released_file(), b"").context("marking a release")?;
        self.refs.remove(references)
    }

    /// Whether snapshots were released since the last garbage collection.
    pub fn has_garbage(&self) -> bool {
        self.released_file().exists()
    }

    /// Adds refs to existing snapshots for another label, as a fork of a session needs. A
    /// snapshot that was released in the meantime is skipped.
    pub fn add_label(&self, label: &str, references: &[SnapshotRef]) -> Result<()> {
        Refs::check_label(label)?;
        let _lock = self.lock()?;
        let existing: BTreeSet<SnapshotRef> = self.refs.all()?.into_iter().collect();
        for one in references.iter().filter(|one| existing.contains(one)) {
            self.refs.add(label, one.tree(), one.wrapper())?;
        }
        Ok(())
    }

    /// The refs of one label, oldest first.
    pub fn references(&self, label: &str) -> Result<Vec<SnapshotRef>> {
        Refs::check_label(label)?;
        let mut all = self.refs.all()?;
        all.retain(|reference| reference.label() == label);
        Ok(all)
    }

    /// The refs of all labels, oldest first.
    pub fn all_references(&self) -> Result<Vec<SnapshotRef>> {
        self.refs.all()
    }

    /// Joins packs and removes unreachable objects. Returns the bytes on disk afterwards.
    pub fn collect_garbage(&self) -> Result<u64> {
        let _lock = self.lock()?;
        let mut state = self.state();
        self.reset_if_collected(&mut state)?;
        let mut roots: Vec<Oid> = self.refs.all()?.iter().map(SnapshotRef::wrapper).collect();
        let loaded;
        let cache = match &state.cache {
            Some(cache) => cache,
            None => {
                loaded = self.load_cache();
                &loaded
            }
        };
        // The objects that the stat cache refers to must stay, in memory and on disk.
        roots.extend(cache.tree);
        self.write_cache(cache)?;
        // Written first: if we are interrupted after this, other processes drop a cache that was
        // still valid, which is harmless.
        let generation = format!("{:?}", std::time::SystemTime::now()).into_bytes();
        lathe_files::write_unsynced(&self.dir.join("generation"), &generation)
            .context("marking a clean-up")?;
        state.generation = Some(generation);
        self.refs.pack()?;
        repack::run(&self.objects, &roots)?;
        match fs::remove_file(self.released_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).context("marking a clean-up");
            }
            _ => {}
        }
        self.disk_use()
    }

    /// Whether there are enough packs to join them. False right after a garbage collection.
    pub fn needs_repack(&self) -> bool {
        repack::is_due(&self.objects)
    }

    pub fn disk_use(&self) -> Result<u64> {
        self.objects
            .disk_use()
            .context("measuring the side repository")
    }

    /// The content of one file of a snapshot; for a link, its target.
    pub fn blob(&self, tree: TreeId, path: &RelPath) -> Result<Vec<u8>> {
        match tree::lookup(&self.objects, tree.0, path)? {
            Some(Node::Leaf(leaf)) if leaf.mode != Mode::Folder => self.objects.blob(leaf.id),
            _ => Err(SnapshotError::NoSuchFile(path.to_string())),
        }
    }

    /// What the last scan found at a path; `None` also while a scan is running.
    pub(crate) fn scanned(&self, path: &RelPath) -> Option<CachedFile> {
        let state = self.state.try_lock().ok()?;
        let mut above = path.components();
        let name = above.next_back()?;
        let mut folder = state.cache.as_ref()?;
        for component in above {
            match folder.entry(component)? {
                Entry::Folder(inner) => folder = inner,
                Entry::File(_) => return None,
            }
        }
        match folder.entry(name)? {
            Entry::File(file) => Some(*file),
            Entry::Folder(_) => None,
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(crate) fn refs(&self) -> &Refs {
        &self.refs
    }

    pub(crate) fn left_out(&self, tree: TreeId) -> Result<Option<LeftOut>> {
        self.refs.left_out(&self.objects, tree)
    }

    /// Resets the state if another process has collected garbage. Call it with the lock held,
    /// before the state is used.
    fn reset_if_collected(&self, state: &mut State) -> Result<()> {
        let generation = Some(fs::read(self.dir.join("generation")).unwrap_or_default());
        if generation != state.generation {
            *state = State {
                generation,
                ..State::default()
            };
            self.objects.refresh().context("looking for packs")?;
            // A writer holds the lock, as we do now: so temporary files are from a killed one.
            for dir in [self.objects.dir(), &self.dir] {
                remove_temporary_files(dir).context("removing what was left half written")?;
            }
        }
        Ok(())
    }

    /// The records of restores on their way.
    pub(crate) fn rounds(&self) -> PathBuf {
        self.dir.join(ROUNDS)
    }

    fn cache_path(&self) -> PathBuf {
        self.dir.join("known")
    }

    fn released_file(&self) -> PathBuf {
        self.dir.join("released")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows one writer at a time, across processes; released when dropped.
    pub(crate) fn lock(&self) -> Result<File> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(self.dir.join("lock"))
            .context("locking the side repository")?;
        file.lock().context("locking the side repository")?;
        Ok(file)
    }
}

/// Creates what git needs to recognise a repository, so that it can be inspected with git.
fn create_layout(dir: &Path) -> io::Result<(Objects, Refs)> {
    lathe_files::create_private_folder(dir)?;
    let objects = Objects::open(&dir.join("objects"))?;
    let refs = Refs::open(dir)?;
    let files: [(&str, &[u8]); 2] = [
        ("HEAD", b"ref: refs/heads/none\n"),
        (
            "config",
            b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        ),
    ];
    for (name, content) in files {
        let path = dir.join(name);
        if !path.exists() {
            lathe_files::write_unsynced(&path, content)?;
        }
    }
    Ok((objects, refs))
}

fn skipped(left_out: &LeftOut) -> Vec<Skipped> {
    left_out
        .iter()
        .filter(|(_, reason)| !reason.expected())
        .map(|(path, reason)| Skipped {
            path: String::from_utf8_lossy(path).into_owned(),
            reason,
        })
        .collect()
}

#[cfg(test)]
impl SideRepo {
    /// A snapshot as earlier versions took it, of files only.
    pub(crate) fn take_as_before(&self, files: &[(&str, &[u8])], left_out: &[u8]) -> TreeId {
        use gix_object::{Kind, tree::EntryKind};
        let batch = Batch::new(&self.objects, Budget::NO_LIMIT);
        let mut rows: Vec<(&[u8], EntryKind, Oid)> = files
            .iter()
            .map(|(name, bytes)| {
                let id = batch.put(Kind::Blob, bytes).unwrap();
                (name.as_bytes(), EntryKind::Blob, id)
            })
            .collect();
        let tree = batch.put(Kind::Tree, &tree::encode(&mut rows)).unwrap();
        let left_out = LeftOut::decode(left_out).unwrap();
        let wrapper = refs::write_wrapper(&batch, tree, &left_out, None).unwrap();
        batch.finish().unwrap();
        self.refs.add("s", TreeId(tree), wrapper).unwrap().tree()
    }
}
