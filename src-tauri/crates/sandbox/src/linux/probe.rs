//! Runs each engine once, on a small project of its own.
//!
//! Namespaces may be there and still be useless: AppArmor of Ubuntu 24.04 lets a user namespace
//! be made and then refuses what it was made for. So the probe does what commands will do.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Setup, bubblewrap, landlock};
use crate::confinement::Confinement;
use crate::plan::{Engine, SandboxError};
use crate::rules::Rules;

const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(1);
const ANSWER: &str = "confined";

/// Only builtins: what a system has besides a shell is unknown. Folder `$1` is writable, in it
/// `protected` is not and `secret` cannot be read.
const SCRIPT: &str = r#"cd "$1" || exit 1
: > open/new || { echo "a writable folder is not writable"; exit 1; }
(: > protected/new) 2>/dev/null && { echo "a protected folder is writable"; exit 1; }
(read -r line < secret/key) 2>/dev/null && { echo "a secret is readable"; exit 1; }
(: > ../outside/new) 2>/dev/null && { echo "a folder outside is writable"; exit 1; }
echo confined
"#;

/// With namespaces: no network device but the own loopback, and few processes before this one.
const NAMESPACES: &str = r#"while read -r name rest; do
  case $name in lo:*|Inter-*|face*) ;; *) echo "the network is still there: $name"; exit 1;; esac
done < /proc/net/dev
[ "$$" -lt 100 ] || { echo "the processes outside are still there"; exit 1; }
"#;

pub(crate) fn probe() -> Vec<(Engine, Option<String>)> {
    vec![
        (Engine::Bubblewrap, bubblewrap_failure()),
        (Engine::Landlock, landlock_failure()),
    ]
}

fn bubblewrap_failure() -> Option<String> {
    if bubblewrap::program().is_none() {
        return Some("bubblewrap (bwrap) is not installed".into());
    }
    let script = format!("{NAMESPACES}{SCRIPT}");
    let failure = try_engine(Engine::Bubblewrap, &script)?;
    Some(format!("bubblewrap does not work here: {failure}"))
}

fn landlock_failure() -> Option<String> {
    match landlock::version() {
        0 => return Some("this kernel has no Landlock, or it is switched off".into()),
        version if version < landlock::OLDEST => {
            let oldest = landlock::OLDEST;
            return Some(format!(
                "this kernel has version {version} of Landlock, and {oldest} is needed (Linux 6.2)"
            ));
        }
        _ => {}
    }
    let failure = try_engine(Engine::Landlock, SCRIPT)?;
    Some(format!("Landlock does not work here: {failure}"))
}

/// Nothing, if the script ends as it should.
fn try_engine(engine: Engine, script: &str) -> Option<String> {
    match run(engine, script) {
        Ok(output) if output.trim_end() == ANSWER => None,
        Ok(output) => Some(first_line(&output)),
        Err(error) => Some(error.to_string()),
    }
}

fn first_line(output: &str) -> String {
    let line = output.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or("it ended without a word").trim().to_owned()
}

fn run(engine: Engine, script: &str) -> Result<String, SandboxError> {
    let scratch = tempfile::tempdir()?;
    let base = fs::canonicalize(scratch.path())?;
    let project = base.join("project");
    for folder in [
        "project/open",
        "project/protected",
        "project/secret",
        "outside",
    ] {
        fs::create_dir_all(base.join(folder))?;
    }
    fs::write(project.join("secret/key"), "key\n")?;
    let mut confinement = Confinement::new(&project);
    confinement.protected = vec![project.join("protected")];
    confinement.unreadable = vec![project.join("secret")];
    let rules = Rules::resolve(&confinement)?;
    let setup = Setup::new(engine, &rules, &confinement)?;
    output_of(&setup, script, &project)
}

fn output_of(setup: &Setup, script: &str, project: &Path) -> Result<String, SandboxError> {
    let (mut output, write) = std::io::pipe()?;
    let mut words = setup.prefix().to_vec();
    words.push("/bin/sh".into());
    let mut command = std::process::Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(["-c", script, "probe"])
        .arg(project)
        .stdin(Stdio::null())
        .stdout(write.try_clone()?)
        .stderr(write);
    setup.install(&mut command);
    let mut child = command.spawn()?;
    drop(command);
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(SandboxError::Rules("it did not end".into()));
        }
        std::thread::sleep(POLL);
    }
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    Ok(text)
}
