//! Two processes on one data directory.
//!
//! The second process is this test binary again, with environment variables that make it do a job
//! instead of testing. It reports each finished step as a line on standard output.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use lathe_store::{Key, StoreError};
use serde_json::{Value, json};

use crate::support::*;

const JOB: &str = "LATHE_STORE_TEST_JOB";
const ROOT: &str = "LATHE_STORE_TEST_ROOT";

/// A child process, killed when this value is dropped.
pub struct Worker {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    pub fn start(job: &str, root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "two_processes::a_worker_does_its_job",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(JOB, job)
            .env(ROOT, root)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Worker { child, lines }
    }

    /// The next report, without what the test harness prints.
    pub fn next(&mut self) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(|line| line.ok())
            .find_map(|line| Some(line.split_once("report: ")?.1.to_owned()))
    }

    /// Returns the reports that were not read yet.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn report(step: impl std::fmt::Display) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "report: {step}").unwrap();
    out.flush().unwrap();
}

#[tokio::test]
async fn a_worker_does_its_job() {
    let (Ok(job), Some(root)) = (std::env::var(JOB), std::env::var_os(ROOT)) else {
        return;
    };
    let root = Path::new(&root);
    match job.as_str() {
        "count" => count_up(root).await,
        "hold" => hold(root).await,
        "stream" => crate::killed_process::stream(root).await,
        other => panic!("no such job: {other}"),
    }
}

fn counter() -> Key {
    Key::new(["todo", "ses_counter"]).unwrap()
}

const EACH: i64 = 500;

async fn count_up(root: &Path) {
    let store = open(root).await;
    report("open");
    for _ in 0..EACH {
        store
            .update::<Value, _>(&counter(), |value| {
                value["n"] = json!(value["n"].as_i64().unwrap() + 1)
            })
            .await
            .unwrap();
    }
    report("count");
}

async fn hold(root: &Path) {
    let store = open(root).await;
    let _writer = store.lock_session(&session_id(1)).await.unwrap();
    report("hold");
    std::future::pending().await
}

#[tokio::test]
async fn two_processes_lose_no_update_and_never_read_a_torn_file() {
    let test = TestStore::new().await;
    let filler = "x".repeat(5000);
    test.store
        .write(&counter(), &json!({ "n": 0, "filler": filler }))
        .await
        .unwrap();
    let path = test.file("todo/ses_counter.json");
    let mut worker = Worker::start("count", test.root());
    assert_eq!(worker.next().as_deref(), Some("open"));

    let mut last = 0;
    for _ in 0..EACH {
        test.store
            .update::<Value, _>(&counter(), |value| {
                value["n"] = json!(value["n"].as_i64().unwrap() + 1)
            })
            .await
            .unwrap();
        let seen = value(&std::fs::read(&path).unwrap());
        let now = seen["n"].as_i64().unwrap();
        assert!(now > last && seen["filler"] == json!(filler));
        last = now;
    }
    assert_eq!(worker.next().as_deref(), Some("count"));
    let total = test.store.read::<Value>(&counter()).await.unwrap().unwrap();
    assert_eq!(total["n"], json!(2 * EACH));
}

#[tokio::test]
async fn a_session_has_one_writer_and_is_free_once_that_process_is_dead() {
    let test = TestStore::new().await;
    let mut worker = Worker::start("hold", test.root());
    assert_eq!(worker.next().as_deref(), Some("hold"));
    let pid = worker.child.id();
    let refused = test.store.lock_session(&session_id(1)).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Busy { pid: Some(holder), .. } if holder == pid),
        "{refused}"
    );
    // Another session is free, and reading needs no lock.
    test.store.lock_session(&session_id(2)).await.unwrap();
    test.store.all_sessions().await.unwrap();

    worker.kill();
    test.store.lock_session(&session_id(1)).await.unwrap();
}
