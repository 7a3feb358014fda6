//! Reverting changes of the agent without losing any change of the person.

use std::fs;

use lathe_protocol::ipc::{RevertFile, RevertOutcome, RevertTarget};
use lathe_protocol::{MessageId, Part};
use lathe_session::Failed;
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::{call, pause, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

pub fn to(message: &MessageId) -> RevertTarget {
    RevertTarget::Message {
        message_id: message.clone(),
        keep_files: false,
    }
}

fn file(message: Option<&MessageId>, path: &str) -> RevertTarget {
    RevertTarget::File {
        message_id: message.cloned(),
        path: path.into(),
    }
}

/// `path change`, or the reason of a conflict.
pub fn describe(files: &[RevertFile]) -> Vec<String> {
    let one = |file: &RevertFile| match (&file.change, &file.reason) {
        (change, Some(why)) if change.is_left() => format!("{}: {why}", file.path),
        (change, None) => format!("{} {}", file.path, format!("{change:?}").to_lowercase()),
        other => panic!("{other:?}"),
    };
    files.iter().map(one).collect()
}

pub async fn revert(app: &TestApp, target: &RevertTarget) -> RevertOutcome {
    let outcome = app.sessions.revert(&app.session.id, target).await;
    outcome.expect("the revert is done")
}

pub async fn unrevert(app: &TestApp) -> RevertOutcome {
    let outcome = app.sessions.unrevert(&app.session.id).await;
    outcome.expect("the revert is undone")
}

#[tokio::test]
async fn a_revert_to_a_message_reverts_files_and_messages_and_unrevert_restores_them() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("gone.txt", "x\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let second = agent
        .turn("printf '3\\n' > a.txt; rm gone.txt; mkdir d; printf 'new\\n' > d/new.txt")
        .await;
    let app = &agent.app;

    let target = to(&second);
    let preview = app
        .sessions
        .preview_revert(&app.session.id, &target)
        .await
        .unwrap();
    assert_eq!(
        describe(&preview.files),
        ["a.txt restore", "d/new.txt delete", "gone.txt create"]
    );
    assert_eq!(preview.hides_messages, 3);
    assert_eq!(app.read("a.txt"), "3\n", "a preview changes nothing");

    let outcome = revert(app, &target).await;
    assert_eq!(outcome.files, preview.files);
    assert_eq!(agent.tree(), ["a.txt 2\n", "gone.txt x\n"]);
    assert!(
        !app.path("d").exists(),
        "a folder the agent made goes with its files"
    );
    let state = app
        .sessions
        .get(&app.session.id)
        .await
        .unwrap()
        .revert
        .unwrap();
    assert_eq!(state.message_id, second);
    assert_eq!(app.messages().await.len(), 6, "hidden, not gone");

    let outcome = unrevert(app).await;
    assert_eq!(outcome.session.revert, None);
    assert_eq!(agent.tree(), ["a.txt 3\n", "d/new.txt new\n"]);
}

#[tokio::test]
async fn the_next_prompt_makes_a_revert_final_and_the_model_never_sees_what_was_reverted() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.turn("printf 'first\\n' > a.txt").await;
    let second = agent.turn("printf 'SECRET_SECOND\\n' > a.txt").await;
    revert(&agent.app, &to(&second)).await;

    let next = agent.model.reply([text("fine")]);
    agent.app.ask("something else").await;

    let sent = format!("{:?}", next.request());
    assert!(sent.contains("first") && !sent.contains("SECRET_SECOND"));
    let app = &agent.app;
    let session = app.sessions.get(&app.session.id).await.unwrap();
    assert_eq!(session.revert, None);
    assert_eq!(app.messages().await.len(), 5);
    let again = app.sessions.unrevert(&app.session.id).await;
    assert!(matches!(again, Err(Failed::Refused(_))));
    let folders = fs::read_dir(app.data_dir().join("storage/part")).unwrap();
    let full = folders.filter(|folder| {
        let path = folder.as_ref().unwrap().path();
        fs::read_dir(path).unwrap().count() > 0
    });
    assert_eq!(full.count(), 5, "parts of hidden messages are gone");
}

#[tokio::test]
async fn no_change_of_the_person_is_lost_and_every_conflict_is_named() {
    let agent = Agent::start()
        .await
        .file("same.txt", "1\n")
        .file("deleted.txt", "1\n")
        .file("other.txt", "1\n");
    let turn = agent
        .turn("for f in same deleted; do printf '2\\n' > $f.txt; done; mkdir made; printf 'a\\n' > made/agent.txt")
        .await;
    let app = &agent.app;
    fs::write(app.path("same.txt"), "2\nmine\n").unwrap();
    fs::remove_file(app.path("deleted.txt")).unwrap();
    fs::write(app.path("other.txt"), "mine\n").unwrap();
    fs::write(app.path("made/mine.txt"), "mine\n").unwrap();

    let outcome = revert(app, &to(&turn)).await;
    assert_eq!(
        describe(&outcome.files),
        [
            "deleted.txt: changed since the agent wrote it",
            "made/agent.txt delete",
            "same.txt: changed since the agent wrote it",
        ]
    );
    let mine = [
        "made/mine.txt mine\n",
        "other.txt mine\n",
        "same.txt 2\nmine\n",
    ];
    assert_eq!(agent.tree(), mine);
    let trash = app
        .data_dir()
        .join("reverted")
        .join(app.session.id.as_str());
    assert_eq!(
        fs::read_to_string(trash.join("1/made/agent.txt")).unwrap(),
        "a\n"
    );

    unrevert(app).await;
    let mut back = mine.to_vec();
    back.insert(0, "made/agent.txt a\n");
    assert_eq!(agent.tree(), back);
}

