//! An agent whose turns run the shell commands that a test gives it.

#![allow(clippy::expect_used, reason = "test support: to stop is to report")]

use std::fs;
use std::path::Path;

use crate::app::TestApp;
use crate::disk;
use crate::fake_model::{FakeModel, call, text};
use lathe_protocol::{Action, MessageId, Part, SessionId};
use lathe_provider::WireKind;
use lathe_session::Options;
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
        self.restart_with(|_| {}).await
    }

    /// The same with other options.
    pub async fn restart_with(self, edit: impl FnOnce(&mut Options)) -> Self {
        let Agent { model, app } = self;
        let app = app.restart_with(edit).await;
        let app = app.rule("*", "*", Action::Allow);
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

    /// Makes the newest call look as a killed program leaves it: running, without its end.
    pub async fn cut_short(&self, session: &SessionId) {
        let page = self.app.sessions.messages(session, None, usize::MAX).await;
        let messages = page.expect("the session is read").messages;
        let mut parts = messages.iter().flat_map(|message| &message.parts);
        let call = parts.rfind(|part| matches!(part, Part::Tool(_)));
        let call = call.expect("a call of a tool");
        let path = self.app.data_dir().join(format!(
            "storage/part/{}/{}.json",
            call.message_id(),
            call.id()
        ));
        let mut stored: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).expect("the part is stored"))
                .expect("it is JSON");
        let span = &mut stored["credit"]["spans"][0];
        let before = span["before"].clone();
        *span = json!({ "before": before, "proof": "none" });
        stored["state"]["status"] = json!("running");
        fs::write(path, stored.to_string()).expect("the part is written");
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
        diffs
            .expect("the changes are read")
            .iter()
            .map(one)
            .collect()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        let name = path
            .strip_prefix(root)
            .expect("below the root")
            .display()
            .to_string();
        let bytes = fs::read(&path).expect("a file of the project");
        files.push(format!("{name} {}", String::from_utf8_lossy(&bytes)));
    }
}

pub fn git(folder: &Path, args: &[&str]) {
    crate::git::git(folder, args).expect("git succeeds");
}
