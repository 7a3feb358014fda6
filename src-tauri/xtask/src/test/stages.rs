//! The stages of a test run, each with its own runner to start and to count.

use std::process::Command;

use super::Options;
use super::real_clients;
use super::real_model::RealModel;
use crate::tally::{self, CargoLine, Tally};
use crate::{tool, ui};

/// One runner's share of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Format,
    Types,
    UiTests,
    /// The page that the shell embeds.
    Page,
    /// Without the shell, nothing here needs the window's libraries.
    RustTests {
        shell: bool,
    },
    Lints {
        shell: bool,
    },
    /// The app itself, driven from outside.
    Window,
    /// Turns against a model server that nobody here wrote.
    RealModel,
    /// Our server, used by clients that nobody here wrote.
    RealClients,
}

impl Stage {
    pub fn title(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Types => "UI types",
            Self::UiTests => "UI tests",
            Self::Page => "UI build",
            Self::RustTests { .. } => "Rust tests",
            Self::Lints { .. } => "lints",
            Self::Window => "the real window",
            Self::RealModel => "a real model",
            Self::RealClients => "real clients",
        }
    }

    /// Runs to the end, whatever happens: a stage that cannot run is a failed one.
    pub fn run(self, options: &Options) -> Tally {
        match self {
            Self::Format => check(tool::cargo().args(["fmt", "--all", "--check"])),
            Self::Types => check(tool::npm().args(["exec", "--no", "--", "tsc", "--noEmit"])),
            Self::UiTests => ui_tests(options),
            Self::Page => said(ui::build_if_stale().map(|()| Tally::check(true))),
            Self::RustTests { shell } => {
                cargo_test(workspace(tool::cargo().arg("test"), shell), options, &[])
            }
            Self::Lints { shell } => lints(shell),
            Self::Window => window(options),
            Self::RealModel => real_model(options),
            Self::RealClients => said(real_clients::run()),
        }
    }
}

fn workspace(command: &mut Command, shell: bool) -> &mut Command {
    command.arg("--workspace");
    if !shell {
        command.args(["--exclude", "lathe"]);
    }
    command
}

/// The window's tests are asked for by name: being left out of plain test runs leaves them
/// out of "all targets", too.
fn lints(shell: bool) -> Tally {
    let mut total = Tally::default();
    for targets in [&["--all-targets"][..], &["--test", "e2e"]] {
        let mut clippy = tool::cargo();
        workspace(clippy.arg("clippy"), shell).args(targets);
        total += check(clippy.args(["--quiet", "--", "--deny", "warnings"]));
    }
    total
}

/// A command that is one test by itself.
fn check(command: &mut Command) -> Tally {
    said(tool::each_line(command, |line| println!("{line}")).map(|s| Tally::check(s.success())))
}

/// A runner that could not run has failed, and says why.
fn said(outcome: Result<Tally, String>) -> Tally {
    outcome.unwrap_or_else(|sentence| {
        println!("{sentence}");
        Tally::check(false)
    })
}

fn ui_tests(options: &Options) -> Tally {
    let report = tool::target_dir().join("vitest.json");
    let _ = std::fs::remove_file(&report);
    let mut command = tool::npm();
    command.args(["exec", "--no", "--", "vitest", "run", "--reporter=default"]);
    command
        .arg("--reporter=json")
        .arg(format!("--outputFile.json={}", report.display()));
    if let Some(filter) = &options.filter {
        command.args(["-t", filter, "--passWithNoTests"]);
    }
    soak(&mut command, options).env("NO_COLOR", "1");
    let status = tool::each_line(&mut command, |line| println!("{line}"));
    let counted = std::fs::read_to_string(&report).ok();
    let tally = counted
        .and_then(|report| tally::of_vitest_report(&report))
        .unwrap_or_default();
    said(status.map(|status| tally.given_exit(status.success())))
}

/// The app is built with the question that the Rust tests asked, and so with their artefacts.
fn window(options: &Options) -> Tally {
    let mut build = tool::cargo();
    build.args(["build", "--workspace", "--bin", "lathe", "--test", "e2e"]);
    if let Err(sentence) = tool::expect_success(&mut build) {
        return said(Err(sentence));
    }
    let run = |harness: &[&str]| {
        let mut command = tool::cargo();
        command
            .args(["test", "--workspace", "--test", "e2e"])
            .env("LATHE_APP", tool::app("debug"));
        follow(&mut command, options, harness)
    };
    // One window at a time: they would take the focus from each other.
    let (tally, failed) = run(&["--test-threads=1"]);
    if options.retry && !failed.is_empty() {
        println!("   Once more, for information: {}", failed.join(", "));
        let names: Vec<_> = failed.iter().map(String::as_str).collect();
        let (second, again) = run(&[&["--test-threads=1", "--exact"], names.as_slice()].concat());
        println!("{}", second_try(&failed, second, &again));
    }
    // What passes only on the second try has failed.
    tally
}

