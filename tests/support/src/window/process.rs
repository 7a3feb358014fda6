//! A program and everything it starts, ended together.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::WindowError;

/// How long a test waits for anything before it fails. Generous, because it costs nothing while
/// tests pass, and a loaded machine is slow.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// How often a condition without an event is checked.
pub const INTERVAL: Duration = Duration::from_millis(20);

/// A process group of our own. Dropping it kills all of it.
pub struct Group {
    leader: Child,
}

impl Group {
    pub fn start(command: &mut Command) -> Result<Self, WindowError> {
        let leader = command
            .process_group(0)
            .spawn()
            .map_err(|error| WindowError::Start {
                program: command.get_program().to_string_lossy().into_owned(),
                why: error.to_string(),
            })?;
        Ok(Self { leader })
    }

    /// The group's number, which is its leader's.
    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    pub fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Waits until the first process ends by itself.
    pub async fn ended(&mut self) -> Result<ExitStatus, WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.leader.try_wait()? {
                return Ok(status);
            }
            next_check(deadline, "the end of the process").await?;
        }
    }

    /// Kills the whole group and waits for its leader.
    pub fn end(&mut self) {
        if let Some(pid) = i32::try_from(self.leader.id()).ok().and_then(Pid::from_raw) {
            // Already gone is as good as killed.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.leader.wait();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits until the next check, or fails after the deadline.
pub async fn next_check(deadline: Instant, what: &str) -> Result<(), WindowError> {
    if Instant::now() > deadline {
        return Err(WindowError::TimedOut {
            what: what.to_owned(),
            page: String::new(),
        });
    }
    tokio::time::sleep(INTERVAL).await;
    Ok(())
}
