//! Forking a session at a message.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::RevertTarget;
use lathe_protocol::{
    Action, MessageError, MessageId, MessageWithParts, Part, ToolPart, ToolState,
};
use lathe_session::{Answer, Failed};
use lathe_test_support::app::until_idle;
use lathe_test_support::fake_model::{call, text};
use lathe_test_support::scripted_agent::{Agent, git};
use serde_json::json;

/// A message without its ids.
fn said(message: &MessageWithParts) -> serde_json::Value {
    let mut value = serde_json::to_value(message).unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        serde_json::Value::Object(fields) => {
            for id in ["id", "sessionID", "messageID", "parentID"] {
                fields.remove(id);
            }
            fields.values_mut().for_each(strip);
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_fork_copies_what_is_before_a_message_under_new_ids() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let second = agent.turn("printf '3\\n' > a.txt").await;
    let app = &agent.app;

    let fork = app
        .sessions
        .fork(&app.session.id, Some(&second), false)
        .await
        .unwrap();
    let from = fork.forked_from.clone().unwrap();
    assert_eq!(
        (from.session_id, from.message_id),
        (app.session.id.clone(), Some(second))
    );
    assert_eq!(fork.parent_id, None);
    let page = app
        .sessions
        .messages(&fork.id, None, usize::MAX)
        .await
        .unwrap();
    let originals = app.messages().await;
    assert_eq!(
        page.messages.iter().map(said).collect::<Vec<_>>(),
        originals[..3].iter().map(said).collect::<Vec<_>>()
    );
    let ids: Vec<&MessageId> = page
        .messages
        .iter()
        .map(|message| message.info.id())
        .collect();
    assert!(
        originals
            .iter()
            .all(|message| !ids.contains(&message.info.id()))
    );
    for answer in &page.messages[1..] {
        assert_eq!(&answer.info.as_assistant().unwrap().parent_id, ids[0]);
        assert!(
            answer
                .parts
                .iter()
                .all(|part| part.session_id() == &fork.id)
        );
    }
    let all = app
        .sessions
        .fork(&app.session.id, None, false)
        .await
        .unwrap();
    assert_ne!(all.title, fork.title);
    let page = app
        .sessions
        .messages(&all.id, None, usize::MAX)
        .await
        .unwrap();
    assert_eq!(page.messages.len(), 6);
}

#[tokio::test]
async fn a_fork_has_its_snapshots_even_if_its_source_is_deleted_for_good() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    let fork = app
        .sessions
        .fork(&app.session.id, None, false)
        .await
        .unwrap();
    app.sessions.remove(&app.session.id).await.unwrap();
    fs::remove_dir_all(app.data_dir().join("trash").join(app.session.id.as_str())).unwrap();
    app.sessions.clean_up(0).await;

    let page = app
        .sessions
        .messages(&fork.id, None, usize::MAX)
        .await
        .unwrap();
    let target = RevertTarget::Message {
        message_id: page.messages[0].info.id().clone(),
        keep_files: false,
    };
    app.sessions.revert(&fork.id, &target).await.unwrap();
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn clean_up_drops_only_what_no_session_needs() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let turn = agent.turn("printf '2\\n' > a.txt").await;
    let app = &agent.app;
    app.sessions.clean_up(0).await;
    app.sessions.remove(&app.session.id).await.unwrap();
    app.sessions.clean_up(0).await;
    app.sessions.restore(&app.session.id).await.unwrap();
    let target = RevertTarget::Message {
        message_id: turn,
        keep_files: false,
    };
    app.sessions.revert(&app.session.id, &target).await.unwrap();
    assert_eq!(
        app.read("a.txt"),
        "1\n",
        "a session in the trash keeps its snapshots"
    );
}

#[tokio::test]
async fn a_session_cannot_be_forked_at_a_message_of_another_session() {
    let agent = Agent::start().await;
    let stranger = MessageId::parse("msg_000000000000aaaaaaaaaaaaaa").unwrap();
    let refused = agent
        .app
        .sessions
        .fork(&agent.app.session.id, Some(&stranger), false)
        .await;
    assert!(matches!(refused, Err(Failed::Missing { .. })));
}

/// A repository in which every hook and filter creates a file.
fn hostile_repository(root: &Path, mark: &Path) {
    git(root, &["init", "-q"]);
    fs::write(root.join(".gitattributes"), "*.txt filter=evil\n").unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "-qm", "one"]);
    let touch = format!("touch {}", mark.display());
    for name in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
    ] {
        let hook = root.join(".git/hooks").join(name);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let mut config = fs::read_to_string(root.join(".git/config")).unwrap();
    config.push_str(&format!(
        "[filter \"evil\"]\n\tsmudge = {touch}; cat\n\tclean = {touch}; cat\n[core]\n\tfsmonitor = \"{touch}; false\"\n"
    ));
    fs::write(root.join(".git/config"), config).unwrap();
}

