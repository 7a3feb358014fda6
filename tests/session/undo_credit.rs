//! Whose change was it? Only what the agent is seen to have done is reverted.

use std::fs;
use std::io::Write;

use lathe_protocol::ipc::{RevertChoice, RevertOptions, RevertTarget};
use lathe_protocol::{Action, Event};
use lathe_session::bus::Notification;
use lathe_test_support::app::{until, until_idle};
use lathe_test_support::fake_model::{Gate, call, hold, text};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

use crate::revert::{describe, revert, to, unrevert};

/// The files that a revert names, with what it does to them, and whether it was complete.
async fn reverted(agent: &Agent, target: &RevertTarget) -> (Vec<String>, bool) {
    let outcome = revert(&agent.app, target).await;
    (describe(&outcome.files), outcome.complete)
}

const NOT_BY_IT: &str = "changed while a command of the agent ran, and not by the command";
const SHARED: &str =
    "changed while a command of the agent ran, and it is not known whether only the command did it";

#[tokio::test]
async fn a_file_that_the_person_saves_while_a_command_runs_is_not_reverted() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("mine.txt", "1\n");
    let (mine, new) = (agent.app.path("mine.txt"), agent.app.path("new/mine.txt"));
    let person = move || {
        fs::write(mine, "mine\n").unwrap();
        fs::create_dir(new.parent().unwrap()).unwrap();
        fs::write(new, "mine too\n").unwrap();
    };
    let turn = agent
        .turn_while("echo 2 > a.txt", person, "echo b > b.txt")
        .await;
    let (files, complete) = reverted(&agent, &to(&turn)).await;
    assert_eq!(
        files,
        [
            "a.txt restore".to_owned(),
            "b.txt delete".to_owned(),
            format!("mine.txt: {NOT_BY_IT}"),
            format!("new/mine.txt: {NOT_BY_IT}"),
        ]
    );
    assert!(complete, "all that the agent did is reverted");
    let left = ["a.txt 1\n", "mine.txt mine\n", "new/mine.txt mine too\n"];
    assert_eq!(agent.tree(), left);

    agent.model.reply([text("fine")]);
    agent.app.ask("something else").await;
    agent.app.sessions.clean_up(0).await;
    assert_eq!(agent.tree(), left);
}

#[tokio::test]
async fn an_atomic_save_and_an_append_during_a_command_are_not_reverted() {
    let agent = Agent::start()
        .await
        .file("atomic.txt", "1\n")
        .file("log.txt", "1\n");
    let (atomic, next) = (agent.app.path("atomic.txt"), agent.app.path(".atomic.new"));
    let mut log = fs::File::options()
        .append(true)
        .open(agent.app.path("log.txt"))
        .unwrap();
    let person = move || {
        fs::write(&next, "mine\n").unwrap();
        fs::rename(next, atomic).unwrap();
        log.write_all(b"mine\n").unwrap();
    };
    let turn = agent.turn_while("true", person, "echo a > agent.txt").await;
    assert!(reverted(&agent, &to(&turn)).await.1);
    assert_eq!(agent.tree(), ["atomic.txt mine\n", "log.txt 1\nmine\n"]);
}

#[tokio::test]
async fn a_file_that_the_person_and_the_command_wrote_is_shared_until_the_person_decides() {
    for late in [false, true] {
        let agent = Agent::start().await.file("a.txt", "1\n");
        let path = agent.app.path("a.txt");
        let person = move || fs::write(path, "mine\n").unwrap();
        let turn = match late {
            false => {
                agent
                    .turn_while("true", person, "echo agent >> a.txt")
                    .await
            }
            true => agent.turn_while("echo agent > a.txt", person, "true").await,
        };
        let now = agent.app.read("a.txt");
        let (files, complete) = reverted(&agent, &to(&turn)).await;
        assert_eq!((files, complete), (vec![format!("a.txt: {SHARED}")], false));
        assert_eq!(agent.app.read("a.txt"), now);

        let choices = [("a.txt".to_owned(), RevertChoice::Before)];
        let options = RevertOptions {
            choices: choices.into_iter().collect(),
            ..RevertOptions::default()
        };
        let (app, target) = (&agent.app, to(&turn));
        let outcome = app.sessions.revert_with(&app.session.id, &target, &options);
        assert!(outcome.await.unwrap().complete);
        assert_eq!(app.read("a.txt"), "1\n");
        unrevert(app).await;
        assert_eq!(app.read("a.txt"), now, "what was there comes back");
    }
}

