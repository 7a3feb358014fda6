//! A session's worktree comes back and is removed, and nothing of the person's goes with it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use lathe_protocol::SessionId;
use lathe_protocol::ipc::{
    BringBack, BringBackChoice, PromptInput, RevertChange, RevertLinesOptions, ReviewActionKind,
};
use lathe_test_support::fake_model::{Gate, hold, text};
use lathe_test_support::git::git;
use lathe_test_support::scripted_agent::Agent;

use crate::git::{in_repository, in_worktree};
use crate::reviewing::{Reviewing, no_fold, numbered};

type Choices = BTreeMap<String, BringBackChoice>;

fn choose(choice: BringBackChoice) -> Choices {
    BTreeMap::from([("a.txt".to_owned(), choice)])
}

fn prompt(text: &str) -> PromptInput {
    PromptInput {
        text: text.into(),
        ..PromptInput::default()
    }
}

async fn conflicts(agent: &Agent, id: &SessionId, how: BringBack) -> Vec<String> {
    let preview = agent.changes().preview_bring_back(id, how).await.unwrap();
    let files = preview.files.into_iter();
    files
        .filter(|file| file.change == RevertChange::Conflict)
        .map(|file| file.path)
        .collect()
}

#[tokio::test]
async fn removing_a_worktree_leaves_those_that_are_not_there_now() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    let (session, _) = in_worktree(&agent).await;
    let outside = tempfile::tempdir().unwrap();
    let (other, moved) = (outside.path().join("other"), outside.path().join("away"));
    let place = other.display().to_string();
    git(&root, &["worktree", "add", "-q", "-b", "mine", &place]).unwrap();
    fs::write(other.join("staged.txt"), "staged\n").unwrap();
    git(&other, &["add", "."]).unwrap();
    // As a disk that is not mounted.
    fs::rename(&other, &moved).unwrap();
    agent.changes().remove_worktree(&session.id).await.unwrap();
    fs::rename(&moved, &other).unwrap();
    let staged = git(&other, &["diff", "--cached", "--name-only"]).unwrap();
    assert_eq!(staged, "staged.txt");
    let listed = git(&root, &["worktree", "list", "--porcelain"]).unwrap();
    assert!(!listed.contains("try-it"), "{listed}");
}

#[tokio::test]
async fn a_locked_worktree_and_one_in_the_middle_of_a_merge_stay() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    let place = folder.display().to_string();
    git(&folder, &["worktree", "lock", &place]).unwrap();
    assert!(agent.changes().remove_worktree(&session.id).await.is_err());
    git(&folder, &["worktree", "unlock", &place]).unwrap();
    git(&folder, &["bisect", "start"]).unwrap();
    assert!(agent.changes().remove_worktree(&session.id).await.is_err());
    assert!(folder.join("a.txt").exists());
}

#[tokio::test]
async fn a_session_whose_worktree_was_removed_does_not_go_on_in_the_original() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    let changes = &agent.changes();
    changes.remove_worktree(&session.id).await.unwrap();
    let input = prompt("go on");
    let refused = agent.app.sessions.prompt(&session.id, input).await;
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("no longer there"), "{said}");
    assert_eq!(changes.git_status(&session.id).await.unwrap(), None);
    assert!(!folder.exists());
}

#[tokio::test]
async fn nothing_is_put_aside_while_another_session_works_in_the_folder() {
    let agent = in_repository().await;
    let app = &agent.app;
    let (session, folder) = in_worktree(&agent).await;
    let other = app.sessions.fork(&session.id, None, false).await.unwrap();
    let gate = Gate::closed();
    let mut events = app.sessions.subscribe();
    agent
        .model
        .reply([text("one moment"), hold(&gate), text(".")]);
    let input = prompt("work");
    app.sessions.prompt(&other.id, input).await.unwrap();
    let changes = &agent.changes();
    let busy = [
        changes.stash(&session.id, "").await.map(drop),
        changes.unstash(&session.id).await.map(drop),
        changes.remove_worktree(&session.id).await.map(drop),
        changes
            .bring_back(&session.id, BringBack::Apply, Choices::new())
            .await
            .map(drop),
    ];
    for done in busy {
        assert!(matches!(done, Err(lathe_session::Failed::Busy)), "{done:?}");
    }
    assert!(folder.join("a.txt").exists());
    gate.open();
    lathe_test_support::app::until_idle(&mut events, &other.id).await;
    changes.remove_worktree(&session.id).await.unwrap();
}

