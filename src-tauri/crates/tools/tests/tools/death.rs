//! PROMISES 28: when the app dies, whatever the signal, nothing of the agent's is left running.
//!
//! The app is this test program, started once more with only [`app`] to run.

use std::process::{Command, Stdio};

use lathe_tools::process::CommandSpec;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::bash::{alive, until_gone};
use super::support::Project;

const MARK: &str = "LATHE_TEST_MARK";

/// Children that ignore signals, move to another session, clear their environment or are orphaned.
fn stubborn(mark: &str) -> String {
    format!(
        "setsid sleep {mark} & \
         env -i setsid sh -c \"trap '' TERM HUP INT; sleep {mark} & wait\" & \
         (env -i setsid nohup sleep {mark} >/dev/null 2>&1 &) ; \
         trap '' TERM; sleep {mark}; sleep {mark}"
    )
}

/// The app that dies: it runs a command, and a program with pipes like a tool server.
#[tokio::test]
async fn app() {
    let Ok(mark) = std::env::var(MARK) else {
        return;
    };
    let project = Project::new();
    let text = stubborn(&mark);
    let spec = CommandSpec {
        program: "/bin/sh".as_ref(),
        arguments: vec!["-c", &text],
        directory: &project.cx.root,
        variables: project.cx.environment.variables().await,
        walls: None,
        watched_since: None,
    };
    let processes = project.cx.environment.processes();
    let _server = processes.start_piped(&spec).unwrap();
    let input = json!({ "command": text, "description": "d" });
    project.run("bash", input).await.unwrap();
}

async fn dies_of(signal: Signal, mark: &str) {
    // A run that was started in the background ignores some signals, and so would the app.
    let mut app = Command::new("env")
        .arg("--default-signal")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "tools::death::app", "--nocapture"])
        .env(MARK, mark)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Two supervisors, two shells, and in each of them four that sleep and one that waits.
    let sleeping = format!("sleep {mark}");
    while alive(mark).len() < 14 || alive(&sleeping).len() < 8 {
        assert!(app.try_wait().unwrap().is_none(), "it has not been killed");
        tokio::task::yield_now().await;
    }
    let pid = Pid::from_raw(i32::try_from(app.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
    app.wait().unwrap();
    until_gone(mark).await;
}

#[tokio::test]
async fn a_killed_app_leaves_no_process_behind() {
    dies_of(Signal::KILL, "92001").await;
}

#[tokio::test]
async fn an_app_that_is_asked_to_end_leaves_no_process_behind() {
    dies_of(Signal::TERM, "92002").await;
    dies_of(Signal::HUP, "92003").await;
    dies_of(Signal::INT, "92004").await;
}