#[tokio::test]
async fn what_the_person_saves_while_the_model_thinks_is_not_reverted() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("mine.txt", "1\n");
    let gate = Gate::closed();
    let asked = agent.model.reply([
        text("Let me think."),
        hold(&gate),
        call(
            "bash",
            json!({ "command": "echo 2 > a.txt", "description": "edit" }),
        ),
    ]);
    agent.model.reply([text("Done.")]);
    let mut events = agent.app.sessions.subscribe();
    let turn = agent.app.send("do it").await;
    asked.asked().await;
    fs::write(agent.app.path("mine.txt"), "mine\n").unwrap();
    fs::write(agent.app.path("a.txt"), "mine too\n").unwrap();
    gate.open();
    until_idle(&mut events, &agent.app.session.id).await;
    let (files, complete) = reverted(&agent, &to(&turn)).await;
    assert_eq!((files, complete), (vec!["a.txt restore".to_owned()], true));
    assert_eq!(agent.tree(), ["a.txt mine too\n", "mine.txt mine\n"]);
}

#[tokio::test]
async fn a_save_between_two_edits_of_a_file_is_a_conflict_and_stays() {
    let agent = Agent::start().await.file("a.txt", "one\ntwo\n");
    agent.call("read", json!({ "filePath": "a.txt" })).await;
    let edit =
        |old: &str, new: &str| json!({ "filePath": "a.txt", "oldString": old, "newString": new });
    let first = agent.call("edit", edit("one", "ONE")).await;
    fs::write(agent.app.path("a.txt"), "ONE\ntwo\nmine\n").unwrap();
    agent.call("read", json!({ "filePath": "a.txt" })).await;
    agent.call("edit", edit("two", "TWO")).await;
    let (files, complete) = reverted(&agent, &to(&first)).await;
    assert_eq!(
        (files, complete),
        (
            vec!["a.txt: it was also changed between two of the agent's steps".to_owned()],
            false
        )
    );
    assert_eq!(agent.app.read("a.txt"), "ONE\nTWO\nmine\n");
}

#[tokio::test]
async fn an_edit_that_was_refused_leaves_nothing_to_revert() {
    let agent = Agent::start().await.file("a.txt", "one\n");
    agent.call("read", json!({ "filePath": "a.txt" })).await;
    fs::write(agent.app.path("a.txt"), "mine\n").unwrap();
    let edit = json!({ "filePath": "a.txt", "oldString": "one", "newString": "two" });
    let turn = agent.call("edit", edit).await;
    assert_eq!(agent.app.calls().await, ["read: completed", "edit: error"]);
    assert_eq!(reverted(&agent, &to(&turn)).await, (vec![], true));
    assert_eq!(agent.app.read("a.txt"), "mine\n");
}

