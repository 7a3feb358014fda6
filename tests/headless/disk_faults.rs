//! Killed or refused at any single system call, the last good state remains and the error is
//! reported.
//!
//! `strace` lets the kernel refuse or kill at the n-th call.

#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use serde_json::json;

use crate::crash_recovery::{each_tool_is_settled, records};
use crate::lathectl::{Home, ended, text};

/// The numbers of the system calls that are tried: all of them with `--soak`, some otherwise.
fn steps(most: usize) -> Vec<usize> {
    let stride = if soak() { 1 } else { most / 4 };
    (1..=most).step_by(stride.max(1)).collect()
}

/// Turns per session: with hundreds, reading the history would take longer than the turns.
const ONE_SESSION: usize = 12;

pub fn soak() -> bool {
    std::env::var_os("LATHE_SOAK").is_some()
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

const GO: [&str; 4] = ["run", "--yes", "--continue", "go"];

/// Runs a turn in which `strace` injects `what` at the n-th of these system calls.
async fn injected(home: &Home, calls: &str, what: &str, at: usize) -> Output {
    let trace = format!("trace={calls}");
    let inject = format!("inject={calls}:{what}:when={at}");
    let args = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    ended(home.inside("strace", &args, &GO)).await
}

async fn begun(model: &FakeModel) -> Home {
    let home = Home::new(model);
    model.reply([say("hello")]);
    assert!(home.run(&["run", "hello"]).await.status.success());
    home
}

fn take_back(model: &FakeModel) {
    while model.unused_replies() > 0 {
        model.remove_next_reply();
    }
    model.take_violations();
}

/// Every record can be read, every call has ended, and the next prompt is answered.
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
async fn a_session_survives_a_kill_at_any_write_sync_or_rename() {
    for (calls, most) in [("rename", 40), ("fsync", 60), ("write,writev", 120)] {
        let mut killed = 0;
        for some in steps(most).chunks(ONE_SESSION) {
            let model = FakeModel::start().await;
            let home = begun(&model).await;
            for &at in some {
                script(&model);
                let output = injected(&home, calls, "signal=KILL", at).await;
                killed += usize::from(output.status.signal() == Some(9));
                take_back(&model);
                is_whole(&model, &home, &format!("{calls} {at}")).await;
            }
        }
        assert!(killed > 0, "no {calls} was ever reached, or nothing traces");
    }
}

#[tokio::test]
async fn a_disk_error_is_reported_and_the_last_good_state_remains() {
    // The connection to the model is written with the same system call as files. So only opening
    // and renaming are refused, which a full or broken disk refuses, too.
    for (calls, error) in [("rename", "ENOSPC"), ("rename", "EIO"), ("fsync", "EIO")] {
        for some in steps(if soak() { 200 } else { 40 }).chunks(ONE_SESSION) {
            let model = FakeModel::start().await;
            let home = begun(&model).await;
            for &at in some {
                let before = records(&home.data().join("storage")).len();
                script(&model);
                let output = injected(&home, calls, &format!("error={error}"), at).await;
                let when = format!("{error} at {calls} {at}");
                is_told_and_whole(&model, &home, &output, before, &when).await;
            }
        }
    }
}

/// A failed turn reports it, nothing stored is lost, and the session can continue.
async fn is_told_and_whole(
    model: &FakeModel,
    home: &Home,
    output: &Output,
    before: usize,
    when: &str,
) {
    take_back(model);
    let said = text(&output.stderr);
    assert!(
        output.status.success() || said.contains("lathectl: "),
        "{when}: failed without a word: {said}"
    );
    assert!(
        records(&home.data().join("storage")).len() >= before,
        "{when}"
    );
    is_whole(model, home, when).await;
}

/// Runs a turn after `mounts` was done to the data directory, in a mount namespace of its own:
/// that needs no privileges and ends with the program. Afterwards the files of the mount replace
/// those of the directory.
async fn mounted(home: &Home, mounts: &str) -> Output {
    let script = format!(
        r#"set -e
        cp -a "$DATA" "$WORK/before"
        {mounts}
        cp -a "$WORK/before/." "$DATA" 2>/dev/null || true
        set +e
        "$@"
        code=$?
        cp -a "$DATA" "$WORK/after"
        exit $code"#
    );
    let work = tempfile::tempdir().unwrap();
    let mut command = home.inside("unshare", &[name_space(), "sh", "-c", &script, "sh"], &GO);
    command.env("DATA", home.data()).env("WORK", work.path());
    let output = ended(command).await;
    let after = work.path().join("after");
    assert!(after.exists(), "{}", text(&output.stderr));
    std::fs::remove_dir_all(home.data()).unwrap();
    let copied = Command::new("cp")
        .arg("-a")
        .arg(after)
        .arg(home.data())
        .status();
    assert!(copied.unwrap().success());
    output
}

/// Root needs no user namespace to mount something, and cannot create one inside a chroot.
pub fn name_space() -> &'static str {
    let user = Command::new("id").arg("-u").output().unwrap();
    match text(&user.stdout).trim() {
        "0" => "-m",
        _ => "-rm",
    }
}

/// The size of a folder in blocks of 4 KB, as a file system counts.
pub fn blocks(folder: &std::path::Path) -> u64 {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap());
    let size = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => blocks(&entry.path()),
        false => entry.metadata().unwrap().len().div_ceil(4096),
    };
    entries.map(size).sum()
}

#[tokio::test]
async fn the_last_good_state_remains_on_a_full_disk() {
    let mut refused = 0;
    for some in steps(if soak() { 200 } else { 24 }).chunks(ONE_SESSION) {
        let model = FakeModel::start().await;
        let home = begun(&model).await;
        for &room in some {
            let before = records(&home.data().join("storage")).len();
            let size = 4 * (blocks(&home.data()) + room as u64);
            script(&model);
            let mounts = format!(r#"mount -t tmpfs -o size={size}k tmpfs "$DATA""#);
            let output = mounted(&home, &mounts).await;
            refused += usize::from(!output.status.success());
            is_told_and_whole(&model, &home, &output, before, &format!("{room} blocks")).await;
        }
    }
    assert!(refused > 0, "the disk was never full");
}

#[tokio::test]
async fn a_read_only_data_directory_is_reported_and_unchanged() {
    let model = FakeModel::start().await;
    let home = begun(&model).await;
    let before = records(&home.data().join("storage"));
    script(&model);
    let read_only = r#"mount --bind "$DATA" "$DATA"; mount -o remount,bind,ro "$DATA""#;
    let output = mounted(&home, read_only).await;
    take_back(&model);
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("lathectl: "), "{said}");
    assert_eq!(records(&home.data().join("storage")), before);
    assert!(!home.project().join("b.txt").exists(), "no tool ran");
    is_whole(&model, &home, "after it was read-only").await;
}
