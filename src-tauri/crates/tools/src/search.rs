//! Shared by list, glob and grep: the walk over a project's files.
//!
//! Runs in process with ripgrep's crates. Ignore rules apply, hidden files are included, `.git` is
//! not, links are not followed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
#[cfg(unix)]
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(unix)]
use std::time::Duration;
use std::time::SystemTime;

use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkBuilder, WalkParallel, WalkState};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::context::{PermissionAsk, ToolContext};
use crate::files;
use crate::paths::{Place, Target};
use crate::text;
use crate::tool::ToolFailure;

/// As many threads as ripgrep would use.
const MAX_THREADS: usize = 12;

/// The directory (or, where it makes sense, the file) a search starts at.
pub(crate) fn start(path: Option<&str>, cx: &ToolContext) -> Result<Place, ToolFailure> {
    cx.locate(path.unwrap_or("."))
}

/// Asks for everything that a search needs. That a start does not exist is said only afterwards,
/// because it may be outside the project.
pub(crate) async fn ask(
    ask: PermissionAsk,
    start: &Place,
    cx: &ToolContext,
) -> Result<(), ToolFailure> {
    let ask = ask
        .and(cx.outside(start, Target::Directory))
        .with("path", start.shown());
    cx.host.ask(ask).await?;
    if files::is_directory(start) || files::open(start).is_ok() {
        return Ok(());
    }
    let shown = text::quoted(start.shown());
    Err(ToolFailure::failed(format!(
        "There is no directory {shown}."
    )))
}

pub(crate) fn walk(start: &Path) -> WalkParallel {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
    builder(start).threads(threads).build_parallel()
}

fn builder(start: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    builder
        .hidden(false)
        // A .gitignore is respected in folders without git, too.
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    builder
}

/// Calls `visit` for each file, on several threads, until all are visited or the call is
/// aborted. Links count as files: they are listed, not followed.
pub(crate) fn for_each_file<'s, V, F>(start: &Path, cancel: &CancellationToken, mut visitor: F)
where
    V: FnMut(&DirEntry) + Send + 's,
    F: FnMut() -> V,
{
    walk(start).run(|| {
        let mut visit = visitor();
        let cancel = cancel.clone();
        let mut seen = 0_u32;
        Box::new(move |entry| {
            // The check takes a lock that all threads share, so it is not done for every file.
            seen = seen.wrapping_add(1);
            if seen % 16 == 1 && cancel.is_cancelled() {
                return WalkState::Quit;
            }
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| !kind.is_dir())
            {
                visit(&entry);
            }
            WalkState::Continue
        })
    });
}

/// A pattern as gitignore and ripgrep read it: without a slash it matches names at any depth,
/// with one it matches paths from where the search starts.
pub(crate) struct PathPattern {
    /// A set with one pattern: unlike a single matcher, a set matches extensions and literal
    /// names without a regular expression.
    matcher: GlobSet,
    by_name: bool,
    everything: bool,
}

impl PathPattern {
    pub fn new(pattern: &str) -> Result<Self, ToolFailure> {
        let trimmed = pattern.strip_prefix("./").unwrap_or(pattern);
        let matcher = matcher(trimmed).map_err(|error| {
            ToolFailure::failed(format!(
                "The pattern {} is wrong: {error}.",
                text::quoted(pattern)
            ))
        })?;
        Ok(Self {
            matcher,
            by_name: !trimmed.contains('/'),
            everything: matches!(trimmed, "*" | "**" | "**/*" | "**/**"),
        })
    }

    /// `path` must come from a walk that started at `start`.
    pub fn matches(&self, path: &Path, start: &Path) -> bool {
        if self.everything {
            return true;
        }
        if self.by_name {
            return path
                .file_name()
                .is_some_and(|name| self.matcher.is_match(name));
        }
        self.matcher.is_match(below(path, start))
    }
}

fn matcher(pattern: &str) -> Result<GlobSet, globset::Error> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build()?;
    GlobSet::builder().add(glob).build()
}

/// The part of a walked path after its start. Compares bytes, because the walk joins names to its
/// start and comparing path components would cost more than the match.
#[cfg(unix)]
fn below<'a>(path: &'a Path, start: &Path) -> &'a Path {
    use std::os::unix::ffi::OsStrExt;
    let (whole, start) = (path.as_os_str().as_bytes(), start.as_os_str().as_bytes());
    match whole.strip_prefix(start) {
        Some([b'/', rest @ ..]) => Path::new(OsStr::from_bytes(rest)),
        Some(rest) if start.ends_with(b"/") => Path::new(OsStr::from_bytes(rest)),
        _ => path,
    }
}

