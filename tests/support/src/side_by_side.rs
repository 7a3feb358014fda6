//! Lathe and OpenCode do the same work: whole commands, alternating, with one fake model.
//!
//! Each run has a home folder of its own. The system measures wall time, CPU time of the process
//! and of its children, and the peak memory of the largest process.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark that cannot go on has nothing better to do than to say so"
)]

mod contender;
mod tree;
mod usage;

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::fake_model::{Answered, FakeModel, call, text};
use contender::{Contender, Kind};
pub use tree::generate;
pub use usage::{Usage, measure};

type Failure = Box<dyn std::error::Error>;

const DELTAS: usize = 20_000;
const STEPS: usize = 200;
/// How many steps at the beginning and at the end of a turn are compared.
const EDGE: usize = 20;
const SESSIONS: usize = 2_000;
const MESSAGES: usize = 5_000;

/// Measures everything that both programs can do and prints one row for each.
pub async fn compare(ours: &Path, theirs: &Path) -> Result<(), Failure> {
    let model = FakeModel::start().await;
    model.title("Measured");
    model.forget();
    let folder = tempfile::tempdir()?;
    let ours = Contender::new(Kind::Lathe, ours, &folder.path().join("ours"), model.url())?;
    let theirs = Contender::new(
        Kind::OpenCode,
        theirs,
        &folder.path().join("theirs"),
        model.url(),
    )?;
    let pair = Pair {
        has_files: theirs.keeps_files()?,
        ours,
        theirs,
    };
    eprintln!("against OpenCode {}", pair.theirs.version()?);
    // The first start (caches, unpacking, migrations) is not compared.
    for contender in pair.both() {
        model.reply([text("Hello.")]);
        contender.run("hello").await?;
    }
    start(&model, &pair).await?;
    deltas(&model, &pair).await?;
    steps(&model, &pair).await?;
    if pair.has_files {
        history(&pair).await?;
    } else {
        eprintln!("list and load are left out: this version does not keep its sessions in files");
    }
    model.take_violations();
    Ok(())
}

struct Pair {
    ours: Contender,
    theirs: Contender,
    /// Theirs is of the JSON era.
    has_files: bool,
}

impl Pair {
    fn both(&self) -> [&Contender; 2] {
        [&self.ours, &self.theirs]
    }

    /// How a turn goes is measured by what OpenCode is today.
    fn bar_of_today(&self, bar: &'static str) -> &'static str {
        if self.has_files { "" } else { bar }
    }
}

/// The runs of one kind of work by both programs.
#[derive(Default)]
struct Runs([Vec<Usage>; 2]);

impl Runs {
    fn row(&self, name: &str, unit: &str, bar: &str, of: impl Fn(&Usage) -> f64) {
        let [ours, theirs] = self
            .0
            .each_ref()
            .map(|runs| median(runs.iter().map(&of).collect()));
        let row = json!({
            "name": name, "ours": ours, "theirs": theirs, "unit": unit,
            "ratio": ours / theirs, "bar": bar,
        });
        println!("{row}");
    }

    /// All measurements of a run, under the name of its work.
    fn rest(&self, work: &str, shown: &str) {
        let rest: [Measure; 3] = [
            ("wall", "s", |run| run.wall),
            ("cpu", "s", |run| run.cpu),
            ("memory", "MB", |run| run.memory),
        ];
        for (what, unit, of) in rest.into_iter().filter(|(what, ..)| *what != shown) {
            self.row(&format!("{work}: {what}"), unit, "", of);
        }
    }
}

/// A name, its unit, and where it is read.
type Measure = (&'static str, &'static str, fn(&Usage) -> f64);

async fn start(model: &FakeModel, pair: &Pair) -> Result<(), Failure> {
    let mut runs = Runs::default();
    for _ in 0..7 {
        for (contender, runs) in pair.both().into_iter().zip(&mut runs.0) {
            model.reply([text("Hello.")]);
            runs.push(contender.run("hello").await?);
        }
    }
    runs.row("start", "s", pair.bar_of_today("<= 0.02"), |run| run.wall);
    runs.rest("start", "wall");
    Ok(())
}

async fn deltas(model: &FakeModel, pair: &Pair) -> Result<(), Failure> {
    let mut runs = Runs::default();
    for _ in 0..5 {
        for (contender, runs) in pair.both().into_iter().zip(&mut runs.0) {
            model.reply((0..DELTAS).map(|_| text("lathe. ")));
            runs.push(contender.run("tell me all").await?);
        }
    }
    runs.row("deltas_cpu", "s", pair.bar_of_today("<= 0.02"), |run| {
        run.cpu
    });
    runs.row("memory", "MB", pair.bar_of_today("<= 0.1"), |run| {
        run.memory
    });
    runs.row("deltas: wall", "s", "", |run| run.wall);
    Ok(())
}

async fn steps(model: &FakeModel, pair: &Pair) -> Result<(), Failure> {
    let mut runs = Runs::default();
    let mut growth = [Vec::new(), Vec::new()];
    for round in 0..3 {
        for (at, contender) in pair.both().into_iter().enumerate() {
            let mut asked: Vec<Answered> = (0..STEPS)
                .map(|step| {
                    let file = format!("file{step:03}.txt");
                    model.reply([call("read", json!({ "filePath": contender.file(&file) }))])
                })
                .collect();
            asked.push(model.reply([text("Read.")]));
            let times = tokio::spawn(times(asked));
            let run = contender.run(&format!("read them, {round}")).await?;
            growth[at].push(flatness(&times.await?));
            runs.0[at].push(run);
        }
    }
    runs.row("steps_wall", "s", pair.bar_of_today("<= 0.03"), |run| {
        run.wall
    });
    runs.rest("steps", "wall");
    let [ours, theirs] = growth.map(median);
    let row: Value = json!({
        "name": "steps_flat", "ours": ours, "theirs": theirs, "unit": "last 20 / first 20",
        "ratio": ours / theirs, "bar": pair.bar_of_today("ours <= 1.5"),
    });
    println!("{row}");
    Ok(())
}

/// When each request arrived.
async fn times(asked: Vec<Answered>) -> Vec<Instant> {
    let mut times = Vec::new();
    for reply in asked {
        reply.asked().await;
        times.push(Instant::now());
    }
    times
}

/// How much longer the last steps took than the first.
fn flatness(times: &[Instant]) -> f64 {
    let span = |from: usize, to: usize| (times[to] - times[from]).as_secs_f64();
    let last = times.len() - 1;
    // The first step opens connections and files that the later ones reuse.
    span(last - EDGE, last) / span(1, 1 + EDGE)
}

/// Both programs read the same files.
async fn history(pair: &Pair) -> Result<(), Failure> {
    let data = pair.theirs.data_dir();
    let project = pair.theirs.project();
    let id = generate(&data, &project, SESSIONS, MESSAGES)?;
    let ours = pair.ours.reading(&data, &project);
    let (mut list, mut load) = (Runs::default(), Runs::default());
    for _ in 0..5 {
        for (at, contender) in [&ours, &pair.theirs].into_iter().enumerate() {
            list.0[at].push(contender.list(SESSIONS).await?);
            load.0[at].push(contender.export(&id, MESSAGES).await?);
        }
    }
    list.row("list", "s", "<= 0.1", |run| run.wall);
    list.rest("list", "wall");
    load.row("load", "s", "<= 0.1", |run| run.wall);
    load.rest("load", "wall");
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