#[tokio::test]
async fn what_our_own_tools_wrote_is_reverted_wherever_it_lies() {
    let large = format!("first\n{}", "x\n".repeat(3 << 19));
    let agent = Agent::start()
        .await
        .file("large.txt", &large)
        .file(".gitignore", "*.log\n")
        .file("old.log", "kept\n");
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    fs::write(outside.join("notes.txt"), "mine\n").unwrap();
    let first = agent.call("read", json!({ "filePath": "old.log" })).await;
    let notes = outside.join("notes.txt").display().to_string();
    agent.call("read", json!({ "filePath": notes })).await;
    let write = |path: &str, content: &str| json!({ "filePath": path, "content": content });
    agent.call("write", write("old.log", "agent\n")).await;
    agent
        .call("read", json!({ "filePath": "large.txt", "limit": 1 }))
        .await;
    let edit = json!({ "filePath": "large.txt", "oldString": "first", "newString": "agent" });
    agent.call("edit", edit).await;
    agent.call("write", write(&notes, "agent\n")).await;
    let new = outside.join("new/deep.txt").display().to_string();
    agent.call("write", write(&new, "agent\n")).await;
    assert!(
        agent
            .app
            .calls()
            .await
            .iter()
            .all(|call| call.ends_with("completed"))
    );

    let (files, complete) = reverted(&agent, &to(&first)).await;
    assert_eq!(
        (files, complete),
        (
            vec![
                "large.txt restore".to_owned(),
                "old.log restore".to_owned(),
                format!("{new} delete"),
                format!("{notes} restore"),
            ],
            true
        )
    );
    assert_eq!(agent.app.read("old.log"), "kept\n");
    assert_eq!(agent.app.read("large.txt"), large);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine\n");
    assert!(!outside.join("new").exists());

    let outcome = unrevert(&agent.app).await;
    assert!(outcome.complete);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "agent\n");
    assert_eq!(fs::read_to_string(&new).unwrap(), "agent\n");
    assert_eq!(agent.app.read("old.log"), "agent\n");
    assert!(agent.app.read("large.txt").starts_with("agent\nx\n"));
}

#[tokio::test]
async fn two_sessions_in_one_folder_never_revert_each_others_work() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    let app = &agent.app;
    let other = app.sessions.create(&app.project, None).await.unwrap();
    let write = json!({ "filePath": "theirs.txt", "content": "theirs\n" });
    let meeting = lathe_test_support::meeting::Meeting::start();
    let command = meeting.command("echo 2 > a.txt", "echo 3 > a.txt");
    agent.model.reply([call(
        "bash",
        json!({ "command": command, "description": "edit" }),
    )]);
    let mut events = app.sessions.subscribe();
    let turn = app.send("do it").await;
    meeting.runs().await;
    // The other session works while the command of the first one runs.
    agent.model.reply([call("write", write)]);
    agent.model.reply([text("Done.")]);
    let mut other_events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "write".into(),
        ..Default::default()
    };
    let other_turn = app.sessions.prompt(&other.id, input).await.unwrap();
    until_idle(&mut other_events, &other.id).await;
    agent.model.reply([text("Done.")]);
    meeting.go().await;
    until_idle(&mut events, &app.session.id).await;

    let (files, complete) = reverted(&agent, &to(&turn)).await;
    assert_eq!(
        (files, complete),
        (
            vec![
                "a.txt restore".to_owned(),
                format!("theirs.txt: {NOT_BY_IT}")
            ],
            true
        )
    );
    assert_eq!(
        agent.tree(),
        ["a.txt 1\n", "b.txt 1\n", "theirs.txt theirs\n"]
    );
    let outcome = app
        .sessions
        .revert(&other.id, &to(&other_turn))
        .await
        .unwrap();
    assert_eq!(describe(&outcome.files), ["theirs.txt delete"]);
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
}

#[tokio::test]
async fn what_one_session_reverts_during_a_command_of_another_does_not_come_back() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    let app = &agent.app;
    let first = agent.turn("echo 2 > a.txt").await;
    let other = app.sessions.create(&app.project, None).await.unwrap();
    let meeting = lathe_test_support::meeting::Meeting::start();
    let command = meeting.command("true", "echo 2 > b.txt");
    agent.model.reply([call(
        "bash",
        json!({ "command": command, "description": "edit" }),
    )]);
    agent.model.reply([text("Done.")]);
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "go".into(),
        ..Default::default()
    };
    let other_turn = app.sessions.prompt(&other.id, input).await.unwrap();
    meeting.runs().await;
    revert(app, &to(&first)).await;
    meeting.go().await;
    until_idle(&mut events, &other.id).await;
    let outcome = app
        .sessions
        .revert(&other.id, &to(&other_turn))
        .await
        .unwrap();
    assert!(outcome.complete);
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n"]);
}

