//! One of the two programs: its home folder and how it is called.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::Failure;
use super::usage::{Usage, measure};
use crate::git::commit_all;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Lathe,
    OpenCode,
}

#[derive(Clone)]
pub struct Contender {
    kind: Kind,
    binary: PathBuf,
    home: PathBuf,
    data: PathBuf,
    project: PathBuf,
}

impl Contender {
    /// Makes the home: config, a project under git with files to read.
    pub fn new(kind: Kind, binary: &Path, home: &Path, model: &str) -> Result<Self, Failure> {
        let contender = Contender {
            kind,
            binary: binary.canonicalize()?,
            home: home.to_owned(),
            data: home.join(".local/share/opencode"),
            project: home.join("project"),
        };
        fs::create_dir_all(&contender.project)?;
        fs::create_dir_all(home.join(".config/opencode/node_modules"))?;
        fs::create_dir_all(home.join(".cache/opencode"))?;
        // An older version requires these variables before it calls the model.
        fs::write(home.join(".cache/opencode/models.json"), "{}")?;
        fs::write(home.join(".cache/opencode/version"), "18")?;
        let provider = json!({ "mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{model}/v1"), "apiKey": "k" },
            "models": { "m": { "limit": { "context": 200_000, "output": 8_000 } } },
        } });
        let config =
            json!({ "provider": provider, "model": "mock/m", "small_model": "mock/m" }).to_string();
        fs::write(contender.config(), config)?;
        contender.fill_project()?;
        Ok(contender)
    }

    /// The same program over another's data.
    pub fn reading(&self, data: &Path, project: &Path) -> Contender {
        Contender {
            data: data.to_owned(),
            project: project.to_owned(),
            ..self.clone()
        }
    }

    pub fn data_dir(&self) -> PathBuf {
        self.data.clone()
    }

    pub fn project(&self) -> PathBuf {
        self.project.clone()
    }

    pub fn file(&self, name: &str) -> String {
        self.project.join(name).display().to_string()
    }

    pub fn version(&self) -> Result<String, Failure> {
        let output = self.command(&["--version"]).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Versions before 1.2 have a tree of JSON files.
    pub fn keeps_files(&self) -> Result<bool, Failure> {
        let version = self.version()?;
        let mut numbers = version
            .split('.')
            .map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
        Ok(numbers.next() == Some(1) && numbers.next().is_some_and(|minor| minor < 2))
    }

    pub async fn run(&self, prompt: &str) -> Result<Usage, Failure> {
        self.measured(&["run", prompt], |_| true).await
    }

    pub async fn list(&self, sessions: usize) -> Result<Usage, Failure> {
        let args: &[&str] = match self.kind {
            Kind::Lathe => &["sessions"],
            Kind::OpenCode => &["session", "list"],
        };
        self.measured(args, |out| out.matches("ses_").count() >= sessions)
            .await
    }

    pub async fn export(&self, id: &str, messages: usize) -> Result<Usage, Failure> {
        self.measured(&["export", id], |out| {
            out.matches("\"role\": ").count() >= messages
        })
        .await
    }

    /// Runs on a thread of its own (the fake model needs the runtime's threads) and checks the
    /// result.
    async fn measured(
        &self,
        args: &[&str],
        worked: impl Fn(&str) -> bool,
    ) -> Result<Usage, Failure> {
        let mut command = self.command(args);
        let (out, errors) = (self.home.join("out"), self.home.join("errors"));
        command
            .stdout(File::create(&out)?)
            .stderr(File::create(&errors)?);
        let done = tokio::task::spawn_blocking(move || measure(&mut command)).await?;
        let (usage, status) = done?;
        let printed = String::from_utf8_lossy(&fs::read(&out)?).into_owned();
        if !status.success() || !worked(&printed) {
            let errors = fs::read_to_string(&errors)?;
            let tail: Vec<_> = errors.lines().rev().take(5).collect();
            return Err(format!(
                "{:?} {args:?} did not work ({status}), {} bytes printed, {tail:?}",
                self.kind,
                printed.len()
            )
            .into());
        }
        Ok(usage)
    }

    /// Without the developer's own environment.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .current_dir(&self.project)
            .args(args);
        match self.kind {
            Kind::Lathe => {
                command.env("LATHE_DATA_DIR", &self.data);
                command.env("LATHE_CONFIG", self.config());
            }
            Kind::OpenCode => {
                for part in [
                    "AUTOUPDATE",
                    "MODELS_FETCH",
                    "LSP_DOWNLOAD",
                    "DEFAULT_PLUGINS",
                    "SHARE",
                    "CLAUDE_CODE",
                    "EXTERNAL_SKILLS",
                ] {
                    command.env(format!("OPENCODE_DISABLE_{part}"), "1");
                }
            }
        }
        command
    }

    fn config(&self) -> PathBuf {
        self.home.join(".config/opencode/opencode.json")
    }

    fn fill_project(&self) -> Result<(), Failure> {
        for number in 0..super::STEPS {
            let text = format!("This is file {number}.\n").repeat(20);
            fs::write(self.project.join(format!("file{number:03}.txt")), text)?;
        }
        commit_all(&self.project)?;
        Ok(())
    }
}
