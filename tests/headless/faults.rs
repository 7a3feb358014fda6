//! PROMISES 2 and 3: stopped or refused at any single step of writing, the last good state
//! stays, and what went wrong is said.
//!
//! `strace` lets the kernel refuse or kill at the n-th call; without it these tests have
//! nothing to hold on to and say so.

#![cfg(target_os = "linux")]

use std::process::{Command, Output};

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use serde_json::json;

use crate::kill::{each_tool_is_settled, records};
use crate::lathectl::{Home, text};

/// Which calls of a turn are tried: every one in a soak, some of them every day.
fn steps(most: usize) -> Vec<usize> {
    let stride = if soak() { 1 } else { most / 4 };
    (1..=most).step_by(stride.max(1)).collect()
}

pub fn soak() -> bool {
    std::env::var_os("LATHE_SOAK").is_some()
}

fn has_strace() -> bool {
    let found = Command::new("strace").arg("-V").output();
    found.is_ok_and(|output| output.status.success())
}

/// Three steps: two calls and an answer.
fn script(model: &FakeModel) {
    model.reply([say("One."), call("read", json!({ "filePath": "a.txt" }))]);
    model.reply([
        say("Two."),
        call("write", json!({ "filePath": "b.txt", "content": "b\n" })),
    ]);
    model.reply([say("Three.")]);
}

/// Runs a turn in which the kernel does `what` at the n-th of these calls.
async fn injected(home: &Home, calls: &str, what: &str, at: usize) -> Output {
    let inner = home.command(&["run", "--yes", "--continue", "go"]);
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={calls}"))
        .arg("-e")
        .arg(format!("inject={calls}:{what}:when={at}"))
        .arg(inner.get_program())
        .args(inner.get_args())
        .env_clear()
        .envs(
            inner
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.project())
        .stdin(std::process::Stdio::null());
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

async fn begun(model: &FakeModel) -> Home {
    let home = Home::new(model);
    model.reply([say("hello")]);
    assert!(home.run(&["run", "hello"]).await.status.success());
    home
}

fn take_back(model: &FakeModel) {
    while model.left() > 0 {
        model.take_back();
    }
    model.forgive();
}

/// Everything reads, every call has its end, and the next prompt is answered.
async fn is_whole(model: &FakeModel, home: &Home, when: &str) {
    records(&home.data().join("storage"));
    model.reply([say("here I am")]);
    let output = home.run(&["run", "--continue", "still there?"]).await;
    assert!(output.status.success(), "{when}: {}", text(&output.stderr));
    let check = home.run(&["check"]).await;
    assert!(check.status.success(), "{when}: {}", text(&check.stdout));
    each_tool_is_settled(home).await;
}

#[tokio::test]
async fn killed_at_any_write_sync_or_rename_a_session_reads_and_goes_on() {
    if !has_strace() {
        return;
    }
    let model = FakeModel::start().await;
    let home = begun(&model).await;
    for (calls, most) in [("rename", 40), ("fsync", 60), ("write,writev", 120)] {
        for at in steps(most) {
            script(&model);
            injected(&home, calls, "signal=KILL", at).await;
            take_back(&model);
            is_whole(&model, &home, &format!("{calls} {at}")).await;
        }
    }
}

#[tokio::test]
async fn a_disk_that_refuses_is_told_of_and_the_last_good_state_stays() {
    if !has_strace() {
        return;
    }
    let model = FakeModel::start().await;
    let home = begun(&model).await;
    // One program writes the socket with the same call: only what opens and renames files is
    // refused, which is what a full or broken disk does to us.
    for (calls, error) in [("rename", "ENOSPC"), ("rename", "EIO"), ("fsync", "EIO")] {
        for at in steps(if soak() { 200 } else { 40 }) {
            let before = records(&home.data().join("storage")).len();
            script(&model);
            let output = injected(&home, calls, &format!("error={error}"), at).await;
            take_back(&model);
            let said = text(&output.stderr);
            assert!(
                output.status.success() || said.contains("lathectl: "),
                "{calls} {at} failed without a word: {said}"
            );
            assert!(records(&home.data().join("storage")).len() >= before);
            is_whole(&model, &home, &format!("{error} at {calls} {at}")).await;
        }
    }
}
