//! Watches the folders of the work tree with inotify, so that only changed ones are scanned.
//!
//! The kernel queues an event before the call that caused it returns, so every change before a
//! snapshot is in the queue when the snapshot starts. Three kinds of changes cause no event, and
//! are handled elsewhere: for writes through a memory map, the caller scans everything again
//! after a while; hard-linked files are always examined; and changes by another machine are
//! excluded, because only local file systems are watched.

use std::{
    collections::HashMap,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};

use super::Touched;
use crate::os::Folder;

pub(crate) struct Watch {
    queue: OwnedFd,
    folders: Mutex<HashMap<i32, Vec<u8>>>,
    /// A folder could not be watched, so the watch is not reliable.
    broken: AtomicBool,
    device: u64,
}

const EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// All programs of the user share one limit of watches, so we leave most to the others.
const MAX_WATCHES: usize = 20_000;

/// ext, btrfs, xfs, tmpfs, f2fs, zfs, bcachefs, overlay: only this kernel changes them.
const LOCAL: [u64; 8] = [
    0xef53,
    0x9123_683e,
    0x5846_5342,
    0x0102_1994,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x794c_7630,
];

impl Watch {
    /// `None` if the file system is not local, or if the system's limits do not allow it.
    pub fn start(worktree: &Path) -> Option<Self> {
        let kind = rustix::fs::statfs(worktree).ok()?.f_type;
        #[allow(clippy::unnecessary_cast)] // The type depends on the architecture.
        if !LOCAL.contains(&(kind as u64 & 0xffff_ffff)) {
            return None;
        }
        let device = Folder::open(worktree).ok()?.stat_self().ok()?.stamp.device;
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self {
            queue,
            folders: Mutex::default(),
            broken: AtomicBool::new(false),
            device,
        })
    }

    pub fn add(&self, folder: &Folder, at: &[u8]) {
        if self.is_broken() {
            return;
        }
        let same_device = folder
            .stat_self()
            .is_ok_and(|stat| stat.stamp.device == self.device);
        let added = same_device
            .then(|| inotify::add_watch(&self.queue, folder.proc_path(), EVENTS).ok())
            .flatten();
        match added {
            Some(id) => {
                let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
                folders.insert(id, at.to_vec());
                if folders.len() > MAX_WATCHES {
                    self.broken.store(true, Ordering::Relaxed);
                }
            }
            None => self.broken.store(true, Ordering::Relaxed),
        }
    }

    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// The folders touched since the last call; `None` if that is not known.
    pub fn touched(&self) -> Option<Touched> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut touched = Touched::default();
        let mut reliable = !self.is_broken();
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = inotify::Reader::new(&self.queue, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            if event
                .events()
                .intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT)
            {
                reliable = false;
            }
            if let Some(path) = folders.get(&event.wd()) {
                touched.add(path);
            }
            if event.events().contains(ReadFlags::IGNORED) {
                folders.remove(&event.wd());
            }
        }
        reliable.then_some(touched)
    }
}
