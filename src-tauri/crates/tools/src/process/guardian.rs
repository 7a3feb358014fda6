//! A small process that outlives ours by a moment and ends the commands that ours can no longer
//! end: after a crash, or a signal that cannot be handled.
//!
//! It is a shell that reads from a pipe which only this process holds open, so it notices every
//! kind of death. There is one for the whole app, started with the first command.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};

use parking_lot::Mutex;

/// Each line adds or removes a supervisor. On Linux a supervisor adopts all orphans of its
/// command and never ends by itself, so its children are killed until there are none: a grandchild
/// becomes a child when its parent dies. A round that finds nothing alive may have looked just
/// before an adoption, hence the second one. Elsewhere the process group is killed.
const SCRIPT: &str = r#"trap '' TERM INT HUP QUIT USR1 USR2 PIPE
all=' '
while read -r what pid; do
  case $what in
    +) all="$all$pid " ;;
    -) case $all in *" $pid "*) all="${all%%" $pid "*} ${all#*" $pid "}" ;; esac ;;
  esac
done
for supervisor in $all; do
  children=/proc/$supervisor/task/$supervisor/children
  if [ -r "$children" ]; then
    rounds=0 quiet=0
    while [ $quiet -lt 2 ] && [ $rounds -lt 1000 ]; do
      rounds=$((rounds + 1)) quiet=$((quiet + 1)) pids=
      read -r pids <"$children"
      for pid in $pids; do
        line=
        read -r line <"/proc/$pid/stat"
        case $line in
          '' | *') Z '* | *') X '*) ;;
          *) quiet=0; kill -KILL "$pid" ;;
        esac
      done
    done
  fi
  kill -s KILL -- "-$supervisor"
done
"#;

static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian {
    pipe: None,
    watched: BTreeSet::new(),
});

struct Guardian {
    pipe: Option<ChildStdin>,
    watched: BTreeSet<i32>,
}

/// From now on the supervisor and everything below it end with this process.
pub fn watch(supervisor: i32) -> io::Result<()> {
    let mut guardian = GUARDIAN.lock();
    guardian.watched.insert(supervisor);
    if guardian.tell('+', supervisor).is_ok() {
        return Ok(());
    }
    // The first command, or the guardian itself was killed.
    let mut pipe = start()?;
    for supervisor in &guardian.watched {
        writeln!(pipe, "+ {supervisor}")?;
    }
    guardian.pipe = Some(pipe);
    Ok(())
}

/// To be called when nothing of the tree is left.
pub fn release(supervisor: i32) {
    let mut guardian = GUARDIAN.lock();
    if guardian.watched.remove(&supervisor) {
        // If it cannot be reached, the next command starts another one.
        let _ = guardian.tell('-', supervisor);
    }
}

impl Guardian {
    fn tell(&mut self, what: char, supervisor: i32) -> io::Result<()> {
        let pipe = self.pipe.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        // In one piece, so that half a line is never read.
        pipe.write_all(format!("{what} {supervisor}\n").as_bytes())
    }
}

fn start() -> io::Result<ChildStdin> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "lathe"])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Signals from a terminal go to the group of this process.
        .process_group(0)
        .spawn()?;
    child
        .stdin
        .take()
        .ok_or_else(|| io::Error::other("it has no input"))
}
