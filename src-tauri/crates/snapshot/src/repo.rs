//! The side repository of one work tree.
//!
//! The public handle. Calls block; callers on an async runtime move them to a blocking thread.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{
    abandoned::WORKTREE,
    error::{Doing, Refused, Result, SnapshotError},
    objects::{Batch, Budget, Objects, repack},
    path::RelPath,
    refs::{self, Refs, SnapshotRef},
    scan::{
        self, LeftOut, Reason, Scan, Scope, SizeLimits, Watch,
        known::{self, Known},
    },
    tree::{self, Node, Oid, TreeId},
    whole,
};

#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that the snapshots of one project may take on disk.
    pub limit: u64,
    /// Bytes that stay free on the disk.
    pub keep_free: u64,
    /// Larger files are taken only if the user's repository tracks them.
    pub untracked_limit: u64,
    /// How long we believe that we hear of every change, before looking at every file again.
    pub trust: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit: 2 << 30,
            keep_free: 5 << 30,
            untracked_limit: 2 << 20,
            trust: Duration::from_secs(60),
        }
    }
}

/// Files past this are not kept even if tracked: they are read whole.
const TRACKED_LIMIT: u64 = 512 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub hash: TreeId,
    /// Whether everything that belongs in it is in it.
    pub complete: bool,
    pub skipped: Vec<Skipped>,
    /// Keeps the snapshot until it is released.
    pub reference: SnapshotRef,
    /// How many files had to be read; the others were known from before.
    pub files_read: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The work tree itself when empty.
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
}