#[tokio::test]
async fn a_file_changed_by_the_person_between_two_turns_is_not_reverted_past_that_change() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let first = agent.turn("printf '2\\n' > a.txt").await;
    fs::write(agent.app.path("a.txt"), "mine\n").unwrap();
    let second = agent.turn("printf 'more\\n' >> a.txt").await;

    let outcome = revert(&agent.app, &to(&first)).await;
    assert_eq!(
        describe(&outcome.files),
        ["a.txt: it was also changed between two of the agent's steps"]
    );
    assert_eq!(agent.app.read("a.txt"), "mine\nmore\n");
    // A revert to a later message is possible.
    revert(&agent.app, &to(&second)).await;
    assert_eq!(agent.app.read("a.txt"), "mine\n");
}

#[tokio::test]
async fn a_second_revert_can_go_further_back_or_forward() {
    let agent = Agent::start().await.file("a.txt", "0\n");
    let mut turns = Vec::new();
    for n in 1..=3 {
        turns.push(agent.turn(&format!("printf '{n}\\n' > a.txt")).await);
    }
    let app = &agent.app;
    revert(app, &to(&turns[2])).await;
    assert_eq!(app.read("a.txt"), "2\n");
    revert(app, &to(&turns[0])).await;
    assert_eq!(app.read("a.txt"), "0\n");
    let outcome = revert(app, &to(&turns[1])).await;
    assert_eq!(
        (app.read("a.txt").as_str(), outcome.hides_messages),
        ("1\n", 6)
    );
    unrevert(app).await;
    assert_eq!(app.read("a.txt"), "3\n");
}

#[tokio::test]
async fn a_revert_is_undone_after_a_restart() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent
        .turn("printf '2\\n' > a.txt; printf 'b\\n' > b.txt")
        .await;
    revert(&agent.app, &to(&turn)).await;
    let agent = agent.restart().await;
    assert_eq!(agent.tree(), ["a.txt 1\n"]);
    unrevert(&agent.app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt b\n"]);
}

#[tokio::test]
async fn one_file_is_reverted_alone_and_removed_from_the_diff() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    let turn = agent
        .turn("printf '2\\n' > a.txt; printf '2\\n' > b.txt")
        .await;
    let app = &agent.app;
    assert_eq!(agent.diff(None).await, ["a.txt +1 -1", "b.txt +1 -1"]);

    let outcome = revert(app, &file(Some(&turn), "b.txt")).await;
    assert_eq!(
        (describe(&outcome.files), outcome.hides_messages),
        (vec!["b.txt restore".into()], 0)
    );
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt 1\n"]);
    assert_eq!(agent.diff(None).await, ["a.txt +1 -1"]);
    assert_eq!(agent.diff(Some(&turn)).await, ["a.txt +1 -1"]);

    unrevert(app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt 2\n"]);
    assert_eq!(agent.diff(None).await, ["a.txt +1 -1", "b.txt +1 -1"]);
}

