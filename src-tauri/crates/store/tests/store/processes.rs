//! Two processes on one data directory.
//!
//! The second process is this test binary again, told by its environment to do a job instead
//! of testing. It reports on standard output, one line per deed.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use lathe_store::{Key, StoreError};
use serde_json::{Value, json};

use crate::support::*;

const JOB: &str = "LATHE_STORE_TEST_JOB";
const ROOT: &str = "LATHE_STORE_TEST_ROOT";

/// A process that is gone when this value is.
pub struct Worker {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    pub fn start(job: &str, root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "processes::a_worker_does_its_job",
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

    /// The next deed, without what the test harness prints.
    pub fn next(&mut self) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(|line| line.ok())
            .find_map(|line| Some(line.split_once("did ")?.1.to_owned()))
    }

    /// Everything it still had to say.
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

pub fn did(deed: impl std::fmt::Display) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "did {deed}").unwrap();
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
        "stream" => crate::kill::stream(root).await,
        other => panic!("no such job: {other}"),
    }
}

fn counter() -> Key {
    Key::new(["todo", "ses_counter"]).unwrap()
}

const EACH: i64 = 500;

async fn count_up(root: &Path) {
    let store = open(root).await;
    did("open");
    for _ in 0..EACH {
        store
            .update::<Value, _>(&counter(), |value| {
                value["n"] = json!(value["n"].as_i64().unwrap() + 1)
            })
            .await
            .unwrap();
    }
    did("count");
}

async fn hold(root: &Path) {
    let store = open(root).await;
    let _writer = store.lock_session(&session_id(1)).await.unwrap();
    did("hold");
    std::future::pending().await
}

#[tokio::test]
async fn two_processes_lose_no_update_and_nobody_sees_a_torn_file() {
    let home = Home::new().await;
    let filler = "x".repeat(5000);
    home.store
        .write(&counter(), &json!({ "n": 0, "filler": filler }))
        .await
        .unwrap();
    let path = home.file("todo/ses_counter.json");
    let mut worker = Worker::start("count", home.root());
    assert_eq!(worker.next().as_deref(), Some("open"));

    let mut last = 0;
    for _ in 0..EACH {
        home.store
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
    let total = home.store.read::<Value>(&counter()).await.unwrap().unwrap();
    assert_eq!(total["n"], json!(2 * EACH));
}

#[tokio::test]
async fn a_session_has_one_writer_and_is_free_once_that_one_is_dead() {
    let home = Home::new().await;
    let mut worker = Worker::start("hold", home.root());
    assert_eq!(worker.next().as_deref(), Some("hold"));
    let pid = worker.child.id();
    let refused = home.store.lock_session(&session_id(1)).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Busy { pid: Some(holder), .. } if holder == pid),
        "{refused}"
    );
    // Another session is free, and reading needs no lock.
    home.store.lock_session(&session_id(2)).await.unwrap();
    home.store.all_sessions().await.unwrap();

    worker.kill();
    home.store.lock_session(&session_id(1)).await.unwrap();
}
