//! How long rendering takes, each figure against a simple way of doing the same in the same run.
//!
//! Prints one JSON row per line: `{"name", "ours", "baseline", "ratio"}`, times in milliseconds
//! (rates in MB/s). The ratio is ours to the baseline.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use lathe_render::ansi;
use lathe_render::diff::{DiffOptions, file_diff};
use lathe_render::highlight;
use lathe_render::markdown::{Options, Stream, render};

fn main() {
    // Grammars are loaded only once in the app, so this is not measured.
    black_box(highlight::lines("fn main() {}", "rs"));
    streaming();
    long_blocks();
    diff();
    highlighting();
    terminal();
}

fn streaming() {
    const DELTAS: usize = 2_000;
    let answer = answer(200 * 1024);
    let deltas = deltas(&answer, DELTAS);
    let ours = millis(|| {
        let mut stream = Stream::new(Options::default());
        for delta in &deltas {
            black_box(stream.push(delta));
        }
        black_box(stream.finish());
    });
    // Rendering the whole text for each delta would take long; a sample of the deltas is enough.
    const SAMPLE: usize = 20;
    let sampled = millis(|| {
        let mut end = 0;
        for (at, delta) in deltas.iter().enumerate() {
            end += delta.len();
            if at % (DELTAS / SAMPLE) == DELTAS / SAMPLE / 2 {
                black_box(render(&answer[..end], &Options::default()));
            }
        }
    });
    row(
        "stream 200 KB in 2,000 deltas / render all each time",
        ours,
        sampled * (DELTAS / SAMPLE) as f64,
    );
    let once = millis(|| {
        black_box(render(&answer, &Options::default()));
    });
    row("stream 200 KB in 2,000 deltas / render once", ours, once);
}

/// A push into a long open block, against one into a short one.
fn long_blocks() {
    let fence = |lines: usize| {
        format!(
            "```rust\n{}",
            "let value = compute(1, \"two\");\n".repeat(lines)
        )
    };
    let list = |items: usize| "- an item with `code` and **bold**\n".repeat(items);
    let table = |rows: usize| {
        format!(
            "| a | b |\n|---|---|\n{}",
            "| cell | `cell` |\n".repeat(rows)
        )
    };
    let cases: [(&str, String, String, &str); 3] = [
        (
            "push into a fence of 5,000 lines / of 50",
            fence(5_000),
            fence(50),
            "let x = 1;\n",
        ),
        (
            "push into a list of 500 items / of 25",
            list(500),
            list(25),
            "- more text\n",
        ),
        (
            "push into a table of 500 rows / of 100",
            table(500),
            table(100),
            "| c | d |\n",
        ),
    ];
    for (name, long, short, delta) in cases {
        row(name, push_cost(&long, delta), push_cost(&short, delta));
    }
}

fn push_cost(open: &str, delta: &str) -> f64 {
    const PUSHES: usize = 200;
    let mut stream = Stream::new(Options::default());
    stream.push(open);
    let all = millis(|| {
        for _ in 0..PUSHES {
            black_box(stream.push(delta));
        }
    });
    all / PUSHES as f64
}

fn diff() {
    let before: String = (0..10_000)
        .map(|n| format!("    let value_{n} = compute({n});\n"))
        .collect();
    let after: String = before
        .lines()
        .enumerate()
        .map(|(n, line)| if n % 10 == 0 { line.replace("compute", "derive") } else { line.to_owned() } + "\n")
        .collect();
    let options = DiffOptions {
        unfold: true,
        ..DiffOptions::new("a.rs")
    };
    let ours = millis(|| {
        black_box(file_diff(Some(&before), Some(&after), &options));
    });
    let baseline = millis(|| {
        black_box(
            similar::TextDiff::from_lines(&before, &after)
                .unified_diff()
                .to_string(),
        );
    });
    row(
        "10,000-line diff, coloured and marked / plain unified text",
        ours,
        baseline,
    );
    let rewritten: String = (0..10_000)
        .map(|n| format!("other {} {n}\n", n * 7 % 1_000))
        .collect();
    let ours = millis(|| {
        black_box(file_diff(Some(&before), Some(&rewritten), &options));
    });
    row(
        "10,000 lines rewritten / a tenth changed",
        ours,
        baseline.max(f64::EPSILON),
    );
}

fn highlighting() {
    const SOURCES: [(&str, &str); 3] = [
        ("rs", include_str!("../src/markdown/write.rs")),
        ("md", include_str!("../tests/samples/answer.md")),
        ("toml", include_str!("../Cargo.toml")),
    ];
    for (lang, source) in SOURCES {
        let code = source.repeat(1 + 50_000 / source.len());
        let megabytes = code.len() as f64 / 1e6;
        let ours = millis(|| {
            black_box(highlight::lines(&code, lang));
        });
        let plain = millis(|| {
            black_box(highlight::lines(&code, "no language"));
        });
        row(
            &format!("highlight {lang}, MB/s / without colours"),
            megabytes / ours * 1e3,
            megabytes / plain * 1e3,
        );
    }
}

fn terminal() {
    let output = "\u{1b}[32mok\u{1b}[0m test name ... 12 ms\n".repeat(5_000);
    let html = millis(|| {
        black_box(ansi::to_html(&output));
    });
    let plain = millis(|| {
        black_box(ansi::strip(&output));
    });
    row(
        "terminal output of 5,000 lines, coloured / stripped",
        html,
        plain,
    );
}

/// An answer as models write them, at least `bytes` long.
fn answer(bytes: usize) -> String {
    const SAMPLE: &str = include_str!("../tests/samples/answer.md");
    format!("{SAMPLE}\n").repeat(1 + bytes / SAMPLE.len())
}

fn deltas(text: &str, count: usize) -> Vec<&str> {
    let size = text.len() / count;
    let mut rest = text;
    let mut deltas = Vec::with_capacity(count);
    while deltas.len() + 1 < count {
        let mut end = size;
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (delta, tail) = rest.split_at(end);
        deltas.push(delta);
        rest = tail;
    }
    deltas.push(rest);
    deltas
}

fn millis(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn row(name: &str, ours: f64, baseline: f64) {
    let row = serde_json::json!({
        "name": name,
        "ours": (ours * 1e3).round() / 1e3,
        "baseline": (baseline * 1e3).round() / 1e3,
        "ratio": (ours / baseline * 1e3).round() / 1e3,
    });
    println!("{row}");
}