#[tokio::test]
async fn a_file_restored_by_hand_does_not_block_a_later_revert() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let first = agent.turn("printf '2\\n' > a.txt").await;
    revert(&agent.app, &file(None, "a.txt")).await;
    agent.turn("printf '3\\n' > a.txt").await;
    let outcome = revert(&agent.app, &to(&first)).await;
    assert_eq!(describe(&outcome.files), ["a.txt restore"]);
    assert_eq!(agent.app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn reverts_are_undone_step_by_step_also_after_a_restart() {
    let agent = Agent::start().await;
    let turn = agent
        .turn("echo a > a.txt; echo b > b.txt; echo c > c.txt")
        .await;
    for (path, undoable) in [("a.txt", 1), ("b.txt", 2), ("c.txt", 3)] {
        let outcome = revert(&agent.app, &file(None, path)).await;
        assert_eq!(outcome.undoable, undoable);
    }
    assert_eq!(unrevert(&agent.app).await.undoable, 2);
    let hidden = revert(&agent.app, &to(&turn)).await;
    assert_eq!(hidden.undoable, 2, "what is hidden comes back by itself");
    assert_eq!(unrevert(&agent.app).await.undoable, 2);

    let agent = agent.restart().await;
    let app = &agent.app;
    let session = app.sessions.get(&app.session.id).await.unwrap();
    assert_eq!(app.sessions.count_undoable(&session).await.unwrap(), 2);
    assert_eq!(unrevert(app).await.undoable, 1);
    assert_eq!(unrevert(app).await.undoable, 0);
    assert_eq!(agent.tree(), ["a.txt a\n", "b.txt b\n", "c.txt c\n"]);
}

#[tokio::test]
async fn a_revert_to_a_part_keeps_what_came_before_it_in_the_same_step() {
    let agent = Agent::start()
        .await
        .file("a.txt", "0\n")
        .file("b.txt", "0\n");
    let run = |command: &str| call("bash", json!({ "command": command, "description": "edit" }));
    agent.model.reply([
        text("both"),
        run("printf '1\\n' > a.txt"),
        run("printf '1\\n' > b.txt"),
    ]);
    agent.model.reply([text("done")]);
    let app = &agent.app;
    app.ask("go").await;
    let step = app.messages().await.remove(1);
    let calls: Vec<_> = step
        .parts
        .iter()
        .filter(|part| matches!(part, Part::Tool(_)))
        .collect();
    let target = RevertTarget::Part {
        message_id: step.info.id().clone(),
        part_id: calls[1].id().clone(),
    };
    let outcome = revert(app, &target).await;
    assert_eq!(describe(&outcome.files), ["b.txt restore"]);
    assert_eq!(outcome.hides_messages, 1);
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 0\n"]);

    let next = agent.model.reply([text("fine")]);
    app.ask("go on").await;
    assert!(!format!("{:?}", next.request()).contains("b.txt"));
    assert_eq!(
        app.outline().await,
        [
            "user: text",
            "assistant: step-start text tool",
            "user: text",
            "assistant: step-start text step-finish",
        ]
    );
}

#[tokio::test]
async fn a_revert_is_refused_while_the_session_is_busy() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\\n' > a.txt").await;
    agent.model.reply([text("thinking"), pause(600_000)]);
    let app = &agent.app;
    app.send("more").await;
    let refused = app.sessions.revert(&app.session.id, &to(&turn)).await;
    assert!(matches!(refused, Err(Failed::Busy)));
    assert_eq!(app.read("a.txt"), "2\n");
    app.sessions.abort(&app.session.id).await;
    revert(app, &to(&turn)).await;
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn a_prompt_is_edited_and_sent_again_without_touching_files() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\\n' > a.txt").await;
    let target = RevertTarget::Message {
        message_id: turn.clone(),
        keep_files: true,
    };
    let outcome = revert(&agent.app, &target).await;
    assert_eq!((outcome.files.len(), outcome.hides_messages), (0, 3));
    agent.model.reply([text("again")]);
    agent.app.ask("the better prompt").await;
    assert_eq!(agent.app.read("a.txt"), "2\n");
    assert_eq!(agent.app.outline().await.len(), 2);
}

#[tokio::test]
async fn restoring_a_named_snapshot_restores_the_whole_tree_and_can_be_undone() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = &agent.app;
    let snapshot = app
        .sessions
        .take_snapshot(&app.session.id, " before lunch ")
        .await
        .unwrap();
    assert_eq!(snapshot.name.as_deref(), Some("before lunch"));
    assert_eq!(app.outline().await, ["user: snapshot"]);
    agent.turn("printf '2\\n' > a.txt").await;
    fs::write(app.path("mine.txt"), "mine\n").unwrap();

    let target = RevertTarget::Snapshot {
        message_id: snapshot.message_id.clone(),
        part_id: snapshot.id.clone(),
    };
    let outcome = revert(app, &target).await;
    assert_eq!(
        describe(&outcome.files),
        ["a.txt restore", "mine.txt delete"]
    );
    assert_eq!(agent.tree(), ["a.txt 1\n"]);
    unrevert(app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "mine.txt mine\n"]);
}

#[tokio::test]
async fn what_a_revert_of_one_file_saved_cannot_be_restored_over_the_whole_project() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    revert(app, &file(Some(&turn), "a.txt")).await;
    fs::write(app.path("mine.txt"), "mine\n").unwrap();

    let messages = app.messages().await;
    let mut parts = messages.iter().flat_map(|message| &message.parts);
    let saved = parts.find_map(|part| match part {
        Part::Snapshot(part) => Some(part),
        _ => None,
    });
    let saved = saved.expect("the revert saved the files first");
    let target = RevertTarget::Snapshot {
        message_id: saved.message_id.clone(),
        part_id: saved.id.clone(),
    };
    let refused = app.sessions.preview_revert(&app.session.id, &target).await;
    assert!(matches!(refused, Err(Failed::Refused(_))), "{refused:?}");
    let refused = app.sessions.revert(&app.session.id, &target).await;
    assert!(matches!(refused, Err(Failed::Refused(_))), "{refused:?}");
    assert_eq!(agent.tree(), ["a.txt 1\n", "mine.txt mine\n"]);
    unrevert(app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "mine.txt mine\n"]);
}
