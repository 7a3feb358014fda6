//! The same scripted work on `lathectl` and on an installed OpenCode, as whole commands.
//!
//! `cargo xtask bench --against` builds and starts it. One JSON object a row on its output.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    reason = "a command line program"
)]

use std::path::PathBuf;
use std::process::ExitCode;

#[cfg(unix)]
#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(ours), Some(theirs), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: side-by-side LATHECTL OPENCODE");
        return ExitCode::FAILURE;
    };
    match lathe_test_support::side_by_side::compare(&ours, &theirs).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("side-by-side: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("side-by-side: what a command used is only to be had on Unix");
    ExitCode::FAILURE
}