#[tokio::test]
async fn the_chosen_side_of_a_conflict_is_what_the_original_has_then() {
    for (choice, wanted) in [
        (BringBackChoice::Original, "mine\n"),
        (BringBackChoice::Worktree, "theirs\n"),
    ] {
        for how in [BringBack::Apply, BringBack::Merge] {
            let agent = in_repository().await;
            let (session, folder) = in_worktree(&agent).await;
            fs::write(folder.join("a.txt"), "theirs\n").unwrap();
            git(&folder, &["commit", "-qam", "Theirs"]).unwrap();
            agent.app.write("a.txt", "mine\n");
            git(&agent.app.path(""), &["commit", "-qam", "Mine"]).unwrap();
            let (changes, id) = (&agent.changes(), &session.id);
            assert_eq!(conflicts(&agent, id, how).await, ["a.txt"]);
            let undecided = changes.bring_back(id, how, Choices::new()).await;
            assert!(undecided.is_err());
            assert_eq!(agent.app.read("a.txt"), "mine\n");
            let status = changes.git_status(&agent.app.session.id).await.unwrap();
            assert_eq!(status.unwrap().operation, None);
            changes.bring_back(id, how, choose(choice)).await.unwrap();
            assert_eq!(agent.app.read("a.txt"), wanted);
        }
    }
}

#[tokio::test]
async fn a_file_that_one_side_removed_and_the_other_changed_can_be_decided() {
    for (choice, is_there) in [
        (BringBackChoice::Original, true),
        (BringBackChoice::Worktree, false),
    ] {
        let agent = in_repository().await;
        let (session, folder) = in_worktree(&agent).await;
        git(&folder, &["rm", "-q", "a.txt"]).unwrap();
        git(&folder, &["commit", "-qm", "Remove"]).unwrap();
        agent.app.write("a.txt", "mine\n");
        git(&agent.app.path(""), &["commit", "-qam", "Mine"]).unwrap();
        let (changes, id) = (&agent.changes(), &session.id);
        assert_eq!(conflicts(&agent, id, BringBack::Merge).await, ["a.txt"]);
        changes
            .bring_back(id, BringBack::Merge, choose(choice))
            .await
            .unwrap();
        assert_eq!(agent.app.path("a.txt").exists(), is_there);
        let status = changes.git_status(&agent.app.session.id).await.unwrap();
        let status = status.unwrap();
        assert_eq!((status.staged, status.conflicts), (0, 0));
    }
}

#[tokio::test]
async fn a_merge_that_a_hook_refuses_is_not_made() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    fs::write(folder.join("new.txt"), "n\n").unwrap();
    git(&folder, &["add", "."]).unwrap();
    git(&folder, &["commit", "-qm", "New"]).unwrap();
    let root = agent.app.path("");
    agent.app.write("b.txt", "b\n");
    git(&root, &["add", "."]).unwrap();
    git(&root, &["commit", "-qm", "Meanwhile"]).unwrap();
    let hook = root.join(".git/hooks/pre-merge-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    agent.app.trust().await;
    let before = git(&root, &["rev-parse", "HEAD"]).unwrap();
    let (changes, id) = (&agent.changes(), &session.id);
    let merged = changes.bring_back(id, BringBack::Merge, Choices::new());
    assert!(merged.await.is_err());
    assert_eq!(git(&root, &["rev-parse", "HEAD"]).unwrap(), before);
    assert_eq!(git(&root, &["status", "--porcelain"]).unwrap(), "");
}

