//! What a command may reach, in the caller's words.

use std::path::{Path, PathBuf};

use crate::promise::Promise;

/// Something that the person allowed on top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// Read a path that is otherwise unreadable.
    Read(PathBuf),
    /// Change an existing path: a file, or a folder with all that is in it.
    Write(PathBuf),
    /// Reach other hosts.
    Network,
    /// Connect to Unix sockets: the desktop's bus, a container daemon, an SSH agent. What
    /// listens there may do anything on the command's behalf.
    LocalSockets,
}

/// What a command may reach.
///
/// Where two paths overlap, the longer one decides; for the same path a grant counts before
/// everything else, then unreadable, protected, writable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Folders whose content may be changed: the project, temporary folders. Missing ones are
    /// left out.
    pub writable: Vec<PathBuf>,
    /// Paths inside them that may only be read. A path that does not exist cannot be created.
    pub protected: Vec<PathBuf>,
    /// Paths that may not be read either.
    pub unreadable: Vec<PathBuf>,
    pub grants: Vec<Grant>,
    /// Whether git may write to the protected `.git` folders: objects, references, the index.
    /// Hooks and configuration stay read-only.
    pub git_writable: bool,
    /// A folder of the caller's where it is noted what is put into the writable folders while a
    /// command runs. See [`crate::remove_leftovers`].
    pub notes: Option<PathBuf>,
    /// Promises without which nothing may be started. Writing outside, protected paths, secrets
    /// and the network are not listed: no engine is offered that does not hold them.
    pub required: Vec<Promise>,
}

impl Confinement {
    pub fn new(project: &Path) -> Self {
        Self {
            writable: vec![project.to_owned()],
            ..Self::default()
        }
    }

    pub fn network(&self) -> bool {
        self.grants.contains(&Grant::Network)
    }

    pub fn local_sockets(&self) -> bool {
        self.grants.contains(&Grant::LocalSockets)
    }
}
