//! Access to files by name inside an open folder, never through a symbolic link.
//!
//! On Unix every component is opened with `openat` and `O_NOFOLLOW`, so a folder that is replaced
//! by a link between check and use cannot lead us out of the work tree. Elsewhere the path is
//! checked component by component right before use.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::{Folder, free_space, path_of};
#[cfg(unix)]
pub(crate) use unix::{Folder, free_space, path_of};

/// The metadata of a file. If it is unchanged, so is the content (but see
/// [`is_racy`](crate::scan::stat_cache::is_racy)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    pub mode: u32,
    pub links: u32,
    pub modified: Timestamp,
    pub changed: Timestamp,
}

/// Nanoseconds since 1970, by the clock of the file system.
pub(crate) type Timestamp = i128;

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
