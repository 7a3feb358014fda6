//! A second revert while one is pending.

use std::fs;

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{RevertOptions, RevertPreview, RevertTarget};
use lathe_test_support::app::TestApp;
use lathe_test_support::fake_model::text;
use lathe_test_support::scripted_agent::Agent;

use crate::revert::{describe, revert, to, unrevert};

async fn preview(app: &TestApp, target: &RevertTarget) -> RevertPreview {
    let preview = app.sessions.preview_revert(&app.session.id, target).await;
    preview.unwrap()
}

async fn ids(app: &TestApp) -> Vec<MessageId> {
    let messages = app.messages().await;
    messages.iter().map(|one| one.info.id().clone()).collect()
}

/// A turn without changes, then one that changes, creates and removes a file.
async fn worked() -> Agent {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("src/main.rs", "main\n");
    agent.model.reply([text("Hello.")]);
    agent.app.ask("greet").await;
    agent
        .turn("printf '2\\n' > a.txt; mkdir new; printf 'b\\n' > new/b.txt; rm src/main.rs")
        .await;
    agent
}

#[tokio::test]
async fn a_revert_to_a_later_message_names_every_restored_file_and_every_conflict() {
    let agent = worked().await;
    let app = &agent.app;
    let ids = ids(app).await;
    let (step, last) = (to(&ids[3]), to(&ids[4]));
    revert(app, &step).await;
    assert_eq!(agent.tree(), ["a.txt 1\n", "src/main.rs main\n"]);
    fs::write(app.path("a.txt"), "mine\n").unwrap();

    let preview = preview(app, &last).await;
    let names = [
        "a.txt: changed since the agent wrote it",
        "new/b.txt create",
        "src/main.rs delete",
    ];
    assert_eq!(describe(&preview.files), names);
    assert_eq!(preview.hides_messages, 1);

    let outcome = revert(app, &last).await;
    assert_eq!(outcome.files, preview.files);
    assert_eq!(outcome.hides_messages, 1);
    assert_eq!(agent.tree(), ["a.txt mine\n", "new/b.txt b\n"]);
}

#[tokio::test]
async fn a_file_that_is_restored_and_removed_again_is_not_named() {
    let agent = worked().await;
    let app = &agent.app;
    let ids = ids(app).await;
    let (first, step) = (to(&ids[0]), to(&ids[3]));
    revert(app, &first).await;

    let preview = preview(app, &step).await;
    assert_eq!(
        (describe(&preview.files), preview.hides_messages),
        (vec![], 3)
    );
    let outcome = revert(app, &step).await;
    assert_eq!(
        (describe(&outcome.files), outcome.hides_messages),
        (vec![], 3)
    );
    assert_eq!(agent.tree(), ["a.txt 1\n", "src/main.rs main\n"]);

    unrevert(app).await;
    assert_eq!(agent.tree(), ["a.txt 2\n", "new/b.txt b\n"]);
}

#[tokio::test]
async fn a_file_changed_by_several_reverts_is_named_once_with_the_net_change() {
    let agent = Agent::start().await;
    let mut turns = Vec::new();
    for lines in 1..=3 {
        turns.push(agent.turn(&format!("seq {lines} > a.txt")).await);
    }
    let app = &agent.app;
    revert(app, &to(&turns[2])).await;
    revert(app, &to(&turns[0])).await;

    let preview = preview(app, &to(&turns[1])).await;
    let outcome = revert(app, &to(&turns[1])).await;
    assert_eq!(outcome.files, preview.files);
    assert_eq!(describe(&outcome.files), ["a.txt create"]);
    let file = &outcome.files[0];
    assert_eq!((file.additions, file.deletions), (1, 0));
    assert_eq!(agent.tree(), ["a.txt 1\n"]);

    let back = unrevert(app).await;
    let file = &back.files[0];
    assert_eq!((file.additions, file.deletions), (2, 0));
    assert_eq!(agent.tree(), ["a.txt 1\n2\n3\n"]);
}

fn keeping_files(message: &MessageId) -> RevertTarget {
    RevertTarget::Message {
        message_id: message.clone(),
        keep_files: true,
    }
}

#[tokio::test]
async fn files_left_alone_by_one_revert_are_reverted_by_the_next() {
    for further_back in [3, 0] {
        let agent = worked().await;
        let app = &agent.app;
        let ids = ids(app).await;
        revert(app, &keeping_files(&ids[3])).await;
        assert_eq!(agent.tree(), ["a.txt 2\n", "new/b.txt b\n"]);

        let target = to(&ids[further_back]);
        let preview = preview(app, &target).await;
        let outcome = revert(app, &target).await;
        assert_eq!(outcome.files, preview.files);
        let names = ["a.txt restore", "new/b.txt delete", "src/main.rs create"];
        assert_eq!(describe(&outcome.files), names);
        assert_eq!(agent.tree(), ["a.txt 1\n", "src/main.rs main\n"]);

        unrevert(app).await;
        assert_eq!(agent.tree(), ["a.txt 2\n", "new/b.txt b\n"]);
    }
}

#[tokio::test]
async fn a_later_revert_reverts_only_what_an_earlier_one_left_alone() {
    let agent = Agent::start().await.file("a.txt", "0\n");
    let first = agent.turn("printf '1\\n' > a.txt").await;
    let second = agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    revert(app, &to(&second)).await;
    revert(app, &keeping_files(&first)).await;
    assert_eq!(app.read("a.txt"), "1\n");

    let outcome = revert(app, &to(&first)).await;
    assert_eq!(describe(&outcome.files), ["a.txt restore"]);
    assert_eq!(app.read("a.txt"), "0\n");
    let again = revert(app, &to(&first)).await;
    assert_eq!((describe(&again.files), again.hides_messages), (vec![], 6));

    unrevert(app).await;
    assert_eq!(app.read("a.txt"), "2\n");
}

#[tokio::test]
async fn messages_that_a_pending_revert_would_hide_are_not_restored() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let first = agent.turn("echo 2 > a.txt").await;
    let second = agent.turn("echo b > b.txt").await;
    let app = &agent.app;
    revert(app, &to(&second)).await;
    agent.turn("echo c > c.txt").await;
    revert(app, &to(&first)).await;
    assert_eq!(agent.tree(), ["a.txt 1\n"]);

    let (sessions, id) = (&app.sessions, &app.session.id);
    let list = async || sessions.reverted(id).await.unwrap();
    let items = list().await;
    let options = RevertOptions::default();
    let refused = sessions.restore_reverted(id, &items[0].id, &options).await;
    let why = refused.unwrap_err().to_string();
    assert_eq!(
        why,
        "A revert would hide these messages. Undo it first, or send a prompt"
    );
    assert_eq!(
        (agent.tree(), list().await),
        (vec!["a.txt 1\n".into()], items)
    );

    unrevert(app).await;
    let item = &list().await[0].id;
    let restored = sessions.restore_reverted(id, item, &options).await;
    assert!(restored.unwrap().complete);
    assert_eq!(agent.tree(), ["a.txt 2\n", "b.txt b\n", "c.txt c\n"]);
}
