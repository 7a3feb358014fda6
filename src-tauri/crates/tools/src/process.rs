//! A command and everything it starts, as one thing that can be ended.
//!
//! Each system has its own means: on Linux a supervisor that inherits orphans, on macOS the
//! process table, on Windows a job object. Knows nothing of tools.

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

use std::collections::HashMap;
use std::io::{self, PipeReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::environment::Variables;

pub use system::Pipes;

/// What to run and in what.
pub struct Order<'a> {
    pub program: &'a Path,
    pub arguments: Vec<&'a str>,
    pub directory: &'a Path,
    pub variables: &'a Variables,
}

/// The commands that run now.
#[derive(Clone, Default)]
pub struct Processes {
    running: Arc<Mutex<HashMap<u64, Arc<system::Tree>>>>,
}

/// Ids tell the trees of this whole program apart, so they are counted in one place.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Processes {
    /// Starts a command; its output and errors come through one pipe, in the order written.
    pub fn start(&self, order: &Order) -> io::Result<Run> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (leader, output) = system::Leader::start(order, id)?;
        self.running.lock().insert(id, leader.tree());
        Ok(Run {
            id,
            leader,
            output: Some(output),
            processes: self.clone(),
        })
    }

    /// Starts a program that is talked to: its input, output and errors are three pipes.
    pub fn start_piped(&self, order: &Order) -> io::Result<(Run, Pipes)> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (leader, pipes) = system::Leader::start_piped(order, id)?;
        self.running.lock().insert(id, leader.tree());
        let run = Run {
            id,
            leader,
            output: None,
            processes: self.clone(),
        };
        Ok((run, pipes))
    }

    pub fn running(&self) -> usize {
        self.running.lock().len()
    }

    /// Ends everything at once and without grace: the app is going.
    pub fn kill_all(&self) {
        let trees: Vec<Arc<system::Tree>> = self.running.lock().values().cloned().collect();
        trees.iter().for_each(|tree| tree.kill_now());
    }
}

/// One running command. Dropping it ends the whole tree.
pub struct Run {
    id: u64,
    leader: system::Leader,
    output: Option<PipeReader>,
    processes: Processes,
}

impl Run {
    /// The reading end of the command's output; once.
    pub fn take_output(&mut self) -> Option<PipeReader> {
        self.output.take()
    }

    /// Waits until the shell itself has ended; children may go on. May be dropped and called
    /// again. Nothing, if it was ended before it could say, or is a piped program.
    pub async fn exit_code(&mut self) -> Option<i32> {
        self.leader.exit_code().await
    }

    /// Ends whatever is left: politely, and 200 ms later by force.
    pub async fn end(mut self) {
        self.leader.end().await;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.processes.running.lock().remove(&self.id);
        self.leader.tree().kill_now();
    }
}
