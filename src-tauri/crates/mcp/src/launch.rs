//! How a program is started and ended: handed in, because each system has its own means.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program, then its arguments. Never empty.
    pub command: Vec<String>,
    /// On top of what any command of the person's gets.
    pub environment: BTreeMap<String, String>,
    /// Nothing: the person's home.
    pub directory: Option<PathBuf>,
}

pub struct Launched {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    pub running: Box<dyn Running>,
}

/// A program and all it started. Dropping it ends them without grace.
#[async_trait]
pub trait Running: Send + Sync {
    async fn end(self: Box<Self>);
}

#[async_trait]
pub trait Launch: Send + Sync {
    async fn launch(&self, program: &Program) -> io::Result<Launched>;
}
