//! After a crash, open calls and messages are settled and nothing is lost.

use lathe_protocol::{MessageError, Part, SessionStatus, ToolState};
use lathe_test_support::app::TestApp;
use serde_json::json;

/// A session as a killed process leaves it: a step with a running and a pending call.
pub fn cut_short(app: &TestApp) {
    let storage = app.data_dir().join("storage");
    let session = app.session.id.as_str();
    let write = |path: String, value: serde_json::Value| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    };
    let (user, answer) = (
        "msg_b996eae6c001AAAAAAAAAAAAAA",
        "msg_b996eae6d001AAAAAAAAAAAAAA",
    );
    write(
        format!("message/{session}/{user}.json"),
        json!({
            "id": user, "sessionID": session, "role": "user", "time": { "created": 1 },
        }),
    );
    write(
        format!("message/{session}/{answer}.json"),
        json!({
            "id": answer, "sessionID": session, "role": "assistant", "time": { "created": 2 },
            "parentID": user, "modelID": "m", "providerID": "p", "mode": "build",
            "path": { "cwd": "/", "root": "/" }, "cost": 0,
            "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
        }),
    );
    let states = [
        json!({ "status": "running", "input": { "command": "make" }, "time": { "start": 3 } }),
        json!({ "status": "pending", "input": {}, "raw": "{\"a" }),
    ];
    for (index, state) in states.into_iter().enumerate() {
        let id = format!("prt_b996eae6e00{index}AAAAAAAAAAAAAA");
        write(
            format!("part/{answer}/{id}.json"),
            json!({
                "id": id, "sessionID": session, "messageID": answer, "type": "tool",
                "callID": format!("c{index}"), "tool": "bash", "state": state,
            }),
        );
    }
}

#[tokio::test]
async fn open_calls_and_messages_of_a_crash_are_settled_when_the_session_is_opened() {
    let app = TestApp::start().await;
    cut_short(&app);
    app.sessions.recover(&app.session.id).await;

    let messages = app.messages().await;
    let answer = messages[1].info.as_assistant().unwrap();
    assert!(answer.time.completed.is_some());
    assert!(matches!(answer.error, Some(MessageError::Aborted(_))));
    let errors: Vec<_> = messages[1]
        .parts
        .iter()
        .map(|part| match part {
            Part::Tool(tool) => match tool.state() {
                ToolState::Error(failed) => failed.error.as_str(),
                other => panic!("still {}", other.name()),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(errors, ["Tool execution aborted"; 2]);
}

#[tokio::test]
async fn an_interrupted_session_answers_the_next_prompt() {
    let app = TestApp::start().await;
    cut_short(&app);
    app.ask("go on").await;
    let outline = app.outline().await;
    assert_eq!(outline.len(), 4);
    assert_eq!(
        outline[3],
        "assistant: step-start reasoning text step-finish"
    );
}

#[tokio::test]
async fn everything_is_there_again_after_a_restart() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let before = app.messages().await;
    let app = app.restart().await;
    assert_eq!(app.messages().await, before);
    assert_eq!(
        app.sessions.projects().await.unwrap(),
        std::slice::from_ref(&app.project)
    );
    app.ask("again").await;
    assert_eq!(app.messages().await.len(), 4);
}

#[tokio::test]
async fn recovery_leaves_a_session_of_another_process_alone() {
    let app = TestApp::start().await;
    cut_short(&app);
    let store = lathe_store::Store::open(app.data_dir(), lathe_store::Options::default()).await;
    let store = store.unwrap();
    let writer = store.lock_session(&app.session.id).await.unwrap();

    let before = app.messages().await;
    app.sessions.recover(&app.session.id).await;
    assert_eq!(
        app.messages().await,
        before,
        "it may be in the middle of its turn"
    );
    let input = lathe_protocol::ipc::PromptInput {
        text: "hi".into(),
        ..Default::default()
    };
    let refused = app.sessions.prompt(&app.session.id, input.clone()).await;
    assert!(refused.unwrap_err().to_string().contains("in use"));
    assert_eq!(app.messages().await, before);
    assert_eq!(app.sessions.status(&app.session.id), SessionStatus::Idle);

    drop(writer);
    app.sessions.prompt(&app.session.id, input).await.unwrap();
}

#[tokio::test]
async fn a_session_that_cannot_be_settled_for_want_of_room_can_be_read() {
    let app = TestApp::start().await;
    cut_short(&app);
    let before = app.messages().await;
    // What is appended to the journal is refused, as on a full disk.
    let locks = app.data_dir().join("locks");
    let names = locks
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let tag = names
        .filter_map(|name| Some(name.to_str()?.strip_prefix("scratch-")?.to_owned()))
        .next();
    let journal = locks.join(format!("journal-{}", tag.unwrap()));
    let _ = std::fs::remove_file(&journal);
    std::fs::create_dir(&journal).unwrap();

    app.sessions.recover(&app.session.id).await;
    assert_eq!(app.messages().await, before);
}
