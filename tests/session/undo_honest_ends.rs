//! A revert says what it did not do, tries it again, and loses nothing for good.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lathe_protocol::ipc::{RevertChoice, RevertOptions};
use lathe_protocol::{Part, ToolState};
use lathe_test_support::fake_model::{call, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

use crate::revert::{describe, revert, to, unrevert};

static FORCE: RevertOptions = RevertOptions {
    force: true,
    choices: std::collections::BTreeMap::new(),
};

#[tokio::test]
async fn what_a_revert_left_is_tried_again_by_the_next_one() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt; echo 2 > b.txt").await;
    fs::write(agent.app.path("b.txt"), "mine\n").unwrap();
    let first = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        (describe(&first.files), first.complete),
        (
            vec![
                "a.txt restore".to_owned(),
                "b.txt: changed since the agent wrote it".to_owned()
            ],
            false
        )
    );
    let again = revert(&agent.app, &to(&turn)).await;
    assert!(!again.complete, "a second revert is no success either");
    fs::write(agent.app.path("b.txt"), "2\n").unwrap();
    let third = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        (describe(&third.files), third.complete),
        (vec!["b.txt restore".to_owned()], true)
    );
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
    unrevert(&agent.app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt 2\n"]);
}

#[tokio::test]
async fn files_that_a_revert_left_are_named_until_the_person_has_decided_about_each() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n")
        .file("c.txt", "1\n");
    let turn = agent.turn("for f in a b c; do echo 2 > $f.txt; done").await;
    for name in ["a.txt", "b.txt", "c.txt"] {
        fs::write(agent.app.path(name), "mine\n").unwrap();
    }
    let (app, target) = (&agent.app, to(&turn));
    assert!(!revert(app, &target).await.complete);
    let left = async || {
        let pending = app.sessions.pending_revert(&app.session.id).await.unwrap();
        pending.unwrap().left
    };
    assert_eq!(left().await, ["a.txt", "b.txt", "c.txt"]);

    let decide = async |name: &str, choice| {
        let options = RevertOptions {
            force: false,
            choices: [(name.to_owned(), choice)].into(),
        };
        let id = &app.session.id;
        let done = app.sessions.revert_with(id, &target, &options).await;
        done.unwrap().complete
    };
    assert!(!decide("a.txt", RevertChoice::Mine).await);
    assert_eq!(left().await, ["b.txt", "c.txt"]);
    assert!(!decide("b.txt", RevertChoice::Before).await);
    assert_eq!(left().await, ["c.txt"]);
    assert!(decide("c.txt", RevertChoice::Both).await);
    assert_eq!(left().await, [""; 0]);
    assert_eq!(
        agent.tree(),
        [
            "a.txt mine\n",
            "b.txt 1\n",
            "c.before.txt 1\n",
            "c.txt mine\n"
        ]
    );
    assert!(
        revert(app, &target).await.complete,
        "nothing is open any more"
    );
    unrevert(app).await;
    assert_eq!(
        agent.tree(),
        ["a.txt mine\n", "b.txt mine\n", "c.txt mine\n"]
    );
}

#[tokio::test]
async fn without_snapshots_a_command_is_unknown_and_its_messages_stay_until_forced() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.app.configure(json!({ "snapshot": false }));
    let agent = agent.restart().await;
    let turn = agent.turn("echo 2 > a.txt").await;
    let edited = json!({ "filePath": "b.txt", "content": "b\n" });
    agent.call("write", edited).await;
    let app = &agent.app;
    let preview = app
        .sessions
        .preview_revert(&app.session.id, &to(&turn))
        .await
        .unwrap();
    let unknown =
        ["What bash (echo 2 > a.txt) did is not known: snapshots are switched off".to_owned()];
    assert_eq!(
        (preview.unknown.as_slice(), preview.complete),
        (&unknown[..], false)
    );
    let outcome = revert(app, &to(&turn)).await;
    assert_eq!(outcome.unknown, unknown);
    assert_eq!(
        describe(&outcome.files),
        ["b.txt delete"],
        "what is known is reverted"
    );
    assert_eq!((outcome.hides_messages, outcome.complete), (0, false));
    assert_eq!(outcome.session.revert, None);
    let (id, target) = (&app.session.id, to(&turn));
    let forced = app.sessions.revert_with(id, &target, &FORCE).await.unwrap();
    assert_eq!((forced.hides_messages, forced.complete), (6, false));
}

