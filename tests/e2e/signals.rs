//! PROMISES 28: when the window dies, whatever the signal, nothing of the agent's is left running.

use std::fs;
use std::time::{Duration, Instant};

use lathe_test_support::fake_model::{FakeModel, call};
use lathe_test_support::window::{UndrivenApp, WindowError};
use rustix::process::Signal;
use serde_json::json;

use crate::steps::{options, project};

/// How long a command may outlive the window.
const MOST: Duration = Duration::from_secs(2);
/// A test that waits for what never comes has failed.
const PATIENCE: Duration = Duration::from_secs(60);

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process with this in its command line is alive.
fn is_running(words: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(words)
    })
}

async fn dies_of(signal: Signal, number: u32) -> Result<(), WindowError> {
    let (model, garden) = (FakeModel::start().await, project()?);
    let mark = format!("{number}{:07}", std::process::id());
    let sleeping = format!("sleep {mark}");
    let command = format!("setsid {sleeping} & trap '' TERM HUP INT; {sleeping}; {sleeping}");
    model.reply([call(
        "bash",
        json!({ "command": command, "description": "Wait" }),
    )]);
    let mut app = UndrivenApp::start(options(&model, &garden, json!("allow"))?).await?;
    app.write_draft("Wait").await?;
    app.send_draft("Wait").await?;
    until("the command never runs", || is_running(&sleeping)).await;

    app.end_by(signal).await?;
    let ended = Instant::now();
    until("a command of the agent is left", || !is_running(&sleeping)).await;
    let left = ended.elapsed();
    assert!(left < MOST, "{signal:?} leaves a command for {left:?}");
    Ok(())
}

#[tokio::test]
async fn a_window_that_is_killed_or_asked_to_end_leaves_no_command_behind()
-> Result<(), WindowError> {
    let signals = [Signal::TERM, Signal::HUP, Signal::INT, Signal::KILL];
    for (signal, number) in signals.into_iter().zip(91..) {
        dies_of(signal, number).await?;
    }
    Ok(())
}
