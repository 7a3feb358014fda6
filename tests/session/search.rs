//! Search: during a session, after a restart, and with a missing index.

use std::fs;
use std::time::Duration;

use lathe_protocol::ipc::{HitKind, PromptInput, RevertTarget};
use lathe_protocol::{MessageId, MessageWithParts, Part};
use lathe_provider::WireKind;
use lathe_session::WindowAnchor;
use lathe_test_support::app::{TestApp, until_idle};
use lathe_test_support::fake_model::{FakeModel, call, text};
use serde_json::json;

async fn titles(app: &TestApp, typed: &str) -> Vec<String> {
    app.sessions.index_all().await.unwrap();
    let answer = app.sessions.search_text(typed, 20).await.unwrap();
    let mut titles: Vec<_> = answer.hits.into_iter().map(|hit| hit.title).collect();
    titles.dedup();
    titles
}

fn database(app: &TestApp) -> std::path::PathBuf {
    app.data_dir().join("index").join("search.db")
}

#[tokio::test]
async fn a_prompt_and_its_answer_are_found_with_their_message() {
    let app = TestApp::start().await;
    app.sessions.rename(&app.session.id, "Tea").await.unwrap();
    app.sessions.start_indexing().await.unwrap();
    let asked = app.ask("where is the marzipan kept?").await;

    let answer = loop {
        let answer = app.sessions.search_text("marzip kept", 20).await.unwrap();
        if !answer.indexing {
            break answer;
        }
    };

    let first = answer
        .hits
        .iter()
        .find(|hit| hit.message_id == asked)
        .unwrap();
    assert_eq!((first.title.as_str(), first.kind), ("Tea", HitKind::Text));
    assert_eq!(first.session_id, app.session.id);
    let marked: Vec<_> = first
        .snippet
        .iter()
        .filter(|piece| piece.hit)
        .map(|piece| piece.text.as_str())
        .collect();
    assert_eq!(marked, ["marzip", "kept"]);
}

#[tokio::test]
async fn the_input_and_output_of_tools_are_found() {
    let model = FakeModel::start().await;
    model.reply([call("read", json!({ "filePath": "quince.txt" }))]);
    model.reply([text("Seen.")]);
    let app = TestApp::with_model(&model, WireKind::OpenaiChat)
        .await
        .file("quince.txt", "a jelly recipe");
    app.ask("have a look").await;
    app.sessions.index_all().await.unwrap();
    for said in ["quince", "jelly"] {
        let answer = app.sessions.search_text(said, 5).await.unwrap();
        let kinds: Vec<_> = answer.hits.iter().map(|hit| hit.kind).collect();
        assert_eq!(kinds, [HitKind::Tool], "{said}");
    }
}

#[tokio::test]
async fn a_removed_session_is_not_found_and_a_restored_one_is() {
    let app = TestApp::start().await;
    app.sessions.rename(&app.session.id, "Jam").await.unwrap();
    app.ask("about gooseberries").await;
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
    app.sessions.remove(&app.session.id).await.unwrap();
    assert_eq!(titles(&app, "gooseberries").await, [""; 0]);
    app.sessions.restore(&app.session.id).await.unwrap();
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
}

#[tokio::test]
async fn a_new_title_is_shown_by_the_next_search() {
    let app = TestApp::start().await;
    app.ask("about gooseberries").await;
    titles(&app, "gooseberries").await;
    app.sessions
        .rename(&app.session.id, "Renamed")
        .await
        .unwrap();
    let answer = app.sessions.search_text("gooseberries", 20).await.unwrap();
    assert_eq!(answer.hits[0].title, "Renamed");
}

#[tokio::test]
async fn a_missing_or_damaged_index_is_rebuilt() {
    let app = TestApp::start().await;
    app.sessions.rename(&app.session.id, "Jam").await.unwrap();
    app.ask("about gooseberries").await;
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
    let path = database(&app);
    let app = app.restart().await;
    fs::remove_file(&path).unwrap();
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
    let app = app.restart().await;
    fs::write(&path, "no database").unwrap();
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
    app.sessions.rebuild_index().await.unwrap();
    assert_eq!(titles(&app, "gooseberries").await, ["Jam"]);
}