#[tokio::test]
async fn after_a_kill_the_files_are_named_and_nothing_is_reverted_unasked() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    agent.cut_short(&agent.app.session.id).await;
    let agent = agent.restart().await;
    let app = &agent.app;
    app.sessions.recover(&app.session.id).await;
    let calls = app
        .messages()
        .await
        .into_iter()
        .flat_map(|message| message.parts);
    let aborted = |part: &Part| match part {
        Part::Tool(call) => matches!(call.state(), ToolState::Error(_)),
        _ => false,
    };
    assert_eq!(calls.filter(aborted).count(), 1);

    let outcome = revert(app, &to(&turn)).await;
    assert_eq!(
        (describe(&outcome.files), outcome.complete),
        (
            vec!["a.txt: changed since a step of the agent that was cut short".to_owned()],
            false
        )
    );
    assert_eq!(
        outcome.session.revert, None,
        "no message is hidden as if all were done"
    );
    let sides = outcome.files[0].sides.clone().unwrap();
    assert_eq!(
        (sides.before.as_deref(), sides.now.as_deref()),
        (Some("1\n"), Some("2\n"))
    );
    assert_eq!(app.read("a.txt"), "2\n");
    let (id, target) = (&app.session.id, to(&turn));
    let forced = app.sessions.revert_with(id, &target, &FORCE).await.unwrap();
    assert!(forced.complete);
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn what_a_revert_did_without_hiding_messages_is_undone_with_the_one_that_hides_them() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    agent.model.reply([call(
        "bash",
        json!({ "command": "echo 2 > a.txt", "description": "edit" }),
    )]);
    let turn = agent.turn("echo 2 > b.txt").await;
    agent.cut_short(&agent.app.session.id).await;
    let agent = agent.restart().await;
    let app = &agent.app;
    app.sessions.recover(&app.session.id).await;

    let partly = revert(app, &to(&turn)).await;
    assert_eq!((partly.hides_messages, partly.undoable), (0, 1));
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 2\n"]);
    let (id, target) = (&app.session.id, to(&turn));
    let forced = app.sessions.revert_with(id, &target, &FORCE).await.unwrap();
    assert!(forced.session.revert.is_some());
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
    let undone = unrevert(app).await;
    assert_eq!((undone.session.revert, undone.undoable), (None, 0));
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt 2\n"]);
}

