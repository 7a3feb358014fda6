//! Clients that nobody here wrote, against our server: `tests/real_clients/run.mjs`.
//!
//! They are installed from the registries of npm and Python into the target folder, in the
//! versions that are named here: those that this was last run with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tally::Tally;
use crate::{Outcome, tool};

const OLDEST: [&str; 2] = ["@opencode-ai/sdk@1.1.27", "opencode-linux-x64@1.1.27"];
const NEWEST: [&str; 5] = [
    "@opencode-ai/sdk@1.19.3",
    "opencode-linux-x64@1.18.34",
    "@agentclientprotocol/sdk@2.4.0",
    "puppeteer-core@25.16.0",
    "@sparticuz/chromium@153.0.0",
];
const PYTHON: [&str; 3] = [
    // All that there is of this package are versions before its first.
    "opencode-ai==0.1.0a36",
    "grpcio==1.85.1",
    "grpcio-tools==1.85.1",
];
/// Programs of the system that run the clients.
const SYSTEM: [&str; 2] = ["node", "tmux"];

pub fn run() -> Outcome<Tally> {
    for program in SYSTEM {
        if !tool::on_path(program) {
            return Err(format!("{program} is missing: install it first"));
        }
    }
    let folder = folder();
    install_npm(&folder.join("1.1.27"), &OLDEST)?;
    install_npm(&folder.join("newest"), &NEWEST)?;
    install_python(&folder.join("venv"))?;
    let mut build = tool::cargo();
    build.args([
        "build",
        "--workspace",
        "--bin",
        "lathectl",
        "--bin",
        "fake-model",
    ]);
    tool::expect_success(&mut build)?;
    let mut command = Command::new("node");
    command
        .arg(tool::root().join("tests/real_clients/run.mjs"))
        .arg(&folder)
        .arg(built("lathectl"))
        .arg(built("fake-model"))
        .arg(tool::root().join("src-tauri/crates/contract/proto"))
        .current_dir(tool::root());
    let mut tally = Tally::default();
    let status = tool::each_line(&mut command, |line| {
        println!("{line}");
        if line.starts_with("ok ") {
            tally += Tally::check(true);
        } else if line.starts_with("FAILED ") {
            tally += Tally::check(false);
        }
    })?;
    Ok(tally.given_exit(status.success()))
}

fn folder() -> PathBuf {
    tool::target_dir().join("real-clients")
}

/// The newest OpenCode, installed.
pub fn newest_opencode() -> Outcome<PathBuf> {
    let folder = folder().join("newest");
    install_npm(&folder, &NEWEST)?;
    Ok(folder.join("node_modules/opencode-linux-x64/bin/opencode"))
}

fn built(name: &str) -> PathBuf {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    tool::target_dir().join("debug").join(file)
}

fn install_npm(folder: &Path, packages: &[&str]) -> Outcome {
    make(folder)?;
    let manifest = folder.join("package.json");
    if !manifest.is_file() {
        let text = "{ \"private\": true }\n";
        fs::write(&manifest, text).map_err(|error| format!("{}: {error}", manifest.display()))?;
    }
    let mut npm = tool::npm();
    npm.current_dir(folder);
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
    npm.arg("--save-exact");
    tool::expect_success(npm.args(packages))
}

fn install_python(folder: &Path) -> Outcome {
    let python = folder.join("bin/python");
    if !python.is_file() {
        let mut venv = Command::new("python3");
        tool::expect_success(venv.args(["-m", "venv"]).arg(folder))
            .map_err(|error| format!("{error}; Python 3 with its module venv is needed"))?;
    }
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet"]);
    tool::expect_success(pip.args(PYTHON))
}

fn make(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
