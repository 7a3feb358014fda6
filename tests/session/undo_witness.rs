//! What a command is seen to do, by ways that are easy to miss.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::revert::{describe, revert, to};
use lathe_test_support::scripted_agent::Agent;

const SHARED: &str =
    "changed while a command of the agent ran, and it is not known whether only the command did it";

#[tokio::test]
async fn folders_that_a_command_makes_or_removes_are_reverted() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    fs::create_dir(agent.app.path("old")).unwrap();
    let turn = agent.turn("mkdir -p new/deep; rmdir old").await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        describe(&outcome.files),
        ["new/deep delete", "old create"],
        "{outcome:#?}"
    );
    assert!(!agent.app.path("new").exists());
    assert!(agent.app.path("old").is_dir());
}

#[tokio::test]
async fn a_file_that_a_command_writes_through_another_name_of_it_is_reverted() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("b.txt", "1\n");
    fs::hard_link(agent.app.path("a.txt"), agent.app.path("same.txt")).unwrap();
    let turn = agent
        .turn("echo 2 > same.txt; ln b.txt other.txt; echo 2 > other.txt")
        .await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        describe(&outcome.files),
        [
            "a.txt restore",
            "b.txt restore",
            "other.txt delete",
            "same.txt restore"
        ],
        "{outcome:#?}"
    );
    assert_eq!(agent.tree(), ["a.txt 1\n", "b.txt 1\n", "same.txt 1\n"]);
    let inode = |name: &str| fs::metadata(agent.app.path(name)).unwrap().ino();
    assert_eq!(inode("a.txt"), inode("same.txt"));
}

#[tokio::test]
async fn a_file_that_a_command_makes_through_a_dangling_link_is_reverted() {
    let agent = Agent::start().await.file("d/a.txt", "1\n");
    std::os::unix::fs::symlink("d/new.txt", agent.app.path("link")).unwrap();
    let turn = agent.turn("echo 2 > link").await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        describe(&outcome.files),
        ["d/new.txt delete"],
        "{outcome:#?}"
    );
    assert!(!agent.app.path("d/new.txt").exists());
}

/// Runs `before`, lets the person write `file`, runs `after`, reverts. What the person wrote is
/// then at `at`.
async fn stays(before: &str, file: &'static str, after: &str, at: &str) {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("d/c.txt", "1\n")
        .file("z.txt", "1\n");
    let path = agent.app.path(file);
    let person = move || fs::write(path, "mine\n").unwrap();
    let turn = agent.turn_while(before, person, after).await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert_eq!(
        fs::read_to_string(agent.app.path(at)).ok().as_deref(),
        Some("mine\n"),
        "{before} / {after}: {outcome:#?}"
    );
    let open = |path: &str| {
        let found = outcome.files.iter().find(|one| one.path == path);
        found.is_some_and(|one| one.change.is_left())
    };
    assert!(open(at), "{before} / {after}: {outcome:#?}");
}

#[tokio::test]
async fn a_file_that_the_person_writes_after_the_command_removed_it_stays() {
    stays("rm a.txt", "a.txt", "true", "a.txt").await;
    stays("rm -f new.txt", "new.txt", "true", "new.txt").await;
    stays("mv a.txt b.txt", "a.txt", "true", "a.txt").await;
    stays("chmod 600 a.txt", "a.txt", "true", "a.txt").await;
}

#[tokio::test]
async fn a_file_that_the_person_writes_stays_although_a_call_of_the_command_failed_on_it() {
    let exclusive = "set -C; echo 2 > a.txt; set +C";
    stays(exclusive, "a.txt", "true", "a.txt").await;
}

#[tokio::test]
async fn a_save_over_a_file_that_the_command_has_replaced_stays() {
    // `mv` over a file first asks in vain for a name that is free.
    stays("echo 2 > t; mv t a.txt", "a.txt", "true", "a.txt").await;
    stays("sed -i s/1/2/ a.txt", "a.txt", "true", "a.txt").await;
    // From another file system: it is copied after a move that failed.
    let far = "echo 2 > /dev/shm/lathe-$$; mv /dev/shm/lathe-$$ a.txt";
    stays(far, "a.txt", "true", "a.txt").await;
    stays("ln a.txt same; mv a.txt same", "a.txt", "true", "a.txt").await;
}

