//! A supervisor shell runs the user's shell and stays alive until we release it.
//!
//! It keeps the process group's id in use, and starts the command only when the guardian knows of it.
//! On Linux it is also the subreaper that adopts orphans,
//! so a child that has daemonised itself, in its own session and without our variable, is still
//! found among its descendants.

#[cfg_attr(target_os = "linux", path = "table_linux.rs")]
#[cfg_attr(target_os = "macos", path = "table_macos.rs")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "macos")),
    path = "table_other.rs"
)]
mod table;

#[path = "guardian.rs"]
mod guardian;

use std::collections::{HashMap, HashSet};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{CommandSpec, witness};
use crate::written::WriteEvidence;

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How often killing is repeated for a tree that keeps growing.
const MAX_ROUNDS: usize = 200;
/// The variable that marks every process of a command.
const MARK: &str = "LATHE_RUN";

/// An empty line on standard input starts the command. Its output goes to standard error and its
/// exit code to standard output. The traps keep the script alive when the command signals its
/// group; unlike ignored signals, traps are not inherited. At its end it stops itself, also when
/// the system wakes it up, and waits to be killed: if it ended, orphans would be lost. So it opens
/// nothing after the command: when this process dies, the system refuses that to what it watched,
/// and the shell would end.
const SUPERVISOR: &str = r#"trap : TERM INT HUP QUIT USR1 USR2 PIPE
read -r _ || exit
exec 3>/dev/null
"$@" </dev/null 1>&2 3>&-
code=$?
exec 2>&3
echo "$code"
exec >&3
while :; do kill -STOP $$; done
"#;

/// For a program in a terminal, which is the standard output. Its exit code goes to standard error.
pub(super) const TERMINAL_SUPERVISOR: &str = r#"trap : TERM INT HUP QUIT USR1 USR2 PIPE
read -r _ || exit
exec 3>&2 2>&1
"$@" <&1 3>&-
code=$?
exec </dev/null >/dev/null 2>&1
echo "$code" >&3
exec 3>&-
while :; do kill -STOP $$; done
"#;

/// For a program that uses all three pipes itself.
const PIPED_SUPERVISOR: &str = r#"trap : TERM INT HUP QUIT USR1 USR2 PIPE
read -r _ || exit
"$@"
code=$?
[ "$code" = 0 ] || echo "(exit code $code)" >&2
exec </dev/null >/dev/null 2>&1
while :; do kill -STOP $$; done
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

impl Drop for Tree {
    fn drop(&mut self) {
        guardian::release(self.supervisor);
    }
}

fn send(pid: i32, signal: Signal) {
    // An error means that the process is gone already.
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

type Status = Box<dyn AsyncRead + Send + Sync + Unpin>;

pub struct Leader {
    child: Child,
    status: Option<Status>,
    status_text: Vec<u8>,
    tree: Arc<Tree>,
    evidence: Option<Box<dyn WriteEvidence>>,
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
        let mut command = supervisor(SUPERVISOR, spec, id);
        command.stderr(write).process_group(0);
        // Before the walls: inside, nothing can be installed any more.
        let watched = witness::prepare(&mut command, spec);
        install_walls(&mut command, spec);
        let started = Self::spawn(&mut command, id);
        let evidence = watched.map(witness::Waiting::started);
        let (mut leader, _) = started?;
        leader.evidence = evidence;
        let status = leader.child.stdout.take();
        leader.status = status.map(|status| Box::new(status) as Status);
        Ok((leader, output))
    }

    pub fn start_piped(spec: &CommandSpec, id: u64) -> io::Result<(Self, Pipes)> {
        let mut command = supervisor(PIPED_SUPERVISOR, spec, id);
        command.stderr(Stdio::piped()).process_group(0);
        install_walls(&mut command, spec);
        let (mut leader, input) = Self::spawn(&mut command, id)?;
        let input = ChildStdin::from_std(OwnedFd::from(input).into())?;
        let child = &mut leader.child;
        match (child.stdout.take(), child.stderr.take()) {
            (Some(output), Some(errors)) => Ok((
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

    /// The command has the terminal that its standard output is; it makes a session of its own.
    pub(super) fn start_with_terminal(mut command: Command, id: u64) -> io::Result<Self> {
        command.stderr(Stdio::piped());
        let (mut leader, _) = Self::spawn(&mut command, id)?;
        let status = leader.child.stderr.take();
        leader.status = status.map(|status| Box::new(status) as Status);
        Ok(leader)
    }

    /// Starts the supervisor and then its command. Returns the write end of its standard input.
    fn spawn(command: &mut Command, id: u64) -> io::Result<(Self, PipeWriter)> {
        let (read, mut input) = io::pipe()?;
        let child = command.stdin(read).spawn()?;
        // The read end must be closed here, or a supervisor that is gone would not be noticed.
        command.stdin(Stdio::null());
        let supervisor = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .unwrap_or(0);
        let tree = Arc::new(Tree {
            supervisor,
            mark: format!("{MARK}={}", mark(id)),
            over: AtomicBool::new(supervisor == 0),
        });
        let leader = Self {
            child,
            status: None,
            status_text: Vec::new(),
            tree,
            evidence: None,
        };
        guardian::watch(supervisor)?;
        input.write_all(b"\n")?;
        Ok((leader, input))
    }

    pub fn process(&self) -> Option<u32> {
        self.child.id()
    }

    pub fn tree(&self) -> Arc<Tree> {
        self.tree.clone()
    }

    /// Returns it once.
    pub fn take_evidence(&mut self) -> Option<Box<dyn WriteEvidence>> {
        self.evidence.take()
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

pub(super) fn supervisor(script: &str, spec: &CommandSpec, id: u64) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script, "lathe"])
        .args(spec.walls.as_ref().map_or(&[][..], |walls| walls.prefix()))
        .arg(spec.program)
        .args(&spec.arguments)
        .env_clear()
        .envs(spec.variables)
        .env(MARK, mark(id))
        .env("PWD", spec.directory)
        .current_dir(spec.directory)
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    adopt_orphans(&mut command);
    command
}

pub(super) fn install_walls(command: &mut Command, spec: &CommandSpec) {
    if let Some(walls) = &spec.walls {
        walls.install(command.as_std_mut());
    }
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
