//! Starting and stopping a server process. The caller implements it, because each operating
//! system does it differently.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program, then its arguments. Never empty.
    pub command: Vec<String>,
    /// Added to the environment that every command of the user gets.
    pub environment: BTreeMap<String, String>,
    /// `None` for the user's home folder.
    pub directory: Option<PathBuf>,
    /// The folder outside of which it may change nothing. A launcher that cannot ensure that must
    /// fail.
    pub confined_to: Option<PathBuf>,
}

pub struct ChildProcess {
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    pub handle: Box<dyn ProcessHandle>,
}

/// A process with all its descendants. Dropping the handle kills them at once.
#[async_trait]
pub trait ProcessHandle: Send + Sync {
    /// Stops the processes, giving them time to finish.
    async fn stop(self: Box<Self>);
}

#[async_trait]
pub trait Launch: Send + Sync {
    async fn launch(&self, program: &Program) -> io::Result<ChildProcess>;
}
