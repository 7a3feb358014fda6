//! `@` in a project of 100,000 files: what a keystroke costs.
//!
//! Prints one JSON object a row, in milliseconds: a question to the list that is there,
//! against a plain walk over the same tree, which is what it would cost without the list.

// A benchmark that cannot go on has nothing better to do than to say so.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use lathe_session::{Options, Sessions};
use serde_json::json;

const FOLDERS: usize = 500;
const FILES: usize = 200;
const ROUNDS: usize = 11;
/// Nobody notices less while typing.
const BAR: f64 = 50.0;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, project) = (folder.path().join("data"), folder.path().join("project"));
    make_tree(&project);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut options = Options::new(&data);
        options.config_home = None;
        let sessions = Sessions::open(options).await.expect("the core");
        let project = sessions.open_project(&project).await.expect("a project");
        let ask = async |query: &str| {
            let began = Instant::now();
            let found = sessions.find_mentions(&project, query, 50).await;
            assert!(!found.expect("an answer").is_empty(), "{query}");
            began.elapsed()
        };
        ask("").await;
        let walk = median(|| plain_walk(Path::new(&project.worktree)));
        for query in ["component", "f42c7", "mod17/comp"] {
            let mut times = Vec::new();
            for _ in 0..ROUNDS {
                times.push(ask(query).await);
            }
            times.sort();
            row(query, times[ROUNDS / 2], walk);
        }
    });
}

fn make_tree(root: &Path) {
    for folder in 0..FOLDERS {
        let path = root.join(format!("packages/mod{}/folder{folder}", folder % 40));
        std::fs::create_dir_all(&path).expect("a folder");
        for file in 0..FILES {
            let name = format!("component_{file}.txt");
            std::fs::write(path.join(name), "").expect("a file");
        }
    }
}

fn plain_walk(root: &Path) -> Duration {
    let began = Instant::now();
    let mut count = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => count += 1,
            }
        }
    }
    assert_eq!(count, FOLDERS * FILES);
    began.elapsed()
}

fn median(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS).map(|_| measure()).collect();
    times.sort();
    times[ROUNDS / 2]
}

fn row(query: &str, ours: Duration, baseline: Duration) {
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    let (ours, baseline) = (millis(ours), millis(baseline));
    let row = json!({
        "name": format!("@{query} in 100,000 files, warm"),
        "ours": ours,
        "baseline": baseline,
        "unit": "ms",
        "ratio": ours / baseline,
        "bar": format!("< {BAR} ms"),
    });
    println!("{row}");
}
