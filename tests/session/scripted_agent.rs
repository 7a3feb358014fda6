//! An agent whose turns run the shell commands that a test gives it.

use std::fs;
use std::path::Path;

use lathe_protocol::{Action, MessageId};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::disk;
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

pub struct Agent {
    pub model: FakeModel,
    pub app: TestApp,
}

impl Agent {
    pub async fn start() -> Self {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, WireKind::OpenaiChat).await;
        let app = app.rule("*", "*", Action::Allow);
        assert_eq!(disk::shortage(app.data_dir()), None);
        Agent { model, app }
    }

    pub fn file(self, name: &str, content: &str) -> Self {
        let Agent { model, app } = self;
        let app = app.file(name, content);
        Agent { model, app }
    }

    pub async fn restart(self) -> Self {
        let Agent { model, app } = self;
        let app = app.restart().await.rule("*", "*", Action::Allow);
        Agent { model, app }
    }

    /// A turn in which the agent runs one command.
    pub async fn turn(&self, command: &str) -> MessageId {
        self.model.reply([
            text("Now."),
            call("bash", json!({ "command": command, "description": "edit" })),
        ]);
        self.model.reply([text("Done.")]);
        self.app.ask("do it").await
    }

    /// Every file of the project with its content, in order.
    pub fn tree(&self) -> Vec<String> {
        let root = self.app.path("");
        let mut files = Vec::new();
        collect(&root, &root, &mut files);
        files.sort();
        files
    }

    /// `path +added -deleted` of the session or of a turn.
    pub async fn diff(&self, turn: Option<&MessageId>) -> Vec<String> {
        let diffs = self.app.sessions.diff(&self.app.session.id, turn).await;
        let one = |diff: &lathe_protocol::FileDiff| {
            format!("{} +{} -{}", diff.file, diff.additions, diff.deletions)
        };
        diffs.unwrap().iter().map(one).collect()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().display().to_string();
        files.push(format!("{name} {}", fs::read_to_string(&path).unwrap()));
    }
}

pub fn git(folder: &Path, args: &[&str]) {
    lathe_test_support::git::git(folder, args).unwrap();
}
