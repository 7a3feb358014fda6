//! Deciding a call: a command is analysed and judged by the rules of three sessions, one of which
//! handed the work on to the next.
//!
//! Prints one JSON row: `ours` in microseconds a decision, `ratio` of it to the bar.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Located, PathLookup, Surroundings, analyse};
use lathe_policy::{Freedom, agents, defaults, rule};
use lathe_protocol::{Action, Rule, ShellDialect};
use serde_json::json;

const ROUNDS: usize = 50;
const BAR_IN_MICROSECONDS: f64 = 1_000.0;
const BAR: &str = "< 1 ms";
/// `cargo bench` says that it measures. Else it is enough to see that it runs.
const MEASURE: &str = "--bench";

/// Looking at the disk is the caller's affair, and not measured.
struct Nowhere;

impl PathLookup for Nowhere {
    fn locate(&self, written: &str, from: &Path) -> Option<Located> {
        Some(Located {
            path: from.join(written),
            shown: written.to_owned(),
            inside: true,
            exists: true,
            is_directory: false,
        })
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

fn main() {
    let commands = [
        include_str!("../tests/shell_commands/usual_looking.txt"),
        include_str!("../tests/shell_commands/usual_working.txt"),
    ];
    let commands: Vec<&str> = commands.iter().flat_map(|text| text.lines()).collect();
    let rules = |agent: &str| -> Vec<Rule> {
        let mut rules = defaults(Freedom::default());
        rules.extend(agents::rules(agent).unwrap());
        rules.extend(
            ["rm -rf *", "git push --force *", "npm publish *"]
                .map(|pattern| rule("bash", pattern, Action::Deny)),
        );
        rules
    };
    let chain = [rules("explore"), rules("general"), rules("build")];
    let askers: Vec<Asker> = chain
        .iter()
        .map(|rules| Asker {
            name: "agent",
            rules,
        })
        .collect();
    let approved: Vec<Rule> = ["git *", "cargo *", "npm *", "make *", "pytest *"]
        .map(|pattern| rule("bash", pattern, Action::Allow))
        .to_vec();
    let rounds = match std::env::args().any(|word| word == MEASURE) {
        true => ROUNDS,
        false => 1,
    };
    // The tables are read once in the life of a process.
    judge("ls", &askers, &approved);
    let mut slowest = 0.0_f64;
    let mut all = Vec::new();
    for command in &commands {
        let mut times: Vec<f64> = (0..rounds)
            .map(|_| timed(|| judge(command, &askers, &approved)))
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        slowest = slowest.max(median);
        all.push(median);
    }
    let ours = all.iter().sum::<f64>() / f64::from(u32::try_from(all.len()).unwrap());
    for (name, ours) in [
        ("deciding a call", ours),
        ("deciding the slowest of them", slowest),
    ] {
        let row = json!({
            "name": name,
            "ours": ours,
            "baseline": BAR_IN_MICROSECONDS,
            "unit": "µs",
            "ratio": ours / BAR_IN_MICROSECONDS,
            "bar": BAR,
        });
        println!("{row}");
    }
}

fn judge(command: &str, askers: &[Asker], approved: &[Rule]) {
    let surroundings = Surroundings {
        directory: Path::new("/project"),
        home: Some(Path::new("/home/ada")),
        dialect: ShellDialect::Posix,
        paths: &Nowhere,
    };
    let needs = Need::of_command(&analyse(black_box(command), &surroundings));
    black_box(decide(&Call {
        askers,
        mode: Mode::Ask,
        approved,
        granted: &[],
        needs: &needs,
    }));
}

/// In microseconds.
fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e6
}