#[tokio::test]
async fn a_save_right_after_the_commands_own_stays_although_the_command_is_silent_then() {
    stays("echo 2 > a.txt", "a.txt", "true", "a.txt").await;
    // Two handles that are closed at once.
    let twice = "exec 3>> a.txt 4>> a.txt; echo 2 >&3; exec 3>&- 4>&-";
    stays(twice, "a.txt", "true", "a.txt").await;
    // Opened for reading, and would be made: never closed as a file that was written.
    stays("flock a.txt true", "a.txt", "true", "a.txt").await;
}

#[tokio::test]
async fn a_save_that_the_command_moves_away_stays_where_it_is() {
    stays("true", "a.txt", "mv a.txt b.txt", "b.txt").await;
    stays("true", "d/c.txt", "mv d e", "e/c.txt").await;
    stays("true", "d/mine.txt", "mv d e", "e/mine.txt").await;
    stays("true", "d/c.txt", "mv d e; mv e f", "f/c.txt").await;
    stays("mv d e", "e/c.txt", "true", "e/c.txt").await;
}

#[tokio::test]
async fn files_that_a_command_moves_go_back() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("d/c.txt", "2\n")
        .file("d/deep/e.txt", "3\n");
    let before = agent.tree();
    let turn = agent
        .turn("mv d e; mv e f; echo 4 > f/c.txt; mv a.txt f/a.txt; rm f/deep/e.txt")
        .await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert!(outcome.complete, "{outcome:#?}");
    assert_eq!(agent.tree(), before, "{outcome:#?}");
}

#[tokio::test]
async fn two_names_that_differ_only_in_bytes_that_are_no_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let agent = Agent::start().await;
    let path = |byte: u8| {
        let name = [b'n', byte];
        agent.app.path("").join(std::ffi::OsStr::from_bytes(&name))
    };
    let (ours, mine) = (path(0xff), path(0xfe));
    fs::write(&ours, "1\n").unwrap();
    fs::write(&mine, "1\n").unwrap();
    let save = mine.clone();
    let person = move || fs::write(save, "mine\n").unwrap();
    let turn = agent
        .turn_while("printf '2\\n' > $'n\\xff'", person, "true")
        .await;
    revert(&agent.app, &to(&turn)).await;
    let read = |path| fs::read_to_string(path).unwrap();
    assert_eq!((read(&ours), read(&mine)), ("1\n".into(), "mine\n".into()));
}

#[tokio::test]
async fn a_project_that_is_opened_by_a_link_is_reverted() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(agent.app.path(""), &link).unwrap();
    let app = &agent.app;
    let project = app.sessions.open_project(&link).await.unwrap();
    let session = app.sessions.create(&project, None).await.unwrap();
    let model = &agent.model;
    use lathe_test_support::fake_model::{call, text};
    let command = serde_json::json!({ "command": "echo 2 > a.txt", "description": "edit" });
    model.reply([call("bash", command)]);
    model.reply([text("Done.")]);
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "do it".into(),
        ..Default::default()
    };
    let turn = app.sessions.prompt(&session.id, input).await.unwrap();
    lathe_test_support::app::until_idle(&mut events, &session.id).await;
    assert_eq!(app.read("a.txt"), "2\n");
    let outcome = app.sessions.revert(&session.id, &to(&turn)).await.unwrap();
    assert_eq!(describe(&outcome.files), ["a.txt restore"], "{outcome:#?}");
    assert_eq!(app.read("a.txt"), "1\n");
}

#[tokio::test]
async fn a_file_that_the_person_removes_while_the_command_writes_it_is_shared() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let path = agent.app.path("a.txt");
    let person = move || fs::remove_file(path).unwrap();
    let turn = agent.turn_while("echo 2 > a.txt", person, "true").await;
    let outcome = revert(&agent.app, &to(&turn)).await;
    assert_eq!(describe(&outcome.files), [format!("a.txt: {SHARED}")]);
    assert!(!agent.app.path("a.txt").exists());
}
