//! Runs a command so that it and everything it starts can be ended together.
//!
//! On Linux a supervisor adopts orphans, on macOS the process table is searched, on Windows a job
//! object holds all processes. Knows nothing about tools.

#[cfg(unix)]
#[path = "process/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "process/windows.rs"]
mod system;

#[cfg(unix)]
#[path = "process/terminal.rs"]
mod terminal;
#[cfg(not(unix))]
#[path = "process/no_terminal.rs"]
mod terminal;

#[cfg(target_os = "linux")]
mod witness;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "process/no_witness.rs"]
mod witness;

use std::collections::HashMap;
use std::io::{self, PipeReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::context::Walls;
use crate::environment::Variables;
use crate::written::WriteEvidence;

pub use system::Pipes;
pub use terminal::{Size, Terminal};

/// A program to run, with its arguments and environment.
pub struct CommandSpec<'a> {
    pub program: &'a Path,
    pub arguments: Vec<&'a str>,
    pub directory: &'a Path,
    pub variables: &'a Variables,
    /// The sandbox to run in, if any.
    pub walls: Option<Arc<dyn Walls>>,
    /// Set if it is to be seen what the command writes: a moment before the tree was taken that
    /// its changes are compared with.
    pub watched_since: Option<SystemTime>,
}

/// The running commands.
#[derive(Clone, Default)]
pub struct Processes {
    running: Arc<Mutex<HashMap<u64, Arc<system::Tree>>>>,
}

/// Shared by all instances, because ids must be unique in this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl Processes {
    /// Starts a command; its output and errors share one pipe, so that their order is preserved.
    pub fn start(&self, spec: &CommandSpec) -> io::Result<Run> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (leader, output) = system::Leader::start(spec, id)?;
        self.running.lock().insert(id, leader.tree());
        Ok(Run {
            id,
            leader,
            output: Some(output),
            processes: self.clone(),
            _walls: spec.walls.clone(),
        })
    }

    /// Starts a program with separate pipes for its input, output and errors.
    pub fn start_piped(&self, spec: &CommandSpec) -> io::Result<(Run, Pipes)> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (leader, pipes) = system::Leader::start_piped(spec, id)?;
        self.running.lock().insert(id, leader.tree());
        let run = Run {
            id,
            leader,
            output: None,
            processes: self.clone(),
            _walls: spec.walls.clone(),
        };
        Ok((run, pipes))
    }

    /// Starts a program in a terminal of its own.
    pub fn start_in_terminal(&self, spec: &CommandSpec, size: Size) -> io::Result<(Run, Terminal)> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (leader, terminal) = terminal::start(spec, id, size)?;
        self.running.lock().insert(id, leader.tree());
        let run = Run {
            id,
            leader,
            output: None,
            processes: self.clone(),
            _walls: spec.walls.clone(),
        };
        Ok((run, terminal))
    }

    pub fn running(&self) -> usize {
        self.running.lock().len()
    }

    /// Kills everything immediately, for the exit of the app.
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
    /// Holds until the last process has ended.
    _walls: Option<Arc<dyn Walls>>,
}

impl Run {
    /// The read end of the command's output. Returns it once.
    pub fn take_output(&mut self) -> Option<PipeReader> {
        self.output.take()
    }

    /// The id of the process that all others of the command descend from.
    pub fn process(&self) -> Option<u32> {
        self.leader.process()
    }

    /// Waits until the shell itself has ended; its children may still run. Cancel-safe. `None`
    /// if the shell was killed before it could report its exit code, or for a piped program.
    pub async fn exit_code(&mut self) -> Option<i32> {
        self.leader.exit_code().await
    }

    /// Who saw what the command writes. Returns it once; it is asked after the end.
    pub fn take_evidence(&mut self) -> Option<Box<dyn WriteEvidence>> {
        self.leader.take_evidence()
    }

    /// Ends all remaining processes: with SIGTERM, and 200 ms later with SIGKILL.
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
