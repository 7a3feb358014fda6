//! Compares searches with the `rg` program, and measures reading and editing a big file.
//!
//! Prints one JSON row per measurement: `ours` and `baseline` in milliseconds, and their `ratio`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

#[path = "../tests/tools/support.rs"]
#[allow(dead_code)]
mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Project;

const FILES: usize = 50_000;
const ROUNDS: u32 = 11;
const AGAINST_RG: &str = "≤ 1.2 × rg";
const BIG_FILE: &str = "< 10 ms";

/// Elapsed time and processor time.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let project = Project::new();
    let big: String = (0..25_000)
        .map(|n| format!("line {n} of a file of one megabyte\n"))
        .collect();
    let project = project.file("big.txt", big);
    make_tree(&project.cx.root);
    // The rare word is in one file of a thousand, the common one in every tenth.
    let searches = [
        (
            "grep rare",
            "grep",
            json!({ "pattern": "needle_in_hay" }),
            vec!["-n", "needle_in_hay"],
        ),
        (
            "grep common",
            "grep",
            json!({ "pattern": "fn common_\\w+\\(" }),
            vec!["-n", "fn common_\\w+\\("],
        ),
        (
            "grep include",
            "grep",
            json!({ "pattern": "value", "include": "*.toml" }),
            vec!["-n", "value", "-g", "*.toml"],
        ),
        (
            "glob",
            "glob",
            json!({ "pattern": "**/*.toml" }),
            vec!["--files", "-g", "**/*.toml"],
        ),
        (
            "glob all",
            "glob",
            json!({ "pattern": "**/*" }),
            vec!["--files"],
        ),
    ];
    for (name, tool, input, arguments) in searches {
        let (ours, baseline) = compare(
            ROUNDS,
            || runtime.block_on(async { drop(project.run(tool, input.clone()).await.unwrap()) }),
            || ripgrep(&project.cx.root, &arguments),
        );
        row(
            &format!("{name} wall"),
            ours.wall,
            baseline.wall,
            AGAINST_RG,
        );
        row(&format!("{name} cpu"), ours.cpu, baseline.cpu, AGAINST_RG);
    }
    let read = json!({ "filePath": "big.txt" });
    let (ours, baseline) = compare(
        100,
        || runtime.block_on(async { drop(project.run("read", read.clone()).await.unwrap()) }),
        || drop(std::fs::read(project.path("big.txt")).unwrap()),
    );
    row("read 1 MB cpu", ours.cpu, baseline.cpu, BIG_FILE);
    let mut turn = 0;
    let (ours, baseline) = compare(
        100,
        || {
            // Alternates between two versions of a line in the middle.
            let (old, new) = match turn % 2 {
                0 => ("line 12345 of", "line XXXXX of"),
                _ => ("line XXXXX of", "line 12345 of"),
            };
            turn += 1;
            let edit = json!({ "filePath": "big.txt", "oldString": old, "newString": new });
            runtime.block_on(async { drop(project.run("edit", edit).await.unwrap()) });
        },
        || {
            let bytes = std::fs::read(project.path("big.txt")).unwrap();
            std::fs::write(project.path("copy.txt"), bytes).unwrap();
        },
    );
    row("edit 1 MB cpu", ours.cpu, baseline.cpu, BIG_FILE);
}

fn make_tree(root: &Path) {
    let extensions = ["rs", "ts", "md", "json", "toml"];
    let filler = "let value = compute(some, words); // an ordinary line of code\n".repeat(30);
    std::fs::write(root.join(".gitignore"), "ignored/\n").unwrap();
    for n in 0..FILES {
        let top = if n % 50 == 0 { "ignored" } else { "crates" };
        let directory = root
            .join(top)
            .join(format!("d{}", n % 40))
            .join(format!("e{}", n % 1_000));
        if n < 2_000 {
            std::fs::create_dir_all(&directory).unwrap();
        }
        let mut text = filler.clone();
        if n % 1_000 == 1 {
            text.push_str("needle_in_hay\n");
        }
        if n % 10 == 1 {
            text.push_str("fn common_name() {}\n");
        }
        let extension = extensions[(n / 7) % extensions.len()];
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("f{n}.{extension}")), text).unwrap();
    }
}

fn ripgrep(root: &Path, arguments: &[&str]) {
    let status = Command::new("rg")
        .args(["--hidden", "--no-require-git", "--glob", "!.git"])
        .args(arguments)
        .arg(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("the rg program is needed for comparison");
    assert!(status.success());
}

/// Alternates between both, so that they run under the same load. Gives the median of the elapsed
/// time, and the mean of the processor time, because the system counts it in ticks of 10 ms.
fn compare(rounds: u32, mut ours: impl FnMut(), mut baseline: impl FnMut()) -> (Cost, Cost) {
    ours();
    baseline();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(cost(&mut ours));
        b.push(cost(&mut baseline));
    }
    (typical(&a), typical(&b))
}

fn typical(costs: &[Cost]) -> Cost {
    let mut walls: Vec<Duration> = costs.iter().map(|cost| cost.wall).collect();
    walls.sort();
    let cpu: Duration = costs.iter().map(|cost| cost.cpu).sum();
    Cost {
        wall: walls[walls.len() / 2],
        cpu: cpu / u32::try_from(costs.len()).unwrap(),
    }
}

fn cost(work: &mut impl FnMut()) -> Cost {
    let (start, before) = (Instant::now(), processor_time());
    work();
    Cost {
        wall: start.elapsed(),
        cpu: processor_time() - before,
    }
}

/// For this process and the children that it has waited for.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|f| f.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Duration::from_millis((12..=15).map(ticks).sum::<u64>() * 10)
}

fn row(name: &str, ours: Duration, baseline: Duration, bar: &str) {
    let ms = |time: Duration| (time.as_secs_f64() * 1e5).round() / 100.0;
    let ratio = (ours.as_secs_f64() / baseline.as_secs_f64().max(1e-6) * 100.0).round() / 100.0;
    let row: Value = json!({
        "name": name, "ours": ms(ours), "baseline": ms(baseline), "unit": "ms",
        "ratio": ratio, "bar": bar,
    });
    println!("{row}");
}
