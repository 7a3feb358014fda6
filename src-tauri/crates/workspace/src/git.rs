//! Everything that is done with the person's git: the only place that starts it.
//!
//! Nothing that a repository's own config names is run unless the person trusts the project: no
//! hook, no filter, no driver, no monitor, no signer. Nothing goes over the network in any case.

mod branches;
mod commit;
mod content;
mod status;
pub mod worktree;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use lathe_records::{Failed, Result};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

pub use content::{Committed, FileKind, Indexed};
pub use status::in_repository;

/// Git in one folder.
#[derive(Debug, Clone)]
pub struct Git {
    folder: PathBuf,
    /// The person trusts what the repository's config makes git run.
    trusted: bool,
    /// Settings that disable the programs which the config names.
    disabled: Vec<String>,
}

/// Disabled whether the project is trusted or not: they start programs in the background.
const ALWAYS: [&str; 4] = [
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
];
const UNTRUSTED: [&str; 4] = [
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "core.attributesFile=/dev/null",
    "log.showSignature=false",
];
/// The settings of a repository that name programs.
const PROGRAMS: &str =
    r"^(filter|merge|diff)\..*\.(clean|smudge|process|required|driver|textconv|command)$";

impl Git {
    /// Git in a folder of a repository. Reads which programs the config names, and starts none.
    pub async fn open(folder: &Path, trusted: bool) -> Result<Git> {
        let mut git = Git {
            folder: folder.to_owned(),
            trusted,
            disabled: ALWAYS.map(str::to_owned).to_vec(),
        };
        if !trusted {
            git.disabled.extend(UNTRUSTED.map(str::to_owned));
            let named = git
                .run(&["config", "--null", "--name-only", "--get-regexp", PROGRAMS])
                .await;
            // Git fails if there is none.
            for name in named.unwrap_or_default().split(|byte| *byte == 0) {
                let name = String::from_utf8_lossy(name);
                let value = match name.rsplit('.').next() {
                    Some("required" | "driver") => "false",
                    _ => "",
                };
                if !name.is_empty() {
                    git.disabled.push(format!("{name}={value}"));
                }
            }
        }
        Ok(git)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// The same in another checkout of the repository.
    pub fn at(&self, folder: &Path) -> Git {
        Git {
            folder: folder.to_owned(),
            ..self.clone()
        }
    }

    pub async fn run(&self, args: &[&str]) -> Result<Vec<u8>> {
        self.run_with(args, Vec::new()).await
    }

    /// The output as one line of text.
    pub async fn line(&self, args: &[&str]) -> Result<String> {
        let output = self.run(args).await?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    pub async fn run_with(&self, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>> {
        let output = self.output(args, input).await?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(Failed::refused(reason(
            args,
            &output.stderr,
            &output.stdout,
        )))
    }

    /// The output, also if git says by its exit code that something differs.
    async fn run_any(&self, args: &[&str]) -> Result<Vec<u8>> {
        let output = self.output(args, Vec::new()).await?;
        match output.status.code() {
            Some(0 | 1) => Ok(output.stdout),
            _ => Err(Failed::refused(reason(
                args,
                &output.stderr,
                &output.stdout,
            ))),
        }
    }

    async fn output(&self, args: &[&str], input: Vec<u8>) -> Result<Output> {
        let mut command = Command::new("git");
        command.arg("--no-pager");
        for setting in &self.disabled {
            command.arg("-c").arg(setting);
        }
        command
            .args(args)
            .current_dir(&self.folder)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_EDITOR", "true")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_CONFIG_PARAMETERS",
        ] {
            command.env_remove(name);
        }
        let not_run = |error| Failed::refused(format!("git could not be run: {error}"));
        let mut child = command.spawn().map_err(not_run)?;
        let stdin = child.stdin.take();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // Git may end before it has read all.
                let _ = stdin.write_all(&input).await;
            }
        };
        let (_, output) = tokio::join!(feed, child.wait_with_output());
        output.map_err(not_run)
    }
}

/// What git said, as one sentence.
fn reason(args: &[&str], stderr: &[u8], stdout: &[u8]) -> String {
    let text = match stderr.is_empty() {
        true => stdout,
        false => stderr,
    };
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let hints = ["hint:", "warning:"];
    let said = lines
        .filter(|line| !hints.iter().any(|hint| line.starts_with(hint)))
        .map(|line| {
            line.trim_start_matches("fatal: ")
                .trim_start_matches("error: ")
        })
        .take(4)
        .collect::<Vec<_>>()
        .join(" ");
    let what = args.first().unwrap_or(&"git");
    match said.is_empty() {
        true => format!("git {what} failed and said nothing"),
        false => format!("git {what}: {said}"),
    }
}
