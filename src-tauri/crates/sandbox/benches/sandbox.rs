//! Starting `true` inside against starting it outside, in turns.
//!
//! Prints one JSON row an engine: `ours` and `baseline` in milliseconds, `ratio` of the two.
//! What is measured is the whole start: planning, preparing, running, waiting.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("The sandbox is measured on Linux only.");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use lathe_sandbox::{Confinement, Engine, Plan, Probe};
    use serde_json::json;

    const ROUNDS: usize = 200;
    /// `cargo bench` says that it measures. Else it is enough to see that it runs.
    const MEASURE: &str = "--bench";
    const BAR: &str = "≤ 5 ms over";
    /// Like a project's in the app: some are there, most are not.
    const PROTECTED: [&str; 8] = [
        ".git",
        ".lathe",
        ".opencode",
        ".husky",
        ".githooks",
        ".vscode/tasks.json",
        ".claude",
        ".cursor",
    ];

    pub fn main() {
        let scratch = tempfile::tempdir().unwrap();
        let project = scratch.path().join("project");
        for folder in ["project/.git/hooks", "project/.vscode", "project/src"] {
            std::fs::create_dir_all(scratch.path().join(folder)).unwrap();
        }
        let probe = Probe::this_machine();
        for (engine, name) in [
            (Engine::Bubblewrap, "start in bubblewrap"),
            (Engine::Landlock, "start in Landlock"),
        ] {
            match probe.failure(engine) {
                Some(reason) => eprintln!("{name} is not measured: {reason}"),
                None => measure(engine, name, &project, probe),
            }
        }
    }

    fn measure(engine: Engine, name: &str, project: &Path, probe: &Probe) {
        let confinement = confinement(project);
        let mut ours = Vec::new();
        let mut baseline = Vec::new();
        let mut preparing = Vec::new();
        let rounds = match std::env::args().any(|word| word == MEASURE) {
            true => ROUNDS,
            false => 1,
        };
        for _ in 0..rounds {
            baseline.push(timed(|| wait(Command::new("/bin/true"), project)));
            ours.push(timed(|| {
                let start = Instant::now();
                let plan = Plan::new(engine, &confinement, probe).unwrap();
                let launch = plan.launch().unwrap();
                preparing.push(start.elapsed());
                wait(launch.command("/bin/true"), project);
            }));
        }
        let ours = median(ours);
        let baseline = median(baseline);
        let row = json!({
            "name": name,
            "ours": ours,
            "baseline": baseline,
            "unit": "ms",
            "ratio": ours / baseline,
            "over": ours - baseline,
            "preparing": median(preparing),
            "bar": BAR,
        });
        println!("{row}");
    }

    /// As the app has it, with the secrets of the person who measures.
    fn confinement(project: &Path) -> Confinement {
        let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let mut confinement = Confinement::new(project);
        let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from);
        confinement.writable.extend(temporary);
        confinement.protected = PROTECTED.iter().map(|name| project.join(name)).collect();
        confinement.hide_secrets(&home, &[]);
        confinement
    }

    fn wait(mut command: Command, folder: &Path) {
        command.current_dir(folder).stdin(Stdio::null());
        assert!(command.status().unwrap().success());
    }

    fn timed(work: impl FnOnce()) -> Duration {
        let start = Instant::now();
        work();
        start.elapsed()
    }

    fn median(mut times: Vec<Duration>) -> f64 {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1000.0
    }
}
