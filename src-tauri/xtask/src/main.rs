//! `cargo xtask`: set up, run, test, generate, measure and describe.
//!
//! Only the standard library, so that it compiles and starts in seconds on a fresh machine.
//! It knows the tools around the project (cargo, npm, the system's packages), never the
//! project's own crates.

// A command-line tool speaks on the terminal; libraries do not.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bundle;
mod display;
mod r#gen;
mod json;
mod map;
mod run;
mod setup;
mod tally;
mod test;
mod tool;
mod ui;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  run [--release] [--headless-display] [--gallery] [ARGS…]
      Install what is missing, build the UI and the app, and open it. ARGS go to the app:
      a folder to open, for example. --headless-display starts a virtual display (Xvfb)
      where there is none. --gallery shows every part and tool card in every state.

  test [core|ui|e2e] [--soak] [--real-mcp] [--retry] [FILTER]
      Install what is missing and run every test: Rust, UI and the real window. A part's
      name runs that part, FILTER only the tests whose name contains it (without the
      checks of format, lints and types). --soak runs the full counts;
      --real-mcp also tries MCP servers from the npm registry; --retry runs failed tests of
      the window once more and says which passed then, and they still count as failed.
      The last line is `N passed, N failed`.

  test --real-model
      Turns against llama.cpp's OpenAI-compatible server and a small model, both installed
      from Python packages into target/real-model on the first run: streaming, abort and a
      forced tool call. In no other run.

  test --real-clients
      OpenCode's SDKs, `run --attach`, terminal and web interfaces in the oldest supported and
      the newest version, its Python package, grpcio and the editors' SDK, all against our
      server. They are installed into target/real-clients; node, tmux and chromium must be
      there. In no other run.

  gen
      Write the TypeScript bindings and the JSON schemas from the Rust types.

  bench [SUITE] [--json FILE]
      Measure one suite, or all of them, and print a table with ratios. The table and its
      figures as JSON are also written to target/bench/ (and to FILE).
      Suites: {suites}

  bench door
      `lathectl serve` beside the newest `opencode serve`, installed from the npm registry: how
      many requests they answer, and the memory of 100 subscribers. Only when asked for by name.

  bench --against OPENCODE [--json FILE]
      The same scripted work as whole commands on lathectl and on an installed OpenCode,
      side by side, alternating, against the fake model server: `run hello`, a run with
      20,000 deltas, a run with 200 steps; listing 2,000 sessions and exporting one of 5,000
      messages where OPENCODE keeps its sessions in files (before 1.2). OPENCODE is the
      path of its binary. Rows: {name, ours, theirs, ratio}.

  map [--tree PATH] [--picture]
      Print for every crate its lines of source and of tests, the number of tests, its
      files, its largest functions and the crates it depends on. --tree reads another
      checkout. --picture also writes docs/rooms.svg in it.

  bundle [KIND…]
      Make the packages people install: deb and rpm here (also: appimage), app and dmg on
      a Mac, nsis on Windows. Says what each needs.

  help
      This text.";

/// A sentence for the person at the terminal: nothing here branches on what went wrong.
pub type Outcome<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome<ExitCode> {
    let (command, rest) = args
        .split_first()
        .map_or(("help", args), |(c, r)| (c.as_str(), r));
    match command {
        "run" => run::run(&run::Options::parse(rest)?),
        "test" => Ok(test::run(&test::Options::parse(rest)?)),
        "gen" => r#gen::run().map(|()| ExitCode::SUCCESS),
        "bench" => bench::run(&bench::Options::parse(rest)?).map(|()| ExitCode::SUCCESS),
        "map" => map::run(&map::Options::parse(rest)?).map(|()| ExitCode::SUCCESS),
        "bundle" => bundle::run(&bundle::Options::parse(rest)?).map(|()| ExitCode::SUCCESS),
        "help" | "--help" | "-h" => {
            println!("{}", HELP.replace("{suites}", &bench::suite_names()));
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!(
            "there is no command `{other}`; see `cargo xtask help`"
        )),
    }
}