#[cfg(not(unix))]
fn below<'a>(path: &'a Path, start: &Path) -> &'a Path {
    path.strip_prefix(start).unwrap_or(path)
}

/// Collects the newest `room` files, in any order and from several threads.
pub(crate) struct Newest<T> {
    heap: Mutex<BinaryHeap<Reverse<Dated<T>>>>,
    room: usize,
    /// Older files are rejected: nanoseconds since 1970, 0 while there is room. Rejects most
    /// files without taking the lock.
    floor: AtomicU64,
}

struct Dated<T> {
    modified: SystemTime,
    path: PathBuf,
    item: T,
}

impl<T> Dated<T> {
    /// Newer is greater; with equal times the first by name, so that results are deterministic.
    fn key(&self) -> (SystemTime, Reverse<&Path>) {
        (self.modified, Reverse(self.path.as_path()))
    }
}

impl<T> PartialEq for Dated<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<T> Eq for Dated<T> {}
impl<T> PartialOrd for Dated<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Dated<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Newest<T> {
    pub fn new(room: usize) -> Self {
        Self {
            heap: Mutex::new(BinaryHeap::with_capacity(room + 1)),
            room,
            floor: AtomicU64::new(0),
        }
    }

    /// Whether a file of this age could still be accepted.
    pub fn wants(&self, modified: SystemTime) -> bool {
        nanoseconds(modified) >= self.floor.load(Ordering::Relaxed)
    }

    pub fn offer(&self, modified: SystemTime, path: &Path, item: T) {
        if !self.wants(modified) {
            return;
        }
        let dated = Dated {
            modified,
            path: path.to_owned(),
            item,
        };
        let mut heap = self.heap.lock();
        heap.push(Reverse(dated));
        if heap.len() > self.room {
            heap.pop();
        }
        if heap.len() == self.room
            && let Some(Reverse(last)) = heap.peek()
        {
            let floor = nanoseconds(last.modified);
            self.floor.store(floor, Ordering::Relaxed);
        }
    }

    /// The newest first.
    pub fn into_sorted(self) -> Vec<(PathBuf, T)> {
        let mut all: Vec<_> = self
            .heap
            .into_inner()
            .into_iter()
            .map(|Reverse(d)| d)
            .collect();
        all.sort_by(|a, b| b.cmp(a));
        all.into_iter()
            .map(|dated| (dated.path, dated.item))
            .collect()
    }
}

/// Times before 1970 count as 1970.
fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// Reads modification times. One per thread: successive files share a directory, and a lookup
/// relative to the open directory is cheaper.
#[derive(Default)]
pub(crate) struct Ages {
    #[cfg(unix)]
    directory: Option<(PathBuf, std::fs::File)>,
}

impl Ages {
    #[cfg(unix)]
    #[allow(clippy::useless_conversion)] // The types differ from system to system.
    pub fn modified(&mut self, path: &Path) -> Option<SystemTime> {
        use rustix::fs::{AtFlags, statat};
        use std::os::unix::ffi::OsStrExt;
        // Compared as bytes: comparing path components would cost as much as the lookup.
        let whole = path.as_os_str().as_bytes();
        let at = whole.iter().rposition(|byte| *byte == b'/')?;
        let (parent, name) = (&whole[..at], OsStr::from_bytes(&whole[at + 1..]));
        if self
            .directory
            .as_ref()
            .is_none_or(|(known, _)| known.as_os_str().as_bytes() != parent)
        {
            let parent = path.parent()?;
            self.directory = Some((parent.to_owned(), files::open_directory(parent).ok()?));
        }
        let (_, directory) = self.directory.as_ref()?;
        let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let seconds = Duration::from_secs(u64::try_from(stat.st_mtime).ok()?);
        let rest = Duration::from_nanos(u64::try_from(stat.st_mtime_nsec).ok()?);
        Some(SystemTime::UNIX_EPOCH + seconds + rest)
    }

    #[cfg(not(unix))]
    pub fn modified(&mut self, path: &Path) -> Option<SystemTime> {
        std::fs::symlink_metadata(path).ok()?.modified().ok()
    }
}

/// Absolute, so that the model can pass it to the read tool unchanged.
pub(crate) fn shown(path: &Path) -> String {
    text::quoted(&path.to_string_lossy())
}

/// Runs a walk outside of the async threads. An abort waits until the walk has noticed it, which
/// takes little time.
pub(crate) async fn blocking<T: Send + 'static>(
    cx: &ToolContext,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    if cx.cancel.is_cancelled() {
        return Err(ToolFailure::aborted());
    }
    done.map_err(|_| ToolFailure::failed("The search broke off."))
}
