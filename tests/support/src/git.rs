//! Git repositories for tests, made by the git program.

use std::io;
use std::path::Path;
use std::process::Command;

/// Settings of the machine must not change the commits of a test.
const IDENTITY: [&str; 6] = [
    "-c",
    "user.name=n",
    "-c",
    "user.email=n@localhost",
    "-c",
    "commit.gpgsign=false",
];

/// Runs git in a folder and returns its output; its error output is the error.
pub fn git(folder: &Path, args: &[&str]) -> io::Result<String> {
    let mut command = Command::new("git");
    let done = command
        .args(IDENTITY)
        .args(args)
        .current_dir(folder)
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match done.status.success() {
        true => Ok(text(&done.stdout)),
        false => Err(io::Error::other(text(&done.stderr))),
    }
}

/// Makes a folder a repository with everything in it in one commit.
pub fn commit_all(folder: &Path) -> io::Result<()> {
    for args in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "All"],
    ] {
        git(folder, args)?;
    }
    Ok(())
}
