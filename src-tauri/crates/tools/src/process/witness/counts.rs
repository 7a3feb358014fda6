//! Counts how often files in watched folders are written, by whichever process.
//!
//! A folder is watched from the moment at which the command first writes in it. What is counted
//! beyond the command's own calls was done by something else.
//!
//! The system drops an event that is the same as the last one in its queue. So that two saves of
//! a file stay two, what changes its content is an event, too, and stands between them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

/// How often each file was written or replaced, and how often its name was removed.
#[derive(Default)]
pub struct Tally {
    pub written: BTreeMap<PathBuf, u32>,
    pub removed: BTreeMap<PathBuf, u32>,
}

pub struct Counts {
    queue: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    watched: HashSet<PathBuf>,
    seen: Tally,
    broken: bool,
}

impl Counts {
    pub fn start() -> Option<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        Some(Counts {
            queue,
            folders: HashMap::new(),
            watched: HashSet::new(),
            seen: Tally::default(),
            broken: false,
        })
    }

    pub fn descriptor(&self) -> i32 {
        self.queue.as_raw_fd()
    }

    pub fn watch_folder_of(&mut self, path: &Path) {
        let Some(folder) = path.parent() else { return };
        if self.watched.contains(folder) || is_system(folder) {
            return;
        }
        let what = WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR;
        match inotify::add_watch(&self.queue, folder, what) {
            Ok(id) => {
                self.folders.insert(id, folder.to_owned());
                self.watched.insert(folder.to_owned());
            }
            // The call will fail, or it makes the folder's own parent first.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(_) => self.broken = true,
        }
    }

    pub fn drain(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = inotify::Reader::new(&self.queue, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                self.broken = true;
            }
            if event.events().contains(ReadFlags::IGNORED) {
                if let Some(folder) = self.folders.remove(&event.wd()) {
                    self.watched.remove(&folder);
                }
                continue;
            }
            if event.events().contains(ReadFlags::MODIFY) {
                continue;
            }
            let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name())
            else {
                continue;
            };
            let name = std::ffi::OsStr::from_bytes(name.to_bytes());
            let removes = ReadFlags::DELETE | ReadFlags::MOVED_FROM;
            let counted = match event.events().intersects(removes) {
                true => &mut self.seen.removed,
                false => &mut self.seen.written,
            };
            *counted.entry(folder.join(name)).or_default() += 1;
        }
    }

    /// The files that were written or removed more often than the command did it.
    pub fn more_than(&self, own: &Tally) -> Vec<PathBuf> {
        let mut more = beyond(&self.seen.written, &own.written);
        more.extend(beyond(&self.seen.removed, &own.removed));
        more
    }

    /// Events were lost, or a folder could not be watched.
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}

fn beyond(seen: &BTreeMap<PathBuf, u32>, own: &BTreeMap<PathBuf, u32>) -> Vec<PathBuf> {
    let more = seen
        .iter()
        .filter(|(path, count)| *count > own.get(*path).unwrap_or(&0));
    more.map(|(path, _)| path.clone()).collect()
}

/// Folders that are no part of a project and see many events. `/dev/shm` has files as any other.
fn is_system(folder: &Path) -> bool {
    let system = ["/dev", "/proc", "/sys"];
    system.iter().any(|system| folder.starts_with(system)) && !folder.starts_with("/dev/shm")
}
