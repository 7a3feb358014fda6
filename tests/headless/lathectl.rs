//! A home folder for one test: data, project, config and the binary.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use lathe_provider::WireKind;
use lathe_test_support::fake_model::FakeModel;
use serde_json::{Value, json};
use tempfile::TempDir;

const LATHECTL: &str = env!("CARGO_BIN_EXE_lathectl");

pub struct Home {
    pub folder: TempDir,
}

impl Home {
    pub fn new(model: &FakeModel) -> Self {
        let provider = json!({ "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": model.base_url(WireKind::OpenaiChat), "apiKey": "k" },
            "models": { "m": { "limit": { "context": 200_000, "output": 8_000 } } },
        } });
        let config = json!({ "provider": provider, "model": "fake/m", "small_model": "fake/m" });
        Home::with_config(config)
    }

    pub fn with_config(config: Value) -> Self {
        let home = Home {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(home.project()).unwrap();
        std::fs::write(home.project().join("a.txt"), "one\n").unwrap();
        std::fs::write(home.folder.path().join("config.json"), config.to_string()).unwrap();
        home
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.at_home(LATHECTL);
        command.args(args);
        command
    }

    /// The same, started by another program as the last of its arguments.
    #[cfg(unix)]
    pub fn inside(&self, program: &str, its_args: &[&str], args: &[&str]) -> Command {
        let mut command = self.at_home(program);
        command.args(its_args).arg(LATHECTL).args(args);
        command
    }

    /// The same with a limit on its memory. (The peak that the system reports includes that of
    /// the parent process, so it cannot be used.)
    #[cfg(unix)]
    pub fn within(&self, megabytes: u32, args: &[&str]) -> Command {
        let script = format!("ulimit -d {} && exec \"$@\"", megabytes * 1024);
        self.inside("sh", &["-c", &script, "sh"], args)
    }

    /// Without the developer's own environment, which could change the result.
    fn at_home(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("LATHE_DATA_DIR", self.data())
            .env("LATHE_CONFIG", self.folder.path().join("config.json"))
            .envs(lathe_test_support::disk::keep_free())
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    pub async fn run(&self, args: &[&str]) -> Output {
        ended(self.command(args)).await
    }

    pub async fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args).await;
        assert!(
            output.status.success(),
            "{args:?}: {}",
            text(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Waits until a record of this kind contains these words.
    pub async fn stores(&self, kind: &str, words: &str) {
        let folder = self.data().join("storage").join(kind);
        let holds = || {
            let files =
                crate::crash_recovery::records_named(&folder, |name| name.ends_with(".json"));
            let contents = files
                .iter()
                .filter_map(|path| std::fs::read_to_string(path).ok());
            contents.into_iter().any(|content| content.contains(words))
        };
        let until = async {
            while !holds() {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(120), until).await;
        assert!(waited.is_ok(), "no {kind} ever held {words:?}");
    }

    /// The ids of all sessions, last used first.
    pub async fn sessions(&self) -> Vec<String> {
        let sessions = self.json(&["sessions", "--json"]).await;
        let ids = sessions.as_array().unwrap().iter();
        ids.map(|session| session["id"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Runs to the end, on a thread of its own: the fake model needs the runtime's threads.
pub async fn ended(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
