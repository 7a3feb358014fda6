//! The summary of a session: which files the agent changed, and by how many lines.

use std::fs;

use lathe_protocol::{Action, Event, FileDiff, FileStatus};
use lathe_session::Answer;
use lathe_session::bus::Notification;
use lathe_test_support::app::{until, until_idle};
use lathe_test_support::fake_model::{call, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

#[tokio::test]
async fn a_session_counts_what_its_turns_changed_and_each_prompt_lists_its_own() {
    let agent = Agent::start().await.file("a.txt", "1\n2\n");
    fs::write(agent.app.path("mine.txt"), "mine\n").unwrap();
    let first = agent.turn("printf '1\\n2\\n3\\n' > a.txt").await;
    fs::write(agent.app.path("mine.txt"), "mine, again\n").unwrap();
    let second = agent.turn("printf 'x\\n' > b.txt; rm a.txt").await;

    assert_eq!(agent.diff(Some(&first)).await, ["a.txt +1 -0"]);
    assert_eq!(
        agent.diff(Some(&second)).await,
        ["a.txt +0 -3", "b.txt +1 -0"]
    );
    assert_eq!(agent.diff(None).await, ["a.txt +0 -2", "b.txt +1 -0"]);
    let app = &agent.app;
    let summary = app
        .sessions
        .get(&app.session.id)
        .await
        .unwrap()
        .summary
        .unwrap();
    let files = summary.files.unwrap().0;
    assert_eq!((summary.additions.0, summary.deletions.0, files), (1, 2, 2));

    let stored = app
        .data_dir()
        .join(format!("storage/session_diff/{}.json", app.session.id));
    let stored: Vec<FileDiff> = serde_json::from_slice(&fs::read(stored).unwrap()).unwrap();
    assert_eq!(stored[0].before.as_deref(), Some("1\n2\n"));
    assert_eq!(
        (&stored[0].status, &stored[1].status),
        (&Some(FileStatus::Deleted), &Some(FileStatus::Added))
    );
}

#[tokio::test]
async fn the_summary_is_published_before_the_turn_ends() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let mut events = agent.app.sessions.subscribe();
    agent.model.reply([call(
        "bash",
        json!({ "command": "printf '2\\n' > a.txt", "description": "edit" }),
    )]);
    agent.model.reply([text("done")]);
    agent.app.send("go").await;
    let published = until(&mut events, |event| {
        matches!(event, Event::SessionIdle { .. })
    })
    .await;
    let diffs: Vec<_> = published
        .iter()
        .filter_map(|published| match published {
            Notification::Event(event) => match &**event {
                Event::SessionDiff { diff, .. } => Some(diff.len()),
                _ => None,
            },
            Notification::Delta(_) | Notification::Queue(_) | Notification::Review(_) => None,
        })
        .collect();
    assert_eq!(diffs, [1]);
}

#[tokio::test]
async fn a_long_file_is_counted_and_its_text_is_loaded_on_demand() {
    let agent = Agent::start().await;
    agent
        .turn("seq 1 40000 > long.txt; printf 'a\\0b' > binary")
        .await;
    let app = &agent.app;
    let diffs = app.sessions.diff(&app.session.id, None).await.unwrap();
    let counts: Vec<_> = diffs
        .iter()
        .map(|diff| {
            (
                diff.file.as_str(),
                diff.folded,
                diff.binary,
                diff.additions.0,
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            ("binary", None, Some(true), 0),
            ("long.txt", Some(true), None, 40_000)
        ]
    );
    assert_eq!(diffs[1].after.as_deref(), Some(""));
    let whole = app
        .sessions
        .file_diff(&app.session.id, None, "long.txt")
        .await
        .unwrap();
    assert!(whole.after.unwrap().ends_with("40000\n"));
}

#[tokio::test]
async fn edits_by_the_person_during_read_only_steps_are_not_counted() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = agent.app.rule("read", "*", Action::Ask);
    let mut events = app.sessions.subscribe();
    agent
        .model
        .reply([call("read", json!({ "filePath": app.path("a.txt") }))]);
    agent.model.reply([text("read")]);
    app.send("look").await;
    let asked = app.next_permission(&mut events).await;
    fs::write(app.path("a.txt"), "mine\n").unwrap();
    let once = app
        .sessions
        .answer_permission(&asked.id, Answer::Once)
        .await;
    once.unwrap();
    until_idle(&mut events, &app.session.id).await;

    let kinds = app.outline().await;
    assert_eq!(
        kinds[1..],
        [
            "assistant: step-start tool step-finish",
            "assistant: step-start text step-finish"
        ]
    );
}

#[tokio::test]
async fn changes_before_a_summary_are_still_counted() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    agent.turn("printf '1\\n2\\n' > a.txt").await;
    agent.turn("printf '1\\n2\\n' > b.txt").await;
    // Before the summary, where a later turn does not read.
    for _ in 0..50 {
        agent.model.reply([text("Mm.")]);
        agent.app.ask("and?").await;
    }
    agent.model.reply([text("## Goal\nChange a.txt")]);
    let mut events = agent.app.sessions.subscribe();
    let id = &agent.app.session.id;
    agent.app.sessions.compact(id).await.unwrap();
    until_idle(&mut events, id).await;

    for _ in 0..2 {
        agent.turn("printf '1\\n2\\n3\\n' > b.txt").await;
        assert_eq!(agent.diff(None).await, ["a.txt +1 -0", "b.txt +2 -0"]);
    }
    // Another process has not read it yet.
    let agent = agent.restart().await;
    agent.turn("printf 'x\\n' > c.txt; rm a.txt").await;
    let all = ["a.txt +0 -1", "b.txt +2 -0", "c.txt +1 -0"];
    assert_eq!(agent.diff(None).await, all);
}
