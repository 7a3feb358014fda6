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
}

pub struct Launched {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    pub running: Box<dyn Running>,
}

/// A process with all its descendants. Dropping the handle kills them at once.
#[async_trait]
pub trait Running: Send + Sync {
    async fn end(self: Box<Self>);
}

#[async_trait]
pub trait Launch: Send + Sync {
    async fn launch(&self, program: &Program) -> io::Result<Launched>;
}
