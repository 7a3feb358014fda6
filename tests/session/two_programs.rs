//! Two programs on one data directory: who works on a session has it to itself.

use lathe_protocol::SessionId;
use lathe_store::{SessionWriter, Store};
use lathe_test_support::app::TestApp;

/// Another program that works on a session.
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

#[tokio::test]
async fn nothing_is_removed_while_another_program_works_on_any_of_it() {
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
async fn a_turn_of_our_own_is_stopped_before_its_session_is_removed() {
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
