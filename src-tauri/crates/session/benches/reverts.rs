//! What a summary, a preview, a revert and an unrevert of a whole session cost, against `git
//! checkout` of the same change. Half of the files are edited by a command of the agent, a
//! quarter is new and a quarter deleted.
//!
//! Prints one JSON object a row. 1,000 and 20,000 files; `LATHE_BENCH_SMALL` takes 200 and 4,000.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lathe_protocol::MessageId;
use lathe_protocol::ipc::RevertTarget;
use lathe_records::Records;
use lathe_records::bus::Bus;
use lathe_records::clock::SystemClock;
use lathe_review::Review;
use lathe_review::summary::{self, SummaryInput, Turns};
use lathe_store::Store;
use lathe_test_support::git::git;
use lathe_test_support::scripted_agent::Agent;

/// In multiples of `git checkout`.
const BAR: f64 = 2.0;
/// From the small number of files to the large one, time may grow so much more than the number.
const GROWTH: f64 = 1.5;
const ROUNDS: usize = 3;

fn main() {
    let sizes = match std::env::var_os("LATHE_BENCH_SMALL") {
        Some(_) => [200, 4_000],
        None => [1_000, 20_000],
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let [few, many] = sizes.map(|files| runtime.block_on(measure(files)));
    let times = sizes[1] as f64 / sizes[0] as f64;
    for ((name, few), (_, many)) in few.into_iter().zip(many) {
        let name = format!(
            "{name} of a session, growth from {} to {} files",
            sizes[0], sizes[1]
        );
        row(&name, (many / few, times), "times", GROWTH);
    }
}

/// Returns the times, for the growth.
async fn measure(files: usize) -> [(&'static str, f64); 4] {
    let agent = Agent::start().await;
    let app = &agent.app;
    write(&app.path(""), files, false);
    let changed = tempfile::tempdir().expect("a folder");
    write(changed.path(), files, true);
    let turn = agent.turn(&command(changed.path())).await;
    let theirs = checkout(files);

    let target = RevertTarget::Message {
        message_id: turn.clone(),
        keep_files: false,
    };
    let (sessions, id) = (&app.sessions, &app.session.id);
    let summary = summed_up(&agent, &turn).await;
    let (mut previews, mut reverts, mut unreverts) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let preview = sessions.preview_revert(id, &target).await;
        previews.push(seconds(start));
        let preview = preview.expect("a preview");
        assert_eq!((preview.complete, preview.files.len()), (true, files));
        let start = Instant::now();
        let reverted = sessions.revert(id, &target).await;
        reverts.push(seconds(start));
        assert!(reverted.expect("a revert").complete);
        let start = Instant::now();
        let undone = sessions.unrevert(id).await;
        unreverts.push(seconds(start));
        assert!(undone.expect("an unrevert").complete);
    }
    let times = [
        ("summary", summary),
        ("preview", middle(previews)),
        ("revert", middle(reverts)),
        ("unrevert", middle(unreverts)),
    ];
    for (name, ours) in times {
        let name = format!("{name} of a session, {files} files");
        row(&name, (ours, theirs), "s", BAR);
    }
    times
}

/// The summary of changes, by a program that has just started.
async fn summed_up(agent: &Agent, turn: &MessageId) -> f64 {
    let app = &agent.app;
    let messages = app.messages().await;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let store = Store::open(app.data_dir(), lathe_store::Options::default()).await;
        let store = store.expect("the store opens");
        let records = Records::new(store, Bus::default(), Arc::new(SystemClock));
        let review = Arc::new(Review::new(records, app.data_dir().to_owned()));
        let (id, worktree) = (&app.session.id, Path::new(&app.project.worktree));
        let start = Instant::now();
        let turns = Turns::One(turn.clone());
        summary::start(&review, SummaryInput::new(id, worktree, &messages, &turns));
        summary::wait(&review, id).await;
        times.push(seconds(start));
        let stored = summary::read_stored(&review, id, Some(turn)).await;
        assert!(!stored.expect("a summary").is_empty());
    }
    middle(times)
}

fn text(n: usize, version: usize) -> String {
    (0..40).fold(String::new(), |text, line| {
        let version = if line == 7 { version } else { 0 };
        text + &format!("line {line} of file {n}, in version {version}\n")
    })
}

/// Three of four files are there before the change; the last quarter is new.
fn write(tree: &Path, files: usize, changed: bool) {
    fs::create_dir_all(tree.join("folder")).expect("a folder");
    for n in 0..files {
        let path = tree.join(format!("folder/file{n}.rs"));
        let content = match (n % 4, changed) {
            (0 | 1, _) => text(n, usize::from(changed)),
            (2, false) | (3, true) => text(n, 0),
            _ => {
                let _ = fs::remove_file(path);
                continue;
            }
        };
        fs::write(path, content).expect("a file");
    }
}

/// What is in the folder is written over the project; what is not there is removed.
fn command(changed: &Path) -> String {
    format!(
        "cp -r {from}/folder . && for file in folder/*; do \
         [ -e {from}/$file ] || echo $file; done | xargs rm",
        from = changed.display()
    )
}

/// The mean of both directions.
fn checkout(files: usize) -> f64 {
    let tree = tempfile::tempdir().expect("a folder");
    let git = |args: &[&str]| git(tree.path(), args).expect("git succeeds");
    git(&["init", "-q"]);
    for (name, changed) in [("before", false), ("after", true)] {
        write(tree.path(), files, changed);
        git(&["add", "-A"]);
        git(&["commit", "-qm", name]);
        git(&["tag", name]);
    }
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        git(&["checkout", "-q", "before"]);
        git(&["checkout", "-q", "after"]);
        seconds(start) / 2.0
    });
    middle(times.collect())
}

fn seconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(name: &str, (ours, baseline): (f64, f64), unit: &str, bar: f64) {
    let ratio = ours / baseline;
    println!(
        r#"{{"name":"{name}","ours":{ours:.6},"baseline":{baseline:.6},"unit":"{unit}","ratio":{ratio:.4},"bar":{bar}}}"#
    );
}