#[tokio::test]
async fn what_a_prompt_removed_after_a_revert_is_restored_with_its_files() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt; echo b > b.txt").await;
    let before = agent.app.messages().await;
    revert(&agent.app, &to(&turn)).await;
    agent.model.reply([text("fine")]);
    agent.app.ask("something else").await;
    agent.app.sessions.clean_up(0).await;

    let app = &agent.app;
    let list = app.sessions.reverted(&app.session.id).await.unwrap();
    let [item] = list.as_slice() else {
        panic!("{list:?}")
    };
    assert_eq!(
        (item.title.as_str(), item.messages, item.files.as_slice()),
        ("do it", 3, &["a.txt".to_owned(), "b.txt".to_owned()][..])
    );
    let options = RevertOptions::default();
    let restored = app
        .sessions
        .restore_reverted(&app.session.id, &item.id, &options);
    assert!(restored.await.unwrap().complete);
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt b\n"]);
    let ids = |messages: &[lathe_protocol::MessageWithParts]| -> Vec<String> {
        messages
            .iter()
            .map(|one| one.info.id().to_string())
            .collect()
    };
    let now = app.messages().await;
    assert_eq!(ids(&now)[..3], ids(&before)[..]);
    assert_eq!(app.sessions.reverted(&app.session.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_file_that_could_not_be_brought_back_stays_in_the_list() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    revert(app, &to(&turn)).await;
    fs::write(app.path("a.txt"), "mine\n").unwrap();
    let outcome = unrevert(app).await;
    assert!(!outcome.complete);
    assert_eq!(app.read("a.txt"), "mine\n");
    let list = app.sessions.reverted(&app.session.id).await.unwrap();
    assert_eq!(list[0].files, ["a.txt"]);
    let restored = app
        .sessions
        .restore_reverted(&app.session.id, &list[0].id, &FORCE);
    assert!(restored.await.unwrap().complete);
    assert_eq!(app.read("a.txt"), "2\n");
}

#[tokio::test]
async fn the_version_of_the_person_that_a_restore_replaces_is_listed_and_restored() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    revert(app, &to(&turn)).await;
    fs::write(app.path("a.txt"), "mine\n").unwrap();
    unrevert(app).await;
    let id = &app.session.id;
    let list = async || app.sessions.reverted(id).await.unwrap();
    let left = list().await;
    let as_removed = RevertOptions {
        force: false,
        choices: [("a.txt".to_owned(), RevertChoice::Before)].into(),
    };
    let restored = app.sessions.restore_reverted(id, &left[0].id, &as_removed);
    assert!(restored.await.unwrap().complete);
    assert_eq!(app.read("a.txt"), "2\n");

    let replaced = list().await;
    let described = replaced
        .iter()
        .map(|item| (item.title.as_str(), item.files.clone()));
    assert_eq!(
        described.collect::<Vec<_>>(),
        [(
            "a.txt, as it was before another version was restored",
            vec!["a.txt".to_owned()]
        )]
    );
    app.sessions.clean_up(0).await;
    let options = RevertOptions::default();
    let restored = app.sessions.restore_reverted(id, &replaced[0].id, &options);
    assert!(restored.await.unwrap().complete);
    assert_eq!(app.read("a.txt"), "mine\n");
    assert_eq!(list().await, []);
}

