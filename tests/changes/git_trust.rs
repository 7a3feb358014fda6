//! What a repository brings runs with git only in the very checkout that the person trusts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{CommitInput, TrustState, WantKind};
use lathe_test_support::git::git;
use lathe_test_support::scripted_agent::Agent;

use crate::git::in_repository;
use crate::reviewing::Reviewing;

/// A command that leaves a file behind when it runs.
fn leaving(mark: &Path) -> String {
    format!("touch '{}'; cat", mark.display())
}

fn hook(root: &Path, name: &str, script: &str) {
    let hook = root.join(".git/hooks").join(name);
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A change that is staged, and a message for it.
fn staged(agent: &Agent, content: &str) -> CommitInput {
    agent.app.write("a.txt", content);
    git(&agent.app.path(""), &["add", "."]).unwrap();
    CommitInput {
        message: "Go".into(),
        amend: false,
    }
}

#[tokio::test]
async fn a_filter_does_not_run_before_trust_however_it_is_named() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    let mark = agent.app.data_dir().join("ran");
    for name in ["a=b", "a.b = c", "é"] {
        let key = format!("filter.{name}.clean");
        git(&root, &["config", &key, &leaving(&mark)]).unwrap();
    }
    let attributes = "a.txt filter=a=b\nb.txt filter=é\n";
    fs::write(root.join(".gitattributes"), attributes).unwrap();
    agent.app.write("a.txt", "changed\n");
    agent.app.write("b.txt", "new\n");
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    assert!(changes.git_status(id).await.unwrap().unwrap().untrusted);
    changes.stash(id, "").await.unwrap();
    changes.unstash(id).await.unwrap();
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_copy_with_the_same_history_is_not_trusted_with_my_clone() {
    let agent = in_repository().await;
    let sessions = &agent.app.sessions;
    let mark = agent.app.data_dir().join("ran");
    let outside = tempfile::tempdir().unwrap();
    let clone = |name: &str| {
        let place = outside.path().join(name);
        let text = place.display().to_string();
        git(&agent.app.path(""), &["clone", "-q", ".", &text]).unwrap();
        place
    };
    let (mine, theirs) = (clone("mine"), clone("theirs"));
    git(&theirs, &["config", "filter.x.clean", &leaving(&mark)]).unwrap();
    fs::write(theirs.join(".gitattributes"), "* filter=x\n").unwrap();
    fs::write(theirs.join("a.txt"), "changed\n").unwrap();
    hook(&mine, "pre-commit", "exit 0");

    let project = sessions.open_project(&theirs).await.unwrap();
    let copied = sessions.create(&project, None).await.unwrap();
    let project = sessions.open_project(&mine).await.unwrap();
    let own = sessions.create(&project, None).await.unwrap();
    assert_eq!(own.project_id, copied.project_id);
    let shown = sessions.trust(&project).await.unwrap();
    let trusted = sessions.set_trust(&project, Some(&shown.hash)).await;
    assert_eq!(trusted.unwrap().state, TrustState::Trusted);

    let changes = &agent.changes();
    let status = changes.git_status(&copied.id).await.unwrap().unwrap();
    assert_eq!((status.unstaged, status.untrusted), (1, true));
    assert_eq!(changes.git_folders(&project).await.unwrap().len(), 2);
    assert!(!mark.exists());
    let status = changes.git_status(&own.id).await.unwrap().unwrap();
    assert!(!status.untrusted);
}

#[tokio::test]
async fn the_hooks_of_a_project_without_config_run_once_they_are_trusted() {
    let agent = in_repository().await;
    let (app, changes) = (&agent.app, &agent.changes());
    let id = &app.session.id;
    let nothing = app.sessions.trust(&app.project).await.unwrap();
    assert_eq!(
        (nothing.state, nothing.wants),
        (TrustState::Nothing, vec![])
    );
    let mark = app.data_dir().join("ran");
    hook(
        &app.path(""),
        "pre-commit",
        &format!("touch '{}'", mark.display()),
    );
    let asked = app.sessions.trust(&app.project).await.unwrap();
    let wants: Vec<_> = asked
        .wants
        .iter()
        .map(|want| (want.kind, &*want.text, &*want.file))
        .collect();
    assert_eq!(asked.state, TrustState::Untrusted);
    assert_eq!(
        wants,
        [(
            WantKind::Git,
            "Let git run the hook pre-commit",
            ".git/hooks/pre-commit"
        )]
    );
    changes.commit(id, &staged(&agent, "1\n")).await.unwrap();
    assert!(!mark.exists());

    assert_eq!(app.trust().await.state, TrustState::Trusted);
    changes.commit(id, &staged(&agent, "2\n")).await.unwrap();
    assert!(mark.exists());
    // What was trusted is what was shown.
    hook(&app.path(""), "pre-commit", "exit 1");
    let changed = app.sessions.trust(&app.project).await.unwrap();
    assert_eq!(changed.state, TrustState::Changed);
    changes.commit(id, &staged(&agent, "3\n")).await.unwrap();
    app.trust().await;
    assert!(changes.commit(id, &staged(&agent, "4\n")).await.is_err());
    let withdrawn = app.sessions.set_trust(&app.project, None).await.unwrap();
    assert_eq!(withdrawn.state, TrustState::Untrusted);
}

#[tokio::test]
async fn a_worktree_that_we_make_is_trusted_as_its_original() {
    let agent = in_repository().await;
    let app = &agent.app;
    hook(&app.path(""), "pre-commit", "exit 0");
    app.trust().await;
    let changes = &agent.changes();
    let made = changes.create_in_worktree(&app.project, Some("one")).await;
    let id = &made.unwrap().id;
    let status = changes.git_status(id).await.unwrap().unwrap();
    assert!(!status.untrusted);
    app.sessions.set_trust(&app.project, None).await.unwrap();
    let made = changes.create_in_worktree(&app.project, Some("two")).await;
    let id = &made.unwrap().id;
    let status = changes.git_status(id).await.unwrap().unwrap();
    assert!(status.untrusted);
}

#[tokio::test]
async fn a_repository_that_is_larger_than_the_project_is_left_alone() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    let outside = tempfile::tempdir().unwrap();
    let other: PathBuf = outside.path().join("mine.txt");
    fs::write(&other, "mine\n").unwrap();
    let place = outside.path().display().to_string();
    git(&root, &["config", "core.worktree", &place]).unwrap();
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    assert_eq!(changes.git_status(id).await.unwrap(), None);
    assert!(changes.stash(id, "").await.is_err());
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
}

#[tokio::test]
async fn lines_of_a_message_that_begin_with_a_number_sign_stay() {
    let agent = in_repository().await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let message = "#42 fix\n\n# Why\n\nIt was broken.";
    let input = CommitInput {
        message: message.into(),
        ..staged(&agent, "1\n")
    };
    assert_eq!(changes.commit(id, &input).await.unwrap().summary, "#42 fix");
    assert_eq!(changes.last_commit_message(id).await.unwrap(), message);
    let amended = CommitInput {
        amend: true,
        ..input
    };
    changes.commit(id, &amended).await.unwrap();
    assert_eq!(changes.last_commit_message(id).await.unwrap(), message);
}
