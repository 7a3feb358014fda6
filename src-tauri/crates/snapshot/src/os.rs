//! Access to files by name inside an open folder, never through a symbolic link.
//!
//! On Unix every component is opened with `openat` and `O_NOFOLLOW`, so a folder that is replaced
//! by a link between check and use cannot lead us out of the work tree. Elsewhere the path is
//! checked component by component right before use.

pub(crate) mod fault;
#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use portable::{Folder, free_space, path_of};
#[cfg(unix)]
pub(crate) use unix::{Folder, free_space, path_of};

use crate::tree::Permissions;

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

impl Stamp {
    pub fn permissions(&self, kind: Kind) -> Permissions {
        match kind {
            Kind::File | Kind::Folder if cfg!(unix) => Permissions::new(self.mode),
            _ => Permissions::UNKNOWN,
        }
    }
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
    /// It has extended attributes of the user; only known of a file that was read.
    pub attributed: bool,
}

/// Names and values of extended attributes.
pub(crate) type Attributes = Vec<(Vec<u8>, Vec<u8>)>;

/// What a new file gets besides its content.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inherited<'a> {
    /// The file whose extended attributes are copied, where there is one.
    pub from: Option<(&'a Folder, &'a [u8])>,
    /// Those that count more.
    pub attributes: &'a [(Vec<u8>, Vec<u8>)],
}

/// How to create a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewFile {
    pub executable: bool,
    /// Without them, the user's umask decides.
    pub bits: Option<u32>,
    /// Wait until the content is on the disk.
    pub sync: bool,
}

impl Stat {
    /// Device and inode: a file keeps them when it is renamed.
    pub fn identity(&self) -> (u64, u64) {
        (self.stamp.device, self.stamp.inode)
    }

    pub fn executable(&self) -> bool {
        self.stamp.mode & 0o100 != 0
    }

    pub fn permissions(&self) -> Permissions {
        self.stamp.permissions(self.kind)
    }
}