#[tokio::test]
async fn sessions_written_by_another_process_are_found() {
    let app = TestApp::start().await;
    app.ask("about gooseberries").await;
    titles(&app, "gooseberries").await;
    let other = app.second_process().await;
    app.clock.advance(Duration::from_secs(30));
    let id = app.session.id.clone();
    let mut events = other.subscribe();
    let input = PromptInput {
        text: "and about damsons".into(),
        ..PromptInput::default()
    };
    other.prompt(&id, input).await.unwrap();
    until_idle(&mut events, &id).await;

    app.sessions.index_all().await.unwrap();
    let hits = app.sessions.search_text("damsons", 20).await.unwrap().hits;
    assert!(!hits.is_empty());
    let found = app.sessions.find_in(&id, "DAMSONS").await.unwrap();
    assert!(!found.is_empty());
}

#[tokio::test]
async fn finding_in_a_session_counts_only_that_session() {
    let app = TestApp::start().await;
    let asked = app.ask("plum Plum PLUM").await;
    let other = app.sessions.create(&app.project, None).await.unwrap();
    let hits = app.sessions.find_in(&app.session.id, "plum").await.unwrap();
    let mine: Vec<_> = hits
        .iter()
        .filter(|hit| hit.message_id == asked)
        .map(|hit| hit.nth)
        .collect();
    assert_eq!(mine, [0, 1, 2]);
    assert_eq!(app.sessions.find_in(&other.id, "plum").await.unwrap(), []);
}

#[tokio::test]
async fn reverted_messages_are_not_found_in_the_session() {
    let app = TestApp::start().await;
    let visible = app.ask("plums, please").await;
    let taken = app.ask("more plums").await;
    let target = RevertTarget::Message {
        message_id: taken.clone(),
        keep_files: false,
    };
    app.sessions.revert(&app.session.id, &target).await.unwrap();

    let found = messages_saying(&app, "plums").await;
    assert!(
        found.contains(&visible) && !found.contains(&taken),
        "{found:?}"
    );

    app.sessions.unrevert(&app.session.id).await.unwrap();
    assert!(messages_saying(&app, "plums").await.contains(&taken));
}

async fn messages_saying(app: &TestApp, text: &str) -> Vec<MessageId> {
    let hits = app.sessions.find_in(&app.session.id, text).await.unwrap();
    hits.into_iter().map(|hit| hit.message_id).collect()
}

#[tokio::test]
async fn a_session_opens_around_a_message_and_loads_in_both_directions() {
    let app = TestApp::start().await;
    let mut asked = Vec::new();
    for number in 0..6 {
        asked.push(app.ask(&format!("question {number}")).await);
    }
    let all = app
        .sessions
        .messages(&app.session.id, None, 1000)
        .await
        .unwrap()
        .messages;
    let at = place(&all, &asked[2]);
    let window = app
        .sessions
        .window(&app.session.id, &WindowAnchor::Around(asked[2].clone()), 4)
        .await
        .unwrap();
    assert_eq!(ids(&window.page.messages), ids(&all[at - 2..at + 2]));
    assert!(window.page.has_older && window.has_newer);
    let last = window.page.messages.last().unwrap().info.id().clone();
    let rest = app
        .sessions
        .window(&app.session.id, &WindowAnchor::After(last), 1000)
        .await
        .unwrap();
    assert_eq!(ids(&rest.page.messages), ids(&all[at + 2..]));
    assert!(!rest.has_newer);
}

fn place(messages: &[MessageWithParts], id: &MessageId) -> usize {
    messages.iter().position(|one| one.info.id() == id).unwrap()
}

fn ids(messages: &[MessageWithParts]) -> Vec<&MessageId> {
    messages.iter().map(|one| one.info.id()).collect()
}

#[tokio::test]
async fn a_long_session_is_read_again_only_where_it_changed() {
    let app = TestApp::start().await;
    for number in 0..4 {
        app.ask(&format!("question number{number}")).await;
    }
    app.sessions.index_all().await.unwrap();
    let page = app
        .sessions
        .messages(&app.session.id, None, 1000)
        .await
        .unwrap();
    let spoken: usize = page
        .messages
        .iter()
        .flat_map(|one| &one.parts)
        .filter(|part| matches!(part, Part::Text(_)))
        .count();
    assert!(spoken >= 8, "{spoken}");
    for number in 0..4 {
        let found = app
            .sessions
            .find_in(&app.session.id, &format!("number{number}"))
            .await
            .unwrap();
        assert!(!found.is_empty(), "{number}");
    }
}
