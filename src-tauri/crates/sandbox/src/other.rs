//! macOS, whose sandbox is a profile for `sandbox-exec`; and systems that have none.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::confinement::Confinement;
use crate::plan::{Engine, Limit, SandboxError};
use crate::promise::Promise;
use crate::rules::{Placeholder, Rules};
use crate::seatbelt;

/// Why nothing works where there is no engine to ask.
#[cfg(windows)]
pub(crate) const UNAVAILABLE: &str = "Windows has no sandbox that keeps a command from reading \
     your files and from the network without an administrator's rights";
#[cfg(not(windows))]
pub(crate) const UNAVAILABLE: &str = "this system has no sandbox that can be used";

const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

#[derive(Debug)]
pub(crate) struct Setup {
    prefix: Vec<OsString>,
}

impl Setup {
    pub fn new(
        engine: Engine,
        rules: &Rules,
        confinement: &Confinement,
    ) -> Result<Self, SandboxError> {
        if engine != Engine::Seatbelt {
            return Err(SandboxError::Unavailable(UNAVAILABLE.to_owned()));
        }
        let profile = seatbelt::profile(rules, confinement);
        let words = [SANDBOX_EXEC, "-p", &profile, "--"];
        Ok(Self {
            prefix: words.iter().map(OsString::from).collect(),
        })
    }

    pub fn prefix(&self) -> &[OsString] {
        &self.prefix
    }

    /// The wrapper does everything.
    pub fn install(&self, _: &mut Command) {}
}

/// Nothing is put in the place of what does not exist.
pub(crate) fn remove_leftovers(_: &Path) {}

#[cfg(target_os = "macos")]
pub(crate) fn probe() -> Vec<(Engine, Option<String>)> {
    let failure = try_seatbelt()
        .err()
        .map(|error| format!("sandbox-exec does not work here: {error}"));
    vec![(Engine::Seatbelt, failure)]
}

#[cfg(target_os = "macos")]
fn try_seatbelt() -> Result<(), SandboxError> {
    let scratch = tempfile::tempdir()?;
    let confinement = Confinement::new(scratch.path());
    let rules = Rules::resolve(&confinement)?;
    let setup = Setup::new(Engine::Seatbelt, &rules, &confinement)?;
    // It must let a shell write inside, and not next to it.
    let script = r#": > "$1/new" && ! (: > "$1-outside") 2>/dev/null"#;
    let output = Command::new(SANDBOX_EXEC)
        .args(&setup.prefix[1..])
        .args(["/bin/sh", "-c", script, "probe"])
        .arg(std::fs::canonicalize(scratch.path())?)
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(SandboxError::Rules(said.trim().to_owned()))
        }
    }
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn probe() -> Vec<(Engine, Option<String>)> {
    Vec::new()
}

pub(crate) fn shortcomings(
    _: Engine,
    rules: &Rules,
    _: &Confinement,
) -> (Vec<Promise>, Vec<Limit>) {
    let fixed = rules.fixed.iter().cloned().map(Limit::FixedEntries);
    let gaps = vec![
        Promise::Processes,
        Promise::SecretNames,
        Promise::Survivors,
        Promise::Terminals,
    ];
    (gaps, fixed.collect())
}

/// Rules for missing paths cost nothing here.
pub(crate) fn may_get_entries(_: &Path) -> bool {
    true
}

/// A profile holds for paths that do not exist, so nothing has to be put there.
pub(crate) fn is_placeholder(_: &Path, _: Placeholder) -> bool {
    false
}