#[derive(Default)]
struct State {
    known: Option<Known>,
    watch: Option<Watch>,
    /// This tree cannot be watched: do not try each time.
    deaf: bool,
    scanned_all: Option<Instant>,
    repositories: Vec<(PathBuf, u64)>,
    /// Changes when objects were dropped: what we remember may name one of them.
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
        refuse(&worktree, &data_dir)?;
        let dir = place(&data_dir, &worktree);
        let (objects, refs) = lay_out(&dir, &worktree).map_err(Refused::NoRepository)?;
        Ok(Self {
            worktree,
            dir,
            options,
            objects,
            refs,
            state: Mutex::default(),
        })
    }

    /// Whether snapshots of this work tree were ever taken.
    pub fn exists(data_dir: &Path, worktree: &Path) -> bool {
        let canonical = fs::canonicalize(worktree);
        canonical.is_ok_and(|worktree| place(data_dir, &worktree).is_dir())
    }

    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// Takes a snapshot on behalf of `label`. The same content for the same label is the
    /// same snapshot.
    pub fn take(&self, label: &str) -> Result<Snapshot> {
        Refs::check_label(label)?;
        let _lock = self.lock()?;
        let mut state = self.state();
        match self.take_locked(label, &mut state) {
            Err(error) => {
                // Half a scan may remember objects that were never written.
                *state = State::default();
                Err(error)
            }
            taken => taken,
        }
    }

    fn take_locked(&self, label: &str, state: &mut State) -> Result<Snapshot> {
        self.forget_if_collected(state)?;
        let used = self
            .objects
            .disk_use()
            .doing("measuring the side repository")?;
        let budget = Budget {
            limit: self.options.limit,
            used,
            keep_free: self.options.keep_free,
        };
        budget.check(self.objects.dir(), 0, &mut None)?;

        let batch = Batch::new(&self.objects, budget);
        let (root, changed, files_read) = self.scan(&batch, state)?;
        let tree = root
            .tree
            .ok_or_else(|| crate::error::damaged("a scan without a tree"))?;
        let left_out = LeftOut::of(&root);
        let wrapper = refs::write_wrapper(&batch, tree, &left_out)?;
        batch.finish()?;
        if changed {
            self.write_known(&root)?;
        }
        state.known = Some(root);
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

    fn scan(&self, batch: &Batch<'_>, state: &mut State) -> Result<(Known, bool, usize)> {
        let scope = self.scope(state);
        let before = match state.known.take() {
            Some(known) => known,
            None => self.load_known(),
        };
        if matches!(&scope, Scope::Touched(touched) if touched.is_empty()) {
            return Ok((before, false, 0));
        }
        let everything = matches!(scope, Scope::Everything);
        // Whoever looks only once, as a short command does, needs no ear: it costs a while to
        // put away.
        let again = state.scanned_all.is_some() && !self.options.trust.is_zero();
        if everything && again && state.watch.is_none() && !state.deaf {
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
            state.deaf = again && state.watch.as_ref().is_none_or(Watch::is_broken);
        }
        Ok((scanned.root, scanned.changed, scanned.files_read))
    }

    /// Only what was touched, if we can be sure to know that.
    fn scope(&self, state: &mut State) -> Scope {
        // Also when it does not count: what was heard before this scan is old news after it.
        let heard = state.watch.as_ref().and_then(Watch::touched);
        if heard.is_none() {
            state.watch = None;
        }
        let fresh = state
            .scanned_all
            .is_some_and(|at| at.elapsed() < self.options.trust);
        match (&state.known, heard) {
            (Some(known), Some(mut touched))
                if fresh && scan::repositories(&self.worktree, known) == state.repositories =>
            {
                scan::deaf_spots(known, &mut touched);
                Scope::Touched(touched)
            }
            _ => Scope::Everything,
        }
    }

    fn load_known(&self) -> Known {
        let known = fs::read(self.known_file())
            .ok()
            .and_then(|bytes| known::file::decode(&bytes));
        // Its objects are kept as long as its tree is; without that it must not be believed.
        known
            .filter(|known| known.tree.is_some_and(|tree| self.objects.has(tree)))
            .unwrap_or_default()
    }

    fn write_known(&self, known: &Known) -> Result<()> {
        whole::write_whole(&self.known_file(), &known::file::encode(known))
            .doing("writing the stat cache")
    }

    /// Lets the snapshots go. Their content stays until the next clean-up.
    pub fn release(&self, references: &[SnapshotRef]) -> Result<()> {
        let _lock = self.lock()?;
        // Written first, so that a clean-up that never came is still known to be wanted.
        whole::write_whole(&self.released_file(), b"").doing("marking a release")?;
        self.refs.remove(references)
    }

    /// Whether snapshots were released since the last clean-up.
    pub fn has_garbage(&self) -> bool {
        self.released_file().exists()
    }

    /// Holds snapshots of one label for another, too: what a copy of a session needs. One that
    /// was released in between is gone for both.
    pub fn keep_for(&self, label: &str, references: &[SnapshotRef]) -> Result<()> {
        Refs::check_label(label)?;
        let _lock = self.lock()?;
        let held: BTreeSet<SnapshotRef> = self.refs.all()?.into_iter().collect();
        for one in references.iter().filter(|one| held.contains(one)) {
            self.refs.add(label, one.tree(), one.wrapper())?;
        }
        Ok(())
    }

    /// The snapshots a label holds, oldest first.
    pub fn references(&self, label: &str) -> Result<Vec<SnapshotRef>> {
        Refs::check_label(label)?;
        let mut all = self.refs.all()?;
        all.retain(|reference| reference.label() == label);
        Ok(all)
    }

    /// Of every label, oldest first.
    pub fn all_references(&self) -> Result<Vec<SnapshotRef>> {
        self.refs.all()
    }

    /// Joins packs and drops what no snapshot needs. Returns the bytes on disk afterwards.
    pub fn collect_garbage(&self) -> Result<u64> {
        let _lock = self.lock()?;
        let mut state = self.state();
        self.forget_if_collected(&mut state)?;
        let mut roots: Vec<Oid> = self.refs.all()?.iter().map(SnapshotRef::wrapper).collect();
        let loaded;
        let known = match &state.known {
            Some(known) => known,
            None => {
                loaded = self.load_known();
                &loaded
            }
        };
        // The stat cache promises that these objects exist, on disk as in memory.
        roots.extend(known.tree);
        self.write_known(known)?;
        // Written first: whoever is interrupted after this forgets too much, never too little.
        let generation = format!("{:?}", std::time::SystemTime::now()).into_bytes();
        whole::write_whole(&self.dir.join("generation"), &generation)
            .doing("marking a clean-up")?;
        state.generation = Some(generation);
        self.refs.pack()?;
        repack::run(&self.objects, &roots)?;
        match fs::remove_file(self.released_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).doing("marking a clean-up");
            }
            _ => {}
        }
        self.disk_use()
    }

    /// Whether joining packs is worth its while by now. Never so right after it was done.
    pub fn wants_joining(&self) -> bool {
        repack::is_due(&self.objects)
    }

    pub fn disk_use(&self) -> Result<u64> {
        self.objects
            .disk_use()
            .doing("measuring the side repository")
    }

    /// The content of one file of a snapshot; a link's content is its target.
    pub fn blob(&self, tree: TreeId, path: &RelPath) -> Result<Vec<u8>> {
        match tree::lookup(&self.objects, tree.0, path)? {
            Some(Node::Leaf(leaf)) => self.objects.blob(leaf.id),
            _ => Err(SnapshotError::NoSuchFile(path.to_string())),
        }
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(crate) fn left_out(&self, tree: TreeId) -> Result<Option<LeftOut>> {
        self.refs.left_out(&self.objects, tree)
    }

    /// To be called with the lock held, before anything remembered is used.
    fn forget_if_collected(&self, state: &mut State) -> Result<()> {
        let generation = Some(fs::read(self.dir.join("generation")).unwrap_or_default());
        if generation != state.generation {
            *state = State {
                generation,
                ..State::default()
            };
            self.objects.refresh().doing("looking for packs")?;
            // Whoever was killed while writing held the lock that we hold now.
            for dir in [self.objects.dir(), &self.dir] {
                whole::sweep(dir).doing("removing what was left half written")?;
            }
        }
        Ok(())
    }

    fn known_file(&self) -> PathBuf {
        self.dir.join("known")
    }

    fn released_file(&self) -> PathBuf {
        self.dir.join("released")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One writer at a time, also among processes; released when dropped.
    fn lock(&self) -> Result<File> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(self.dir.join("lock"))
            .doing("locking the side repository")?;
        file.lock().doing("locking the side repository")?;
        Ok(file)
    }
}

