//! Files by name inside an open directory, never through a link.
//!
//! On Unix every step is an `openat` with `O_NOFOLLOW`, so a directory swapped for a symlink
//! between check and use cannot lead us out of the work tree. Elsewhere the path is checked
//! component by component right before use.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::{Folder, free_space, path_of};
#[cfg(unix)]
pub(crate) use unix::{Folder, free_space, path_of};

/// Everything about a file that changes when its content may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    pub mode: u32,
    pub links: u32,
    pub modified: Moment,
    pub changed: Moment,
}

/// Nanoseconds since 1970; a file system's own clock.
pub(crate) type Moment = i128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// FIFO, socket or device.
    Special,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub kind: Kind,
    pub stamp: Stamp,
}

impl Stat {
    pub fn executable(&self) -> bool {
        self.stamp.mode & 0o100 != 0
    }
}
