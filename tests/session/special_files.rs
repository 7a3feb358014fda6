//! Files that something outside names: a pipe, a device or a file without an end neither blocks
//! the program nor fills its memory.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lathe_protocol::ipc::{PromptFile, PromptInput};
use lathe_provider::WireKind;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{FakeModel, text};
use serde_json::{Value, json};

const WIRE: WireKind = WireKind::OpenaiChat;
const NOT_REGULAR: &str = "it is not a regular file";

/// A read of a pipe would wait for ever, and the test with it.
const HANGS: Duration = Duration::from_secs(60);

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A file of 100 GB that takes no room.
fn endless(path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(100 << 30).unwrap();
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(HANGS, work).await;
    done.expect("it hangs")
}

#[tokio::test]
async fn a_config_that_names_a_pipe_or_a_device_says_so() {
    let app = TestApp::start().await;
    pipe(&app.path("pipe"));
    endless(&app.path("large"));
    let named = [
        "/dev/zero",
        app.path("pipe").to_str().unwrap(),
        app.path("large").to_str().unwrap(),
    ]
    .map(str::to_owned);
    let mut told = Vec::new();
    for name in &named {
        let config = json!({ "username": format!("{{file:{name}}}") });
        app.write_config("lathe/lathe.json", config.to_string());
        let problems = in_time(app.sessions.config_problems(&app.project))
            .await
            .unwrap();
        told.extend(problems.into_iter().map(|problem| problem.message));
    }
    let reasons = [NOT_REGULAR, NOT_REGULAR, "it is larger than 1 MB"];
    assert_eq!(told.len(), 3, "{told:?}");
    for ((message, name), reason) in told.iter().zip(&named).zip(reasons) {
        assert!(
            message.contains(name.as_str()) && message.contains(reason),
            "{message}"
        );
    }
}

#[tokio::test]
async fn config_and_git_files_of_a_project_may_be_pipes() {
    let app = TestApp::start().await;
    let folder = app.path("cloned");
    std::fs::create_dir_all(folder.join("elsewhere")).unwrap();
    for name in ["lathe.json", ".git", "AGENTS.md"] {
        pipe(&folder.join(name));
    }
    let project = in_time(app.sessions.open_project(&folder)).await.unwrap();
    let problems = in_time(app.sessions.config_problems(&project))
        .await
        .unwrap();
    let problems: Vec<_> = problems
        .into_iter()
        .map(|problem| problem.message)
        .collect();
    assert_eq!(problems, [NOT_REGULAR]);
}

#[tokio::test]
async fn an_attachment_that_is_a_device_or_a_pipe_is_refused() {
    let app = TestApp::start().await;
    pipe(&app.path("pipe"));
    for path in [Path::new("/dev/zero"), &app.path("pipe")] {
        let input = PromptInput {
            text: "look".to_owned(),
            files: vec![PromptFile {
                url: format!("file://{}", path.display()),
                mime: Some("image/png".to_owned()),
                ..PromptFile::default()
            }],
            ..PromptInput::default()
        };
        let sent = in_time(app.sessions.prompt(&app.session.id, input)).await;
        assert!(sent.is_err(), "{} was attached", path.display());
        assert_eq!(app.messages().await, []);
    }
}

/// A stored picture whose file was replaced by something else, or was never one.
fn put_picture(app: &TestApp, url: &str) {
    let storage = app.data_dir().join("storage");
    let (session, user) = (app.session.id.as_str(), "msg_b996eae6c001AAAAAAAAAAAAAA");
    let part = "prt_b996eae6e001AAAAAAAAAAAAAA";
    let write = |path: String, value: Value| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    write(
        format!("message/{session}/{user}.json"),
        json!({ "id": user, "sessionID": session, "role": "user", "time": { "created": 1 } }),
    );
    write(
        format!("part/{user}/{part}.json"),
        json!({
            "id": part, "sessionID": session, "messageID": user, "type": "file",
            "mime": "image/png", "filename": "a.png", "url": url,
        }),
    );
}

#[tokio::test]
async fn a_stored_picture_that_is_a_device_or_a_pipe_is_neither_sent_nor_exported() {
    for kind in ["device", "pipe"] {
        let model = FakeModel::start().await;
        let app = TestApp::with_model(&model, WIRE).await;
        pipe(&app.path("pipe"));
        let url = match kind {
            "device" => "file:///dev/zero".to_owned(),
            _ => format!("file://{}", app.path("pipe").display()),
        };
        put_picture(&app, &url);
        let export = in_time(app.sessions.export(&app.session.id)).await.unwrap();
        let exported = serde_json::to_value(&export.messages).unwrap().to_string();
        assert!(exported.contains(&url), "{exported}");
        model.reply([text("I see nothing.")]);
        in_time(app.ask("what is in the picture?")).await;
        let answer = app.messages().await.pop().unwrap();
        assert_eq!(answer.info.as_assistant().unwrap().error, None);
    }
}