#[tokio::test]
async fn what_is_older_than_thirty_days_is_forgotten() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    revert(app, &to(&turn)).await;
    agent.model.reply([text("fine")]);
    app.ask("something else").await;
    let days = |count: u64| Duration::from_secs(count * 24 * 3600);
    app.clock.advance(days(29));
    app.sessions.clean_up(0).await;
    assert_eq!(
        app.sessions.reverted(&app.session.id).await.unwrap().len(),
        1
    );
    app.clock.advance(days(2));
    app.sessions.clean_up(0).await;
    assert_eq!(app.sessions.reverted(&app.session.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_file_that_a_revert_replaced_stays_in_the_trash_for_thirty_days_and_not_longer() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo early > a.txt; echo early > new.txt").await;
    let app = &agent.app;
    let trash = app.data_dir().join("reverted");
    revert(app, &to(&turn)).await;
    let days = |count: u64| Duration::from_secs(count * 24 * 3600);
    app.clock.advance(days(20));
    unrevert(app).await;
    fs::write(app.path("a.txt"), "late\n").unwrap();
    let options = RevertOptions {
        force: true,
        ..RevertOptions::default()
    };
    let target = to(&turn);
    let forced = app.sessions.revert_with(&app.session.id, &target, &options);
    assert!(forced.await.unwrap().complete);

    app.clock.advance(days(9));
    app.sessions.clean_up(0).await;
    assert_eq!(holding(&trash, "early").len(), 3);
    app.clock.advance(days(2));
    app.sessions.clean_up(0).await;
    // The second revert, of the late version and of new.txt, was made 11 days ago.
    assert_eq!(
        (
            holding(&trash, "early").len(),
            holding(&trash, "late").len()
        ),
        (1, 1)
    );
    app.clock.advance(days(20));
    app.sessions.clean_up(0).await;
    assert_eq!(fs::read_dir(&trash).unwrap().count(), 0);
    assert_eq!(agent.tree(), ["a.txt 1\n"]);
}

/// Every file below a folder that contains these words.
fn holding(folder: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, words));
        } else if fs::read_to_string(&path).is_ok_and(|text| text.contains(words)) {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn an_append_through_an_open_handle_during_a_revert_is_found_in_the_trash() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    let mut open = fs::File::options()
        .append(true)
        .open(app.path("a.txt"))
        .unwrap();
    let outcome = revert(app, &to(&turn)).await;
    open.write_all(b"MINE THROUGH THE HANDLE\n").unwrap();
    let words = "MINE THROUGH THE HANDLE";
    let kept = holding(&app.data_dir().join("reverted"), words);
    assert_eq!(kept.len(), 1, "{outcome:?}");

    let list = async || app.sessions.reverted(&app.session.id).await.unwrap();
    let items = list().await;
    let [item] = items.as_slice() else {
        panic!("{items:?}")
    };
    assert_eq!(item.title, "a.txt, written after it was reverted");
    let options = RevertOptions::default();
    let restored = app
        .sessions
        .restore_reverted(&app.session.id, &item.id, &options);
    assert!(restored.await.unwrap().complete);
    assert_eq!(
        agent.tree(),
        ["a.saved.txt 2\nMINE THROUGH THE HANDLE\n", "a.txt 1\n"]
    );
    assert_eq!(list().await, []);
}

#[tokio::test]
async fn a_revert_that_was_killed_before_it_hid_anything_is_rolled_back() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    let app = &agent.app;
    revert(app, &to(&turn)).await;
    // As a kill leaves it: the files are moved, and nothing is hidden yet.
    let project = app.project.id.to_string();
    let session = format!("storage/session/{project}/{}.json", app.session.id);
    let session = app.data_dir().join(session);
    let agent = agent.restart().await;
    let mut stored: serde_json::Value =
        serde_json::from_slice(&fs::read(&session).unwrap()).unwrap();
    stored.as_object_mut().unwrap().remove("revert");
    fs::write(&session, stored.to_string()).unwrap();
    let agent = agent.restart().await;
    let app = &agent.app;
    app.sessions.recover(&app.session.id).await;
    assert_eq!(app.read("a.txt"), "2\n");
    fs::write(app.path("a.txt"), "mine\n").unwrap();
    assert!(
        app.sessions.unrevert(&app.session.id).await.is_err(),
        "there is no stale round"
    );
    assert_eq!(app.read("a.txt"), "mine\n");
}

#[tokio::test]
async fn the_files_of_a_revert_can_be_restored_although_its_messages_were_removed_elsewhere() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("echo 2 > a.txt").await;
    revert(&agent.app, &to(&turn)).await;
    let message = agent.app.data_dir().join(format!(
        "storage/message/{}/{turn}.json",
        agent.app.session.id
    ));
    fs::remove_file(message).unwrap();
    let agent = agent.restart().await;
    agent.model.reply([text("fine")]);
    agent.app.ask("something else").await;
    agent.app.sessions.clean_up(0).await;

    let app = &agent.app;
    let list = app.sessions.reverted(&app.session.id).await.unwrap();
    let files: Vec<&[String]> = list.iter().map(|item| item.files.as_slice()).collect();
    assert_eq!(files, [["a.txt".to_owned()]]);
    let options = RevertOptions::default();
    let restored = app
        .sessions
        .restore_reverted(&app.session.id, &list[0].id, &options);
    assert!(restored.await.unwrap().complete);
    assert_eq!(app.read("a.txt"), "2\n");
}
