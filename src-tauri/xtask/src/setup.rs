//! What a machine must have, what of it is missing, and getting it.
//!
//! Debian and its kin get their packages installed. Elsewhere we say exactly what to install:
//! guessing at a stranger's package manager does more harm than a sentence.

mod node;
mod packages;
mod system;

use std::io::IsTerminal;
use std::process::{Command, Stdio};

use crate::{Outcome, tool};
use system::System;

/// A thing that a command cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A C compiler and its companions.
    Build,
    /// The libraries of the window.
    Window,
    /// A display where there is none, with a session bus.
    VirtualDisplay,
    /// What drives the window in tests.
    WindowDriver,
    /// What lets a test refuse or kill a program at any call of the system.
    Tracer,
    /// What confines commands by namespaces.
    Sandbox,
    /// The `rg` that searches are measured against.
    Ripgrep,
    /// Node and npm.
    Node,
    /// rustfmt and clippy.
    Lints,
}

/// Makes sure that everything needed is there, or says what is not.
pub fn provide(needs: &[Need]) -> Outcome {
    if needs.contains(&Need::Node) {
        node::check()?;
    }
    if needs.contains(&Need::Lints) {
        lints()?;
    }
    let system = system::detect();
    let missing = packages::missing(system, needs);
    if missing.is_empty() {
        return Ok(());
    }
    match system {
        System::Debian => install(&missing),
        other => Err(packages::advice(other, &missing)),
    }
}

/// The tests of the real window need Linux's WebKit driver.
pub fn window_can_be_driven() -> bool {
    cfg!(target_os = "linux")
}

fn install(missing: &[&str]) -> Outcome {
    println!("Installing {}…", missing.join(" "));
    let options = ["-q", "-o", "DPkg::Lock::Timeout=300"];
    let by_hand = format!("apt-get install {}", missing.join(" "));
    let explain = |error| format!("{error}; as an administrator, run: {by_hand}");
    tool::expect_success(as_root()?.arg("apt-get").args(options).arg("update")).map_err(explain)?;
    let mut install = as_root()?;
    install
        .arg("apt-get")
        .args(options)
        .args(["install", "-y", "--no-install-recommends"]);
    tool::expect_success(install.args(missing)).map_err(explain)
}

/// The start of a command with an administrator's rights, that never asks a question where
/// nobody can answer.
fn as_root() -> Outcome<Command> {
    let quiet = "DEBIAN_FRONTEND=noninteractive";
    let user = tool::output_of(Command::new("id").arg("-u")).unwrap_or_default();
    let mut command = if user.trim() == "0" {
        Command::new("env")
    } else if tool::on_path("sudo") {
        let mut sudo = Command::new("sudo");
        if !std::io::stdin().is_terminal() {
            sudo.arg("-n");
        }
        sudo.arg("env");
        sudo
    } else {
        return Err("installing packages needs root, and there is no sudo here".into());
    };
    command.arg(quiet);
    Ok(command)
}

/// rustup adds them; a toolchain from elsewhere brings them or says where they are.
fn lints() -> Outcome {
    let has = |tool: &str| {
        let mut version = tool::cargo();
        version.args([tool, "--version"]).stdin(Stdio::null());
        tool::output_of(&mut version).is_some()
    };
    if has("fmt") && has("clippy") {
        return Ok(());
    }
    if !tool::on_path("rustup") {
        return Err("install rustfmt and clippy for your Rust toolchain".into());
    }
    println!("Installing rustfmt and clippy…");
    tool::expect_success(Command::new("rustup").args(["component", "add", "rustfmt", "clippy"]))
}
