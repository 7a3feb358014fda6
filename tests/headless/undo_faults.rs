//! Reverts through real runs of `lathectl` that are killed, or find the disk full, at any system
//! call: no byte is lost, no success is claimed that is none, and the next run finishes the work.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use lathe_test_support::fake_model::{FakeModel, call, text as say};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::disk_faults::{blocks, name_space, soak};
use crate::lathectl::{Home, ended, text};

type Files = BTreeMap<PathBuf, String>;

fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), fs::read_to_string(path).unwrap())),
        }
    }
    found
}

/// A session whose only turn has edited, removed and made files.
struct Worked {
    home: Home,
    id: String,
    prompt: String,
    before: Files,
    agents: Files,
}

const COMMAND: &str = "echo agent > a.txt; rm gone.txt; mkdir d; for n in 1 2 3 4 5 6 7 8; \
                       do echo new $n > d/$n; done; echo agent > linked";

impl Worked {
    async fn new(model: &FakeModel) -> Self {
        let home = Home::new(model);
        let at = |name: &str| home.project().join(name);
        fs::write(at("gone.txt"), "gone\n").unwrap();
        fs::write(at("mine.txt"), "mine\n").unwrap();
        fs::write(at("linked"), "linked, and longer\n").unwrap();
        fs::hard_link(at("linked"), at("linked too")).unwrap();
        let before = files(&home.project());
        let input = json!({ "command": COMMAND, "description": "Work" });
        model.reply([call("bash", input)]);
        model.reply([say("Done.")]);
        let output = home.run(&["run", "--yes", "work"]).await;
        assert!(output.status.success(), "{}", text(&output.stderr));
        let [id] = home.sessions().await.try_into().unwrap();
        let prompt = first_prompt(&home, &id).await;
        let agents = files(&home.project());
        Worked {
            home,
            id,
            prompt,
            before,
            agents,
        }
    }

    fn revert(&self) -> [&str; 4] {
        ["revert", &self.id, "--to", &self.prompt]
    }

    fn unrevert(&self) -> [&str; 2] {
        ["unrevert", &self.id]
    }

    fn now(&self) -> Files {
        files(&self.home.project())
    }

    /// Each file is as before the revert or as after it; none is lost or half written.
    fn assert_nothing_is_lost(&self, when: &str) {
        let now = self.now();
        assert_eq!(
            now.get(&self.home.project().join("mine.txt")),
            Some(&"mine\n".to_owned()),
            "{when}"
        );
        for (path, content) in &now {
            let is_aside = path.to_string_lossy().contains(".lathe-aside");
            let linked = path.to_string_lossy().contains("linked");
            let known = [self.before.get(path), self.agents.get(path)];
            // A file with several names is written in place; the record of the revert has both.
            assert!(
                is_aside || linked || known.contains(&Some(content)),
                "{when}: {}",
                path.display()
            );
        }
    }

    /// The next run reverts all of it, and undoes it exactly.
    async fn assert_finished(&self, when: &str) {
        let done = self.home.run(&self.revert()).await;
        assert!(done.status.success(), "{when}: {}", told(&done));
        assert_eq!(self.now(), self.before, "{when}");
        let back = self.home.run(&self.unrevert()).await;
        assert!(back.status.success(), "{when}: {}", told(&back));
        assert_eq!(self.now(), self.agents, "{when}");
    }

    async fn injected(&self, args: &[&str], calls: &str, what: &str, at: usize) -> Output {
        let (trace, inject) = (
            format!("trace={calls}"),
            format!("inject={calls}:{what}:when={at}"),
        );
        let strace = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        ended(self.home.inside("strace", &strace, args)).await
    }
}

async fn first_prompt(home: &Home, id: &str) -> String {
    let export = home.json(&["export", id]).await;
    let first = &export["messages"][0]["info"];
    assert_eq!(first["role"], "user");
    first["id"].as_str().unwrap().to_owned()
}