/// Says which of the failed tests passed on a second try.
fn second_try(failed: &[String], second: Tally, again: &[String]) -> String {
    if (second.passed + second.failed) as usize != failed.len() {
        return "   The second try did not come to its end.".into();
    }
    let passed: Vec<_> = failed
        .iter()
        .filter(|name| !again.contains(name))
        .map(String::as_str)
        .collect();
    if passed.is_empty() {
        return "   Every one of them failed again.".into();
    }
    format!("   Passed only on the second try: {}", passed.join(", "))
}

/// Nothing but these tests, and one at a time: the server has one model to think with.
fn real_model(options: &Options) -> Tally {
    let model = match RealModel::start() {
        Ok(model) => model,
        Err(sentence) => return said(Err(sentence)),
    };
    let mut command = tool::cargo();
    command.args(["test", "--workspace", "--test", "headless"]);
    command.env("LATHE_REAL_MODEL", &model.url);
    cargo_test(
        &mut command,
        options,
        &["--ignored", "--test-threads=1", "real_model"],
    )
}

fn cargo_test(command: &mut Command, options: &Options, harness: &[&str]) -> Tally {
    follow(command, options, harness).0
}

/// Runs `cargo test`, shows a line per test binary and all that went wrong, and names the
/// tests that failed.
fn follow(command: &mut Command, options: &Options, harness: &[&str]) -> (Tally, Vec<String>) {
    // A binary of few and long tests says which one is done.
    let names = !harness.is_empty();
    command
        .args(["--no-fail-fast", "--"])
        .args(harness)
        .args(&options.filter);
    soak(command, options);
    // The tests' projects are small: they need not leave as much of the disk as people's do.
    command.env("LATHE_KEEP_FREE_MB", "200");
    if cfg!(target_os = "linux") && options.includes(super::Part::Core) {
        // What this command provides, no test may leave out.
        command.env("LATHE_SANDBOX_PROVIDED", "1");
    }
    let mut count = Count {
        names,
        ..Count::default()
    };
    let status = tool::each_line(command, |line| count.line(line));
    let (tally, failed) = count.end();
    let tally = said(status.map(|status| tally.given_exit(status.success())));
    (tally, failed)
}

fn soak<'a>(command: &'a mut Command, options: &Options) -> &'a mut Command {
    if options.soak {
        command.env("LATHE_SOAK", "1");
    }
    if options.real_mcp {
        command.env("LATHE_REAL_MCP", "1");
    }
    command
}

/// Follows the output of `cargo test` from binary to binary.
#[derive(Default)]
struct Count {
    total: Tally,
    /// The binary that has started and not yet said how it went.
    running: Option<String>,
    /// Whether to show the tests that pass, too.
    names: bool,
    failed: Vec<String>,
}

impl Count {
    fn line(&mut self, line: &str) {
        match CargoLine::read(line) {
            CargoLine::Binary(name) => {
                self.settle();
                self.running = Some(name.to_owned());
            }
            CargoLine::Result(tally) => {
                let name = self.running.take().unwrap_or_else(|| "tests".into());
                if tally != Tally::default() {
                    println!("   {name}: {tally}");
                }
                self.total += tally;
            }
            CargoLine::Quiet if !self.names => {}
            CargoLine::Other if line.trim().is_empty() => {}
            CargoLine::Quiet | CargoLine::Other => {
                let name = line
                    .strip_prefix("test ")
                    .and_then(|r| r.strip_suffix(" ... FAILED"));
                self.failed.extend(name.map(str::to_owned));
                println!("{line}");
            }
        }
    }

    /// A binary that went away without a result (a crash, an abort) is one failure.
    fn settle(&mut self) {
        if let Some(name) = self.running.take() {
            println!("   {name}: ended without a result");
            self.total += Tally::check(false);
        }
    }

    fn end(mut self) -> (Tally, Vec<String>) {
        self.settle();
        (self.total, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_passed_only_on_the_second_try_are_named() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let failed = names(&["review::a", "review::b"]);
        let tally = |passed, failed| Tally { passed, failed };
        let said = second_try(&failed, tally(1, 1), &names(&["review::b"]));
        assert_eq!(said, "   Passed only on the second try: review::a");
        assert!(second_try(&failed, tally(0, 2), &failed).contains("failed again"));
        assert!(second_try(&failed, tally(0, 1), &[]).contains("did not come"));
    }

    #[test]
    fn a_binary_that_crashes_counts_as_one_failure() {
        let mut count = Count::default();
        for line in [
            "     Running unittests src/lib.rs (target/debug/deps/a-1)",
            "test result: ok. 2 passed; 0 failed; 0 ignored",
            "     Running tests/b.rs (target/debug/deps/b-1)",
            "     Running tests/c.rs (target/debug/deps/c-1)",
            "test a::b ... FAILED",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        ] {
            count.line(line);
        }
        let tally = Tally {
            passed: 3,
            failed: 2,
        };
        assert_eq!(count.end(), (tally, vec!["a::b".to_owned()]));
    }
}