/// Where the side repository of a work tree lies.
fn place(data_dir: &Path, worktree: &Path) -> PathBuf {
    let name = Sha256::digest(worktree.as_os_str().as_encoded_bytes());
    let name: String = name[..20]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    data_dir.join("snapshot").join(name)
}

/// The one folder beside our data that is a person's to work in: the sample project's.
const SAMPLE: &str = "sample";

fn refuse(worktree: &Path, data_dir: &Path) -> Result<(), Refused> {
    if worktree.parent().is_none() {
        return Err(Refused::RootDirectory);
    }
    let home = std::env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    if home.is_some_and(|home| home == worktree) {
        return Err(Refused::HomeDirectory);
    }
    let inside = worktree.starts_with(data_dir) && !worktree.starts_with(data_dir.join(SAMPLE));
    if data_dir.starts_with(worktree) || inside {
        return Err(Refused::HoldsOurData);
    }
    Ok(())
}

/// Enough for git to recognise a repository, so that people can look into it.
fn lay_out(dir: &Path, worktree: &Path) -> io::Result<(Objects, Refs)> {
    whole::create_private_dirs(dir)?;
    let objects = Objects::open(&dir.join("objects"))?;
    let refs = Refs::open(dir)?;
    let files: [(&str, &[u8]); 3] = [
        ("HEAD", b"ref: refs/heads/none\n"),
        (
            "config",
            b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        ),
        (WORKTREE, worktree.as_os_str().as_encoded_bytes()),
    ];
    for (name, content) in files {
        let path = dir.join(name);
        if !path.exists() {
            whole::write_whole(&path, content)?;
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
