//! How long git may take and how much it may print: files of a repository can be pipes on which it
//! waits for ever.

use std::ffi::OsStr;
use std::time::Duration;

use lathe_records::{Failed, Result};
use tokio::io::{AsyncRead, AsyncReadExt};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub time: Duration,
    pub bytes: u64,
}

/// They write many files, or run hooks and signers, which may wait for the person.
const LONG: [&str; 8] = [
    "add", "checkout", "commit", "merge", "reset", "stash", "switch", "worktree",
];

impl Limits {
    pub fn of(args: &[impl AsRef<OsStr>]) -> Limits {
        let is_long = |arg: &OsStr| LONG.iter().any(|long| arg == *long);
        let minutes = match args.iter().any(|arg| is_long(arg.as_ref())) {
            true => 15,
            false => 2,
        };
        Limits {
            time: Duration::from_secs(minutes * 60),
            bytes: 1 << 30,
        }
    }

    pub async fn read(self, pipe: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // One byte more shows that there is more.
            let read = pipe.take(self.bytes + 1).read_to_end(&mut bytes).await;
            read.map_err(|error| Failed::refused(format!("git couldn’t be read: {error}")))?;
        }
        match bytes.len() as u64 > self.bytes {
            true => Err(Failed::refused("git printed too much and was stopped")),
            false => Ok(bytes),
        }
    }
}