fn told(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// The points that are tried: all with `--soak`, until the program is no longer reached.
fn points() -> impl Iterator<Item = usize> {
    (1..).step_by(if soak() { 1 } else { 7 })
}

/// What changes files or makes them safe.
const CALLS: [&str; 5] = [
    "rename,renameat,renameat2",
    "write,pwrite64,writev",
    "fsync,fdatasync,syncfs",
    "unlink,unlinkat,rmdir",
    "mkdir,mkdirat,link,linkat,ftruncate",
];

#[tokio::test]
async fn a_revert_that_is_killed_anywhere_is_rolled_back_or_done() {
    let model = FakeModel::start().await;
    let worked = Worked::new(&model).await;
    for calls in CALLS {
        let mut killed = 0;
        for at in points() {
            let when = format!("killed at {calls} {at}");
            let args = worked.revert();
            let output = worked.injected(&args, calls, "signal=KILL", at).await;
            worked.assert_nothing_is_lost(&when);
            worked.assert_finished(&when).await;
            match output.status.signal() {
                Some(9) => killed += 1,
                _ => break,
            }
        }
        assert!(killed > 0, "{calls} was never reached, or nothing traces");
    }
}

#[tokio::test]
async fn an_unrevert_that_is_killed_anywhere_is_finished_by_the_next_run() {
    let model = FakeModel::start().await;
    let worked = Worked::new(&model).await;
    for calls in CALLS {
        for at in points() {
            let when = format!("killed at {calls} {at}");
            let done = worked.home.run(&worked.revert()).await;
            assert!(done.status.success(), "{when}: {}", told(&done));
            let args = worked.unrevert();
            let output = worked.injected(&args, calls, "signal=KILL", at).await;
            worked.assert_nothing_is_lost(&when);
            // There may be nothing left to undo.
            worked.home.run(&worked.unrevert()).await;
            assert_eq!(worked.now(), worked.agents, "{when}");
            worked.assert_finished(&when).await;
            if output.status.signal() != Some(9) {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_revert_on_a_failing_disk_says_what_it_did_not_do() {
    let model = FakeModel::start().await;
    let worked = Worked::new(&model).await;
    // Not of `write`: the runtime wakes its threads with it, which no disk makes fail. A full disk is
    // a real one below.
    for (calls, error) in [
        ("rename,renameat,renameat2", "ENOSPC"),
        ("openat", "EIO"),
        ("fsync,fdatasync,syncfs", "EIO"),
    ] {
        let points = (1..).step_by(if soak() { 1 } else { 37 });
        for at in points.take(if soak() { 400 } else { 3 }) {
            let when = format!("{error} at {calls} {at}");
            let inject = format!("error={error}");
            let output = worked.injected(&worked.revert(), calls, &inject, at).await;
            worked.assert_nothing_is_lost(&when);
            if output.status.success() {
                assert_eq!(worked.now(), worked.before, "{when}: {}", told(&output));
            } else {
                assert!(!told(&output).is_empty(), "{when}: failed without a word");
            }
            worked.assert_finished(&when).await;
        }
    }
}

/// Runs the program while a folder is on a disk with so little room. Afterwards the files of that
/// disk replace those of the folder.
async fn on_a_small_disk(worked: &Worked, folder: &Path, room: u64, args: &[&str]) -> Output {
    let script = r#"set -e
        cp -a "$PLACE" "$WORK/before"
        mount -t tmpfs -o "size=${SIZE}k" tmpfs "$PLACE"
        cp -a "$WORK/before/." "$PLACE"
        cd "$PROJECT"
        set +e
        "$@"
        code=$?
        cp -a "$PLACE" "$WORK/after"
        exit $code"#;
    let work = tempfile::tempdir().unwrap();
    let home = &worked.home;
    let mut command = home.inside("unshare", &[name_space(), "sh", "-c", script, "sh"], args);
    command
        .env("PLACE", folder)
        .env("PROJECT", home.project())
        .env("WORK", work.path())
        .env("SIZE", (4 * (blocks(folder) + room)).to_string());
    let output = ended(command).await;
    let after = work.path().join("after");
    assert!(after.exists(), "{}", told(&output));
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    let from = after.join(".");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(folder)
        .status();
    assert!(copied.unwrap().success());
    output
}

#[tokio::test]
async fn a_revert_on_a_full_disk_is_finished_when_there_is_room() {
    let model = FakeModel::start().await;
    let worked = Worked::new(&model).await;
    let mut refused = 0;
    for folder in [worked.home.data(), worked.home.project()] {
        for room in (0..if soak() { 60 } else { 24 }).step_by(if soak() { 1 } else { 5 }) {
            let when = format!("{room} blocks in {}", folder.display());
            let output = on_a_small_disk(&worked, &folder, room, &worked.revert()).await;
            worked.assert_nothing_is_lost(&when);
            match output.status.success() {
                true => assert_eq!(worked.now(), worked.before, "{when}: {}", told(&output)),
                false => {
                    refused += 1;
                    assert!(!told(&output).is_empty(), "{when}: failed without a word");
                }
            }
            worked.assert_finished(&when).await;
        }
    }
    assert!(refused > 0, "the disk was never full");
}

#[tokio::test]
async fn a_step_that_a_signal_ends_is_known_to_its_end_and_reverted_completely() {
    let model = FakeModel::start().await;
    let home = Home::new(&model);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let up = home.project().join("up");
        // It does not listen to signals, and writes until it is killed.
        let command = "trap '' TERM HUP INT; echo agent > a.txt; touch up; \
                       while :; do echo more >> log.txt; sleep 0.01; done";
        model.reply([call(
            "bash",
            json!({ "command": command, "description": "Work" }),
        )]);
        let mut command = home.command(&["run", "--yes", "work"]);
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !up.exists() {
            tokio::task::yield_now().await;
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let end = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
        end.await.unwrap();

        let id = home.sessions().await.remove(0);
        let export = home.json(&["export", &id]).await;
        let parts = export["messages"][1]["parts"].as_array().unwrap();
        let finish = parts.iter().find(|part| part["type"] == "step-finish");
        let tree = finish.map(|part| part["snapshot"].clone());
        assert!(
            matches!(tree, Some(Value::String(_))),
            "{signal:?}: {parts:#?}"
        );
        let reverted = home.run(&["revert", &id, "--last"]).await;
        assert!(reverted.status.success(), "{signal:?}: {}", told(&reverted));
        let left = files(&home.project());
        assert_eq!(
            left,
            Files::from([(home.project().join("a.txt"), "one\n".to_owned())])
        );
    }
}