#[tokio::test]
async fn a_conflict_is_settled_file_by_file() {
    let files = ["mine.txt", "before.txt", "both.txt"];
    let mut agent = Agent::start().await;
    for name in files {
        agent = agent.file(name, "1\n");
    }
    let turn = agent
        .turn("for f in mine before both; do echo 2 > $f.txt; done")
        .await;
    for name in files {
        fs::write(agent.app.path(name), "3\n").unwrap();
    }
    let choices = [
        ("mine.txt", RevertChoice::Mine),
        ("before.txt", RevertChoice::Before),
        ("both.txt", RevertChoice::Both),
    ];
    let options = RevertOptions {
        choices: choices
            .map(|(path, choice)| (path.to_owned(), choice))
            .into_iter()
            .collect(),
        ..RevertOptions::default()
    };
    let (app, target) = (&agent.app, to(&turn));
    let outcome = app
        .sessions
        .revert_with(&app.session.id, &target, &options)
        .await
        .unwrap();
    assert!(outcome.complete, "{:?}", outcome.files);
    assert_eq!(
        agent.tree(),
        [
            "before.txt 1\n",
            "both.before.txt 1\n",
            "both.txt 3\n",
            "mine.txt 3\n"
        ]
    );
    unrevert(app).await;
    assert_eq!(
        agent.tree(),
        ["before.txt 3\n", "both.txt 3\n", "mine.txt 3\n"]
    );
}

#[tokio::test]
async fn the_person_is_told_beforehand_what_a_revert_will_not_cover() {
    let agent = Agent::start().await.file(".gitignore", "*.log\n");
    let agent = agent.file("a.txt", "1\n").file("x.log", "1\n");
    fs::write(agent.app.path("big.bin"), vec![0; 3 << 20]).unwrap();
    let Agent { model, app } = agent;
    let app = app.rule("*", "*", Action::Ask);
    let agent = Agent { model, app };
    let command = "git status; cp big.bin x.log; cp a.txt /etc/lathe-no-such-folder/x";
    agent.model.reply([call(
        "bash",
        json!({ "command": command, "description": "run" }),
    )]);
    agent.model.reply([text("Done.")]);
    let mut events = agent.app.sessions.subscribe();
    agent.app.send("do it").await;
    let is_asked = |event: &Event| matches!(event, Event::PermissionAsked(_));
    let asked = until(&mut events, is_asked).await.pop().unwrap();
    let Notification::Event(asked) = asked else {
        panic!("{asked:?}")
    };
    let Event::PermissionAsked(request) = &*asked else {
        panic!("{asked:?}")
    };
    let said = request.metadata["notCovered"].as_array().unwrap();
    let said: Vec<&str> = said.iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(
        said,
        [
            "What git itself stores can’t be reverted",
            "big.bin can’t be reverted: too large",
            "x.log can’t be reverted: ignored by a rule",
            "What it changes outside of the project can’t be reverted",
        ]
    );
    agent.app.sessions.abort(&agent.app.session.id).await;
}

/// The packs of all snapshots.
fn packs(folder: &std::path::Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => packs(&path),
        false => usize::from(path.extension().is_some_and(|end| end == "pack")),
    };
    entries.map(|entry| count(entry.path())).sum()
}

#[tokio::test]
async fn many_files_are_forced_together_and_not_one_by_one() {
    let agent = Agent::start().await;
    let turn = agent
        .turn("mkdir d; for n in $(seq 500); do echo $n > d/$n; done")
        .await;
    agent.cut_short(&agent.app.session.id).await;
    let agent = agent.restart().await;
    let app = &agent.app;
    let snapshots = app.data_dir().join("snapshot");
    let before = packs(&snapshots);
    let force = RevertOptions {
        force: true,
        ..RevertOptions::default()
    };
    let (id, target) = (&app.session.id, to(&turn));
    let preview = app.sessions.preview_revert_with(id, &target, &force).await;
    assert!(preview.unwrap().complete);
    let outcome = app.sessions.revert_with(id, &target, &force).await.unwrap();
    assert_eq!((outcome.complete, outcome.files.len()), (true, 500));
    assert_eq!(agent.tree(), [""; 0]);
    let made = packs(&snapshots) - before;
    assert!(made < 20, "{made} packs");
    unrevert(app).await;
    assert_eq!(agent.tree().len(), 500);
}