#[tokio::test]
async fn a_fork_in_a_worktree_works_beside_its_source_and_a_hostile_repository_runs_nothing() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = &agent.app;
    let mark = app.data_dir().join("ran");
    hostile_repository(&app.path(""), &mark);
    let first = agent
        .turn("printf '2\\n' > a.txt; printf 'new\\n' > b.txt")
        .await;
    let _ = fs::remove_file(&mark);
    agent.turn("printf '3\\n' > a.txt").await;
    let _ = fs::remove_file(&mark);

    let second = app.messages().await[3].info.id().clone();
    assert_ne!(first, second);
    let fork = app
        .sessions
        .fork(&app.session.id, Some(&second), true)
        .await
        .unwrap();
    assert!(!mark.exists(), "something of the repository ran");
    let folder = PathBuf::from(&fork.directory);
    assert_eq!(
        fs::read_to_string(folder.join("a.txt")).unwrap(),
        "2\n",
        "as it was at the fork"
    );
    assert_eq!(fs::read_to_string(folder.join("b.txt")).unwrap(), "new\n");
    assert_eq!(app.read("a.txt"), "3\n");
    fs::write(folder.join("only-here.txt"), "").unwrap();
    let found = app.sessions.find_mentions_in(&fork.id, "only-here", 5);
    assert_eq!(found.await.unwrap().len(), 1, "`@` looks where it works");

    agent.model.reply([call(
        "bash",
        json!({ "command": "printf 'fork\\n' > a.txt", "description": "edit" }),
    )]);
    agent.model.reply([text("done")]);
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "go".into(),
        ..Default::default()
    };
    app.sessions.prompt(&fork.id, input).await.unwrap();
    until_idle(&mut events, &fork.id).await;
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "fork\n");
    assert_eq!(app.read("a.txt"), "3\n");
    let page = app
        .sessions
        .messages(&fork.id, None, usize::MAX)
        .await
        .unwrap();
    let patched = page.messages.iter().flat_map(|message| &message.parts);
    let mut newest = patched.filter_map(|part| match part {
        Part::Patch(patch) => Some(patch.files.clone()),
        _ => None,
    });
    assert_eq!(
        newest.next_back().unwrap(),
        [folder.join("a.txt").display().to_string()]
    );
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn calls_that_run_in_the_source_have_ended_in_the_fork() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = agent.app.rule("read", "*", Action::Ask);
    let mut events = app.sessions.subscribe();
    agent
        .model
        .reply([call("read", json!({ "filePath": app.path("a.txt") }))]);
    agent.model.reply([text("read")]);
    app.send("look").await;
    let asked = app.next_permission(&mut events).await;

    let fork = app.sessions.fork(&app.session.id, None, false).await;
    let fork = fork.unwrap();
    let page = app.sessions.messages(&fork.id, None, usize::MAX).await;
    let page = page.unwrap();
    let answer = page.messages[1].info.as_assistant().unwrap();
    assert!(answer.time.completed.is_some());
    assert_eq!(
        answer.error,
        Some(MessageError::aborted(
            "The fork was made before this answer was complete"
        ))
    );
    let calls: Vec<_> = page.messages[1]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Tool(call) => match call.state() {
                ToolState::Error(failed) => Some(failed.error.as_str()),
                other => panic!("{other:?}"),
            },
            _ => None,
        })
        .collect();
    assert_eq!(calls, [ToolPart::ABORTED]);

    // The source continues unchanged.
    let once = app.sessions.answer_permission(&asked.id, Answer::Once);
    once.await.unwrap();
    until_idle(&mut events, &app.session.id).await;
    assert_eq!(app.calls().await, ["read: completed"]);
}

#[tokio::test]
async fn a_fork_contains_a_retried_prompt_once() {
    let agent = Agent::start().await;
    agent.model.reply([text("first answer")]);
    agent.model.reply([text("short answer")]);
    agent.model.refuse(400, &[], "prompt is too long");
    agent.model.reply([text("the summary")]);
    agent.model.reply([text("second answer")]);
    let next = agent.model.reply([text("third answer")]);
    let app = &agent.app;
    // Too long to be left out of the summary; the following messages are not.
    app.ask(&"long ".repeat(20_000)).await;
    app.ask("short prompt").await;
    app.ask("second prompt").await;

    let fork = app.sessions.fork(&app.session.id, None, false).await;
    let fork = fork.unwrap();
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "third prompt".into(),
        ..Default::default()
    };
    app.sessions.prompt(&fork.id, input).await.unwrap();
    until_idle(&mut events, &fork.id).await;
    let seen = next.request().user_text();
    assert_eq!(seen.matches("short prompt").count(), 1, "{seen}");
    assert_eq!(seen.matches("second prompt").count(), 1, "{seen}");
}