#[tokio::test]
async fn what_cannot_be_brought_is_named_and_the_originals_file_stays() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    fs::remove_file(folder.join("a.txt")).unwrap();
    let made = Command::new("mkfifo").arg(folder.join("a.txt")).status();
    assert!(made.unwrap().success());
    let large = fs::File::create(folder.join("large.bin")).unwrap();
    large.set_len(17 << 20).unwrap();
    git(&folder, &["init", "-q", "inner"]).unwrap();
    fs::write(folder.join("inner/file"), "i\n").unwrap();
    let (changes, id) = (&agent.changes(), &session.id);
    let compared = changes.worktree_files(id, no_fold).await.unwrap();
    assert_eq!(
        compared.not_shown,
        [
            "a.txt is not shown: it can’t be read",
            "inner/ is not shown: it is a repository of its own",
            "large.bin is not shown: it is larger than 16 MB"
        ]
    );
    let preview = changes.preview_bring_back(id, BringBack::Apply).await;
    let files = preview.unwrap().files.into_iter();
    let mut files: Vec<_> = files
        .map(|file| (file.path, file.change, file.reason.unwrap_or_default()))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let named = |path: &str, why: &str| (path.to_owned(), RevertChange::Unknown, why.to_owned());
    assert_eq!(
        files,
        [
            named("a.txt", "it can’t be read"),
            named("inner/", "it is a repository of its own"),
            named("large.bin", "it is larger than 16 MB"),
        ]
    );
    let done = changes.bring_back(id, BringBack::Apply, Choices::new());
    assert!(done.await.unwrap().files.is_empty());
    assert_eq!(agent.app.read("a.txt"), numbered(1..=30));
}

#[tokio::test]
async fn what_could_not_be_brought_is_told_and_the_rest_can_be_undone_and_redone() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    let five = numbered(1..=30).replace("line 5\n", "five\n");
    fs::write(folder.join("a.txt"), &five).unwrap();
    fs::write(folder.join("new.txt"), "n\n").unwrap();
    fs::create_dir(folder.join("d")).unwrap();
    fs::write(folder.join("d/b.txt"), "b\n").unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), agent.app.path("d")).unwrap();
    let (changes, id) = (&agent.changes(), &session.id);
    let done = changes.bring_back(id, BringBack::Apply, Choices::new());
    let files = done.await.unwrap().files.into_iter();
    let told: Vec<_> = files
        .map(|file| (file.path, file.change, file.reason.unwrap_or_default()))
        .collect();
    let why = "a folder on its path is a file or a link now";
    assert_eq!(
        told,
        [
            ("a.txt".into(), RevertChange::Restore, String::new()),
            ("d/b.txt".into(), RevertChange::Conflict, why.into()),
            ("new.txt".into(), RevertChange::Create, String::new()),
        ]
    );
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    let there = || (agent.app.read("a.txt"), agent.app.path("new.txt").exists());
    assert_eq!(there(), (five.clone(), true));

    // Mine stays when it is undone, as of every other action.
    let mine = five.replace("line 20\n", "mine\n");
    agent.app.write("a.txt", &mine);
    let options = RevertLinesOptions::default();
    let undone = changes.undo_review(id, &options).await.unwrap();
    assert_eq!(there(), (mine.replace("five\n", "line 5\n"), false));
    let redo = undone.redo.unwrap();
    assert_eq!(
        (redo.kind, redo.files),
        (
            ReviewActionKind::BringBack,
            vec!["a.txt".to_owned(), "new.txt".into()]
        )
    );
    changes.redo_review(id, &options).await.unwrap();
    assert_eq!(there(), (mine.clone(), true));

    agent.app.write("a.txt", mine.replace("five\n", "FIVE\n"));
    let open = changes.undo_review(id, &options).await.unwrap();
    assert_eq!(open.done[0].change, RevertChange::Conflict);
    assert_eq!(there(), (mine.replace("five\n", "FIVE\n"), true));
}

#[tokio::test]
async fn a_folder_where_the_worktree_has_a_file_can_stay() {
    let agent = in_repository().await;
    let (session, folder) = in_worktree(&agent).await;
    fs::write(folder.join("new"), "n\n").unwrap();
    fs::write(folder.join("a.txt"), "a\n").unwrap();
    fs::create_dir(agent.app.path("new")).unwrap();
    let (changes, id) = (&agent.changes(), &session.id);
    assert_eq!(conflicts(&agent, id, BringBack::Apply).await, ["new"]);
    let choices = BTreeMap::from([("new".to_owned(), BringBackChoice::Original)]);
    let done = changes.bring_back(id, BringBack::Apply, choices);
    assert_eq!(done.await.unwrap().files.len(), 1);
    assert_eq!(agent.app.read("a.txt"), "a\n");
    assert!(agent.app.path("new").is_dir());
}
