//! What a review costs: 100,000 changed lines in 300 files, against 100 lines in one file.
//!
//! "first screen" is the list of files, the shape of the first one and the rows that are on
//! screen; "again" is the same once more, as after an event. "revert one hunk" is what the core
//! does until the window can draw the result. Prints one JSON object a row.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::fmt::Write;
use std::time::{Duration, Instant};

use lathe_changes::Changes;
use lathe_protocol::Action;
use lathe_protocol::ipc::{
    LineRange, RevertLinesOptions, ReviewFile, ReviewScope, ReviewSelection,
};
use lathe_protocol::view::FoldReason;
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

const LARGE: (usize, usize) = (300, 167);
const SMALL: (usize, usize) = (1, 50);
/// In a file, every so many lines one is changed.
const EVERY: usize = 12;
const ROWS: usize = 60;
const ROUNDS: usize = 5;
const SCOPE: ReviewScope = ReviewScope::Session;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let small = runtime.block_on(measure(SMALL));
    let before = peak_memory();
    let large = runtime.block_on(measure(LARGE));
    let memory = peak_memory().saturating_sub(before);
    row(
        "first screen",
        ms(large.first),
        ms(small.first),
        "ms",
        Some(1.5),
    );
    row(
        "first screen, again",
        ms(large.again),
        ms(small.again),
        "ms",
        Some(1.5),
    );
    row("revert one hunk", ms(large.revert), 100.0, "ms", Some(1.0));
    row("undo it", ms(large.undo), 100.0, "ms", Some(1.0));
    let bytes = (LARGE.0 * LARGE.1 * EVERY * 30 * 2) as f64 / 1e6;
    row(
        "memory, against both texts",
        memory as f64 / 1e3,
        bytes,
        "MB",
        None,
    );
}

struct Cost {
    first: Duration,
    again: Duration,
    revert: Duration,
    undo: Duration,
}

async fn measure((files, changes): (usize, usize)) -> Cost {
    let model = FakeModel::start().await;
    let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
    let app = app.rule("*", "*", Action::Allow);
    for file in 0..files {
        let mut lines = String::new();
        for line in 0..changes * EVERY {
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "line {line} of file {file}, as it was");
        }
        app.write(&format!("src/{file:03}.txt"), lines);
    }
    let command = format!("sed -i '0~{EVERY}s/as it was/and as it is/' src/*.txt");
    model.reply([call(
        "bash",
        json!({ "command": command, "description": "edit" }),
    )]);
    model.reply([text("Done.")]);
    app.ask("go").await;
    let first = time(first_screen(&app)).await.0;
    let mut again = Duration::MAX;
    for _ in 0..ROUNDS {
        again = again.min(time(first_screen(&app)).await.0);
    }
    let (mut revert, mut undo) = (Duration::MAX, Duration::MAX);
    let (changes, id) = (&Changes::new(app.sessions.clone()), &app.session.id);
    let options = RevertLinesOptions::default();
    for _ in 0..ROUNDS {
        let files = first_screen(&app).await;
        let line = LineRange {
            from: EVERY,
            to: EVERY,
        };
        let hunk = ReviewSelection::Lines {
            path: files[0].path.clone(),
            version: files[0].version.clone(),
            old: vec![line],
            new: vec![line],
        };
        let done = time(changes.revert_lines(id, &SCOPE, &hunk, &options)).await;
        done.1.expect("the hunk is reverted");
        revert = revert.min(done.0);
        let done = time(changes.undo_review(id, &options)).await;
        done.1.expect("the revert is undone");
        undo = undo.min(done.0);
    }
    Cost {
        first,
        again,
        revert,
        undo,
    }
}

async fn first_screen(app: &TestApp) -> Vec<ReviewFile> {
    let (changes, id) = (&Changes::new(app.sessions.clone()), &app.session.id);
    let files = changes.review_files(id, &SCOPE, no_fold).await;
    let files = files.expect("the files are listed").files;
    let path = &files[0].path;
    let shape = changes.review_file(id, &SCOPE, path, false).await;
    let shape = shape.expect("the file has a shape");
    let file = (path.as_str(), shape.version.as_str());
    let rows = changes.review_rows(id, &SCOPE, file, false, 0, 0..ROWS);
    assert!(!rows.await.expect("the rows are read").1.is_empty());
    files
}

fn no_fold(_: &str, _: Option<&str>, _: Option<&str>, _: usize) -> Option<FoldReason> {
    None
}

async fn time<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let start = Instant::now();
    let done = work.await;
    (start.elapsed(), done)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// In kilobytes; 0 where the system does not tell.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn row(name: &str, ours: f64, baseline: f64, unit: &str, bar: Option<f64>) {
    let round = |number: f64| (number * 100.0).round() / 100.0;
    let mut row = json!({
        "name": name, "ours": round(ours), "baseline": round(baseline),
        "ratio": round(ours / baseline), "unit": unit,
    });
    if let Some(bar) = bar {
        row["bar"] = json!(bar);
    }
    println!("{row}");
}
