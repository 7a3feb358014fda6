//! Two processes on one data directory: a session has one writer at a time.

use lathe_protocol::{Part, SessionId, ToolState};
use lathe_session::Sessions;
use lathe_store::{SessionWriter, Store};
use lathe_test_support::app::TestApp;
use lathe_test_support::scripted_agent::Agent;

use crate::recovery::cut_short;

/// Another process that is working on a session.
async fn held_elsewhere(app: &TestApp, id: &SessionId) -> SessionWriter {
    let store = Store::open(app.data_dir(), lathe_store::Options::default()).await;
    store.unwrap().lock_session(id).await.unwrap()
}

/// The files of all sessions.
fn files(app: &TestApp) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![app.data_dir().join("storage"), app.data_dir().join("trash")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// The parts that another process finds in the session.
async fn parts(beside: &Sessions, id: &SessionId) -> Vec<Part> {
    let page = beside.messages(id, None, 99).await.unwrap();
    let messages = page.messages.into_iter();
    messages.flat_map(|message| message.parts).collect()
}

#[tokio::test]
async fn nothing_is_removed_while_another_process_works_on_a_part_of_it() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let id = &app.session.id;
    let child = app.sessions.create(&app.project, Some(id)).await.unwrap();
    let grandchild = app.sessions.create(&app.project, Some(&child.id)).await;
    let grandchild = grandchild.unwrap();
    let before = files(&app);
    for member in [id, &child.id, &grandchild.id] {
        let writer = held_elsewhere(&app, member).await;
        let refused = app.sessions.remove(id).await.unwrap_err().to_string();
        let expected = format!(
            "session {member} is in use by process {}",
            std::process::id()
        );
        assert_eq!(refused, expected);
        assert_eq!(files(&app), before);
        drop(writer);
    }
    app.sessions.remove(id).await.unwrap();
    assert_eq!(app.sessions.list(&app.project).await.unwrap(), []);
}

#[tokio::test]
async fn a_turn_of_this_process_is_stopped_before_its_session_is_removed() {
    let app = TestApp::start().await;
    app.send("hello").await;
    app.sessions.remove(&app.session.id).await.unwrap();
    let left = files(&app).into_iter().filter(|file| {
        let inside = file.strip_prefix(app.data_dir().join("storage"));
        inside.is_ok_and(|inside| inside.starts_with("message") || inside.starts_with("part"))
    });
    assert_eq!(left.count(), 0);
    app.sessions.restore(&app.session.id).await.unwrap();
    assert!(!app.messages().await.is_empty());
}

#[tokio::test]
async fn a_named_snapshot_is_visible_to_the_next_process() {
    let app = TestApp::start().await;
    app.ask("hello").await;
    let (id, beside) = (&app.session.id, app.second_process().await);
    let snapshot = app.sessions.take_snapshot(id, "mine").await.unwrap();
    assert!(parts(&beside, id).await.contains(&Part::Snapshot(snapshot)));
}

#[tokio::test]
async fn what_a_crash_left_is_settled_for_the_next_process() {
    let app = TestApp::start().await;
    cut_short(&app);
    let (id, beside) = (&app.session.id, app.second_process().await);
    app.sessions.recover(id).await;
    let found = parts(&beside, id).await;
    assert_eq!(found.len(), 2);
    let is_settled = |part: &Part| match part {
        Part::Tool(tool) => matches!(tool.state(), ToolState::Error(_)),
        _ => false,
    };
    assert!(found.iter().all(is_settled), "{found:?}");
}

#[tokio::test]
async fn the_changes_of_a_turn_are_visible_to_the_next_process_when_it_has_ended() {
    let agent = Agent::start().await;
    let beside = agent.app.second_process().await;
    // So many files that the summary is computed long after the answer has ended.
    let turn = agent
        .turn("for at in $(seq 500); do echo $at > $at; done")
        .await;
    let listed = beside.diff(&agent.app.session.id, Some(&turn)).await;
    assert_eq!(listed.unwrap().len(), 500);
}
