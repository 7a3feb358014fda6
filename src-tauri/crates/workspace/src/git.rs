//! Everything that is done with the person's git: the only place that starts it.
//!
//! Nothing that a repository itself brings is run unless the person trusts it in this very
//! checkout: no hook, no filter, no driver, no signer. What the person's own config names is run.
//! Nothing goes over the network in any case.

mod branches;
mod commit;
mod content;
mod conversion;
mod harmless;
mod limits;
mod programs;
mod status;
#[cfg(test)]
#[cfg(unix)]
mod tests;
pub mod worktree;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use lathe_records::{Failed, Result};
use limits::Limits;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

pub use content::{Changed, Committed, FileKind, InIndex, Indexed};
pub use programs::Programs;
use programs::Settings;
pub use status::in_repository;

use crate::paths::git_config;

/// Git in one folder.
#[derive(Debug, Clone)]
pub struct Git {
    folder: PathBuf,
    /// The person trusts what the repository makes git run, or there is nothing of that kind.
    trusted: bool,
    /// The hash that the person has trusted in this checkout, if it is still the same.
    decided: Option<String>,
    /// Settings that hold over those of every config file.
    settings: Settings,
}

/// They hold whether the repository is trusted or not: programs in the background, and output that
/// is not what we read.
const ALWAYS: [(&str, &str); 5] = [
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("log.showSignature", "false"),
];
/// Variables that lead git to another repository or to settings of their own.
const MISLEADING: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
];

impl Git {
    /// Git in a folder. What the repository makes it run is run only if it is what the person has
    /// trusted in this very checkout, by the hash of [`Programs`].
    pub async fn open(folder: &Path, trusted: Option<&str>) -> Result<Git> {
        let mut git = Git::guarded(folder);
        let programs = programs::read(&git).await?;
        git.trusted = programs.wants.is_empty() || trusted == Some(programs.hash.as_str());
        git.decided = trusted
            .filter(|hash| *hash == programs.hash)
            .map(str::to_owned);
        if !git.trusted || programs.wants.is_empty() {
            git.settings.extend(programs.off);
        }
        Ok(git)
    }

    /// What the repository of a folder makes git run. Starts none of it.
    pub async fn programs(folder: &Path) -> Result<Programs> {
        programs::read(&Git::guarded(folder)).await
    }

    fn guarded(folder: &Path) -> Git {
        let settings = ALWAYS.map(|(key, value)| (key.into(), value.into()));
        Git {
            folder: folder.to_owned(),
            trusted: false,
            decided: None,
            settings: settings.to_vec(),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Refuses what makes git look into the repositories inside this one: their own settings are not
    /// among those that we override.
    async fn ensure_inner_settings(&self) -> Result<()> {
        // To be trusted because there is nothing to trust is not enough.
        if self.decided.is_some() {
            return Ok(());
        }
        let folder = self.folder.clone();
        let found = tokio::task::spawn_blocking(move || git_config::inner_names_programs(&folder));
        match found.await {
            Ok(false) => Ok(()),
            _ => Err(Failed::refused(
                "A repository inside this one, such as a submodule, may make git run programs. If \
                 you trust it, do this in a terminal",
            )),
        }
    }

    /// Whether the folder is the root of its repository, and not a part of a larger one.
    pub async fn is_at_root(&self) -> bool {
        let root = self.line(&["rev-parse", "--show-toplevel"]).await;
        let same = |root: String| {
            let (root, folder) = (Path::new(&root).canonicalize(), self.folder.canonicalize());
            root.is_ok_and(|root| folder.is_ok_and(|folder| folder == root))
        };
        root.is_ok_and(same)
    }

    pub async fn run(&self, args: &[impl AsRef<OsStr>]) -> Result<Vec<u8>> {
        self.run_with(args, Vec::new()).await
    }

    /// The output as one line of text.
    pub async fn line(&self, args: &[impl AsRef<OsStr>]) -> Result<String> {
        let output = self.run(args).await?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    pub async fn run_with(&self, args: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Vec<u8>> {
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

    async fn output(&self, args: &[impl AsRef<OsStr>], input: Vec<u8>) -> Result<Output> {
        self.output_within(Limits::of(args), args, input).await
    }

    async fn output_within(
        &self,
        limits: Limits,
        args: &[impl AsRef<OsStr>],
        input: Vec<u8>,
    ) -> Result<Output> {
        let mut command = Command::new("git");
        command.arg("--no-pager");
        // Not `-c`: there, a name ends at its first `=`.
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
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
        for name in MISLEADING {
            command.env_remove(name);
        }
        let not_run = |error| Failed::refused(format!("git couldn’t be run: {error}"));
        let mut child = command.spawn().map_err(not_run)?;
        let stdin = child.stdin.take();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // Git may end before it has read all.
                let _ = stdin.write_all(&input).await;
            }
            Ok(())
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let work = async {
            let (stdout, stderr, status, ()) = tokio::try_join!(
                limits.read(stdout),
                limits.read(stderr),
                async { child.wait().await.map_err(not_run) },
                feed,
            )?;
            Ok(Output {
                status,
                stdout,
                stderr,
            })
        };
        match tokio::time::timeout(limits.time, work).await {
            Ok(output) => output,
            Err(_) => Err(Failed::refused("git took too long and was stopped")),
        }
    }
}

/// What git said, as one sentence.
fn reason(args: &[impl AsRef<OsStr>], stderr: &[u8], stdout: &[u8]) -> String {
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
    let first = args.first().map(AsRef::as_ref);
    let what = first.unwrap_or_default().to_string_lossy();
    match said.is_empty() {
        true => format!("git {what} failed and said nothing"),
        false => format!("git {what}: {said}"),
    }
}

/// Bytes that git printed, to be given back to it unchanged.
fn os_string(bytes: &[u8]) -> Result<OsString> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        Ok(OsString::from_vec(bytes.to_vec()))
    }
    #[cfg(not(unix))]
    match String::from_utf8(bytes.to_vec()) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(Failed::refused(
            "Git named something that is not valid text (UTF-8)",
        )),
    }
}
