//! A command of the agent that waits until the person has done something.

#![allow(clippy::expect_used, reason = "test support: to stop is to report")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::app::until_idle;
use crate::fake_model::{call, text};
use crate::scripted_agent::Agent;
use lathe_protocol::MessageId;
use serde_json::json;
use tempfile::TempDir;

/// Two pipes outside of the project: the command says that it runs, then waits.
pub struct Meeting {
    folder: TempDir,
}

impl Meeting {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the pipes");
        for name in ["runs", "go"] {
            let made = Command::new("mkfifo")
                .arg(folder.path().join(name))
                .status();
            assert!(made.expect("mkfifo runs").success());
        }
        Meeting { folder }
    }

    fn pipe(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Does `before`, waits for the person, does `after`. Nothing is opened for writing between
    /// `before` and the person: whoever watches the command hears nothing from it then.
    pub fn command(&self, before: &str, after: &str) -> String {
        let (runs, go) = (self.pipe("runs"), self.pipe("go"));
        format!(
            "exec 9> {}; {before}; exec 9>&-; read -r _ < {}; {after}",
            runs.display(),
            go.display()
        )
    }

    /// Waits until the command runs, does the person's work, and lets the command go on.
    pub async fn meet(&self, person: impl FnOnce() + Send + 'static) {
        self.runs().await;
        person();
        self.go().await;
    }

    pub async fn runs(&self) {
        let runs = self.pipe("runs");
        let waited = tokio::task::spawn_blocking(move || fs::read(runs));
        waited.await.expect("it waits").expect("the pipe is read");
    }

    pub async fn go(&self) {
        let go = self.pipe("go");
        let said = tokio::task::spawn_blocking(move || fs::write(go, "go"));
        said.await.expect("it waits").expect("the pipe is written");
    }
}

impl Agent {
    /// A turn of one command during which the person works.
    pub async fn turn_while(
        &self,
        before: &str,
        person: impl FnOnce() + Send + 'static,
        after: &str,
    ) -> MessageId {
        let meeting = Meeting::start();
        let command = meeting.command(before, after);
        self.model.reply([
            text("Now."),
            call("bash", json!({ "command": command, "description": "edit" })),
        ]);
        self.model.reply([text("Done.")]);
        let mut events = self.app.sessions.subscribe();
        let id = self.app.send("do it").await;
        meeting.meet(person).await;
        until_idle(&mut events, &self.app.session.id).await;
        id
    }

    /// A turn in which the agent makes one call.
    pub async fn call(&self, tool: &str, input: serde_json::Value) -> MessageId {
        self.model.reply([call(tool, input)]);
        self.model.reply([text("Done.")]);
        self.app.ask("do it").await
    }
}
