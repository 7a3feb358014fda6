//! A supervisor shell runs the user's shell and stays alive until we release it.
//!
//! It keeps the process group's id in use. On Linux it is also the subreaper that adopts orphans,
//! so a child that has daemonised itself, in its own session and without our variable, is still
//! found among its descendants.

#[cfg_attr(target_os = "linux", path = "table_linux.rs")]
#[cfg_attr(target_os = "macos", path = "table_macos.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos")),
    path = "table_other.rs"
)]
mod table;

use std::collections::{HashMap, HashSet};
use std::io::{self, PipeReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::CommandSpec;

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How often killing is repeated for a tree that keeps growing.
const MAX_ROUNDS: usize = 200;
/// The variable that marks every process of a command.
const MARK: &str = "LATHE_RUN";

/// The command's output goes to standard error and its exit code to standard output; then the
/// script waits on standard input. The traps keep it alive when the command signals its group;
/// unlike ignored signals, traps are not inherited.
const SUPERVISOR: &str = r#"trap : TERM INT HUP QUIT USR1 USR2
"$@" </dev/null 1>&2
code=$?
exec 2>/dev/null
echo "$code"
read -r _
"#;

/// For a program that uses all three pipes itself: there is no pipe left to wait on, so this
/// supervisor ends with the program. Until we wait for it, it still keeps the group's id in use.
const PIPED_SUPERVISOR: &str = r#"trap : TERM INT HUP QUIT USR1 USR2
"$@"
code=$?
[ "$code" = 0 ] || echo "(exit code $code)" >&2
"#;

/// The processes of one command, found by the supervisor's id and the mark.
pub struct Tree {
    supervisor: i32,
    mark: String,
    over: AtomicBool,
}

impl Tree {
    /// All live processes of the tree, except the supervisor.
    fn members(&self) -> Vec<i32> {
        let entries = table::entries();
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for entry in &entries {
            children.entry(entry.parent).or_default().push(entry.pid);
        }
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let mut found: HashSet<i32> = HashSet::from([self.supervisor]);
        let mut open: Vec<i32> = vec![self.supervisor];
        open.extend(
            entries
                .iter()
                .filter(|entry| entry.pid != own)
                .filter(|e| e.group == self.supervisor || table::has_mark(e.pid, &self.mark))
                .map(|entry| entry.pid),
        );
        while let Some(pid) = open.pop() {
            found.insert(pid);
            let below = children.get(&pid).into_iter().flatten();
            open.extend(below.filter(|pid| !found.contains(pid)));
        }
        entries
            .iter()
            .filter(|e| found.contains(&e.pid) && e.pid != self.supervisor && !e.dead)
            .map(|entry| entry.pid)
            .collect()
    }

    /// Returns the number of processes.
    fn signal(&self, signal: Signal) -> usize {
        let members = self.members();
        members.iter().for_each(|pid| send(*pid, signal));
        members.len()
    }

    pub fn kill_now(&self) {
        if self.over.swap(true, Ordering::AcqRel) {
            return;
        }
        for _ in 0..MAX_ROUNDS {
            if self.signal(Signal::KILL) == 0 {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        send(self.supervisor, Signal::KILL);
    }
}

fn send(pid: i32, signal: Signal) {
    // An error means that the process is gone already.
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

pub struct Leader {
    child: Child,
    /// Closing it releases the supervisor.
    hold: Option<ChildStdin>,
    status: Option<ChildStdout>,
    status_text: Vec<u8>,
    tree: Arc<Tree>,
}

/// The pipes of a program started with `start_piped`.
pub struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

impl Leader {
    pub fn start(spec: &CommandSpec, id: u64) -> io::Result<(Self, PipeReader)> {
        let (output, write) = io::pipe()?;
        let mut command = supervised(SUPERVISOR, spec, id);
        command.stderr(write);
        let mut leader = Self::spawn(&mut command, id)?;
        leader.hold = leader.child.stdin.take();
        leader.status = leader.child.stdout.take();
        Ok((leader, output))
    }

    pub fn start_piped(spec: &CommandSpec, id: u64) -> io::Result<(Self, Pipes)> {
        let mut command = supervised(PIPED_SUPERVISOR, spec, id);
        command.stderr(Stdio::piped());
        let mut leader = Self::spawn(&mut command, id)?;
        let child = &mut leader.child;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => Ok((
                leader,
                Pipes {
                    input,
                    output,
                    errors,
                },
            )),
            _ => Err(io::Error::other("the program has no pipes")),
        }
    }

    fn spawn(command: &mut Command, id: u64) -> io::Result<Self> {
        let child = command.spawn()?;
        let supervisor = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .unwrap_or(0);
        let tree = Arc::new(Tree {
            supervisor,
            mark: format!("{MARK}={}", mark(id)),
            over: AtomicBool::new(supervisor == 0),
        });
        Ok(Self {
            child,
            hold: None,
            status: None,
            status_text: Vec::new(),
            tree,
        })
    }

    pub fn tree(&self) -> Arc<Tree> {
        self.tree.clone()
    }

    pub async fn exit_code(&mut self) -> Option<i32> {
        let status = self.status.as_mut()?;
        while !self.status_text.contains(&b'\n') {
            match status.read_buf(&mut self.status_text).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        String::from_utf8_lossy(&self.status_text)
            .trim()
            .parse()
            .ok()
    }

    pub async fn end(&mut self) {
        if self.tree.signal(Signal::TERM) > 0 {
            let _ = tokio::time::timeout(GRACE, self.until_empty()).await;
        }
        for _ in 0..MAX_ROUNDS {
            if self.tree.signal(Signal::KILL) == 0 {
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        self.tree.over.store(true, Ordering::Release);
        self.hold.take();
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
    }

    async fn until_empty(&self) {
        while !self.tree.members().is_empty() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

fn mark(id: u64) -> String {
    format!("{}-{id}", std::process::id())
}

fn supervised(script: &str, spec: &CommandSpec, id: u64) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script, "lathe"])
        .arg(spec.program)
        .args(&spec.arguments)
        .env_clear()
        .envs(spec.variables)
        .env(MARK, mark(id))
        .env("PWD", spec.directory)
        .current_dir(spec.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    adopt_orphans(&mut command);
    command
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // The attribute belongs to the child, so it is set after the fork.
fn adopt_orphans(command: &mut Command) {
    let adopt = || {
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).map_err(io::Error::from)
    };
    // SAFETY: two system calls, no allocation and no lock.
    unsafe {
        command.pre_exec(adopt);
    }
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans(_: &mut Command) {}
