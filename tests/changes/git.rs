//! Git from the review: kept lines are staged and committed, worktrees come back to the original.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use lathe_protocol::Session;
use lathe_protocol::ipc::{
    BringBack, BringBackChoice, CommitInput, RevertChange, ReviewScope, ReviewSelection,
};
use lathe_test_support::fake_model::text;
use lathe_test_support::git::{commit_all, git};

use crate::reviewing::{Reviewing, no_fold, numbered, replaced};
use lathe_test_support::scripted_agent::Agent;

const ALL: ReviewScope = ReviewScope::Session;

pub async fn in_repository() -> Agent {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=30));
    let root = agent.app.path("");
    commit_all(&root).unwrap();
    for setting in [["user.name", "n"], ["user.email", "n@localhost"]] {
        git(&root, &["config", setting[0], setting[1]]).unwrap();
    }
    agent
}

#[tokio::test]
async fn only_kept_lines_are_staged_and_committed() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    agent
        .turn("sed -i 's/line 5$/five/; s/line 25$/25/' a.txt; printf 'n\\n' > new.txt")
        .await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let files = changes.review_files(id, &ALL, no_fold).await.unwrap().files;
    let kept = replaced("a.txt", &files[0].version, &[5]);
    assert!(changes.stage_kept(id, &ALL).await.is_err());
    changes.keep_lines(id, &ALL, &kept).await.unwrap();
    let status = changes.stage_kept(id, &ALL).await.unwrap();
    assert_eq!(
        (status.staged, status.unstaged, status.untracked),
        (1, 1, 1)
    );
    let staged = git(&root, &["show", ":a.txt"]).unwrap() + "\n";
    assert_eq!(
        staged,
        numbered(1..=30)
            .replace("line 5\n", "five\n")
            .replace("line 2five\n", "line 25\n")
    );

    agent.model.reply([text("Say five\n")]);
    let message = changes.draft_commit_message(id).await.unwrap();
    assert_eq!(message, "Say five");
    let input = CommitInput {
        message,
        amend: false,
    };
    let done = changes.commit(id, &input).await.unwrap();
    assert_eq!(done.summary, "Say five");
    assert_eq!(
        git(&root, &["show", "--format=", "--name-only", "HEAD"]).unwrap(),
        "a.txt"
    );
    let input = CommitInput {
        message: "Say five, at last".into(),
        amend: true,
    };
    changes.commit(id, &input).await.unwrap();
    assert_eq!(git(&root, &["rev-list", "--count", "HEAD"]).unwrap(), "2");
    assert_eq!(
        changes.last_commit_message(id).await.unwrap(),
        "Say five, at last"
    );

    let open = changes
        .review_files(id, &ReviewScope::Uncommitted, no_fold)
        .await
        .unwrap()
        .files;
    let open: Vec<_> = open
        .iter()
        .map(|file| (&*file.path, file.additions, file.deletions))
        .collect();
    assert_eq!(open, [("a.txt", 1, 1), ("new.txt", 1, 0)]);
    let status = changes.stash(id, "later").await.unwrap();
    assert_eq!(
        (status.unstaged, status.untracked, status.stashes),
        (0, 0, 1)
    );
    assert!(!agent.app.path("new.txt").exists());
    changes.unstash(id).await.unwrap();
    assert_eq!(agent.app.read("new.txt"), "n\n");
}

#[tokio::test]
async fn a_patch_of_the_changes_applies_with_git() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    agent
        .turn("sed -i 's/line 5$/five/' a.txt; printf 'no end' > 'new file'")
        .await;
    agent.turn("mkdir d; git mv a.txt d/b.txt").await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let patch = changes.patch_text(id, &ALL, false).await.unwrap();
    let after = agent.tree();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.patch"), &patch).unwrap();
    changes
        .revert_lines(
            id,
            &ALL,
            &ReviewSelection::All,
            &lathe_protocol::ipc::RevertLinesOptions::default(),
        )
        .await
        .unwrap();
    git(
        &root,
        &[
            "apply",
            &folder.path().join("p.patch").display().to_string(),
        ],
    )
    .unwrap();
    let files = |tree: Vec<String>| {
        tree.into_iter()
            .filter(|file| !file.starts_with(".git/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(files(agent.tree()), files(after));
}

#[tokio::test]
async fn a_patch_with_files_that_are_not_text_applies_in_both_directions() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    for (name, first) in [("old.bin", 0_u8), ("gone.bin", 100), ("moved.bin", 7)] {
        let bytes: Vec<u8> = (0..600_u32)
            .map(|at| first ^ (at * at % 251) as u8)
            .collect();
        fs::write(root.join(name), [&b"\0"[..], &bytes].concat()).unwrap();
    }
    git(&root, &["add", "."]).unwrap();
    git(&root, &["commit", "-qm", "Pictures"]).unwrap();
    let before = files_of(&root);
    agent
        .turn(
            "printf '\\000new\\377' >> old.bin; rm gone.bin; mv moved.bin there.bin; \
             printf 'a\\000b' > made.bin; printf 'caf\\351\\n' > latin.txt; \
             sed -i 's/line 5$/five/' a.txt; chmod +x old.bin",
        )
        .await;
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let patch = changes.patch_text(id, &ALL, false).await.unwrap();
    let after = files_of(&root);
    assert_ne!(after, before);
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("p.patch").display().to_string();
    fs::write(&saved, &patch).unwrap();
    git(&root, &["apply", "-R", &saved]).unwrap();
    assert_eq!(files_of(&root), before);
    git(&root, &["apply", &saved]).unwrap();
    assert_eq!(files_of(&root), after);
}

/// Every file with its bytes, without those of git.
fn files_of(root: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file());
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().display().to_string();
        (name, fs::read(path).unwrap())
    };
    files.map(named).collect()
}

#[tokio::test]
async fn nothing_that_a_repository_names_runs_before_the_project_is_trusted() {
    let agent = in_repository().await;
    let root = agent.app.path("");
    let mark = agent.app.data_dir().join("ran");
    let run = format!("touch {}; cat", mark.display());
    git(&root, &["config", "filter.evil.clean", &run]).unwrap();
    git(&root, &["config", "filter.evil.smudge", &run]).unwrap();
    git(&root, &["config", "filter.evil.process", &run]).unwrap();
    git(&root, &["config", "diff.evil.textconv", &run]).unwrap();
    git(&root, &["config", "core.fsmonitor", &run]).unwrap();
    fs::write(root.join(".gitattributes"), "* filter=evil diff=evil\n").unwrap();
    let hook = root.join(".git/hooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    git(
        &root,
        &[
            "-c",
            "core.fsmonitor=false",
            "update-index",
            "--chmod=+x",
            "--",
            "a.txt",
        ],
    )
    .unwrap();
    std::process::Command::new("chmod")
        .args(["+x"])
        .arg(&hook)
        .status()
        .unwrap();
    let _ = fs::remove_file(&mark);
    agent.app.write("a.txt", "changed\n");
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    changes.git_status(id).await.unwrap();
    changes
        .review_files(id, &ReviewScope::Uncommitted, no_fold)
        .await
        .unwrap();
    changes.git_folders(&agent.app.project).await.unwrap();
    let input = CommitInput {
        message: "Go".into(),
        amend: false,
    };
    changes.commit(id, &input).await.unwrap();
    changes.stash(id, "").await.unwrap();
    changes.unstash(id).await.unwrap();
    assert!(!mark.exists());
}

pub async fn in_worktree(agent: &Agent) -> (Session, PathBuf) {
    let app = &agent.app;
    let session = agent
        .changes()
        .create_in_worktree(&app.project, Some("Try it"))
        .await
        .unwrap();
    let folder = PathBuf::from(&session.directory);
    assert!(folder.ends_with(format!(
        "{}-try-it",
        app.path("").file_name().unwrap().display()
    )));
    (session, folder)
}

#[tokio::test]
async fn the_work_of_a_worktree_comes_back_as_uncommitted_changes_around_mine() {
    let agent = in_repository().await;
    let app = &agent.app;
    let (session, folder) = in_worktree(&agent).await;
    let edited = numbered(1..=30)
        .replace("line 5\n", "five\n")
        .replace("line 20\n", "twenty\n");
    fs::write(folder.join("a.txt"), &edited).unwrap();
    git(&folder, &["commit", "-qam", "Five"]).unwrap();
    fs::write(folder.join("new.txt"), "n\n").unwrap();
    let mine = numbered(1..=30)
        .replace("line 12\n", "mine\n")
        .replace("line 20\n", "20 is mine\n");
    app.write("a.txt", &mine);
    let id = &session.id;
    let status = agent.changes().git_status(id).await.unwrap().unwrap();
    let view = status.worktree.unwrap();
    assert_eq!(
        (view.branch.as_deref(), view.commits, view.uncommitted),
        (Some("lathe/try-it"), 1, 1)
    );
    let changed = agent.changes().worktree_files(id, no_fold).await.unwrap();
    let names: Vec<_> = changed.files.iter().map(|file| &*file.path).collect();
    assert_eq!(names, ["a.txt", "new.txt"]);

    let preview = agent
        .changes()
        .preview_bring_back(id, BringBack::Apply)
        .await
        .unwrap();
    let told: Vec<_> = preview
        .files
        .iter()
        .map(|file| (&*file.path, file.change))
        .collect();
    assert_eq!(
        told,
        [
            ("a.txt", RevertChange::Conflict),
            ("new.txt", RevertChange::Create)
        ]
    );
    assert_eq!(app.read("a.txt"), mine);
    let choices = BTreeMap::from([("a.txt".to_owned(), BringBackChoice::Original)]);
    agent
        .changes()
        .bring_back(id, BringBack::Apply, choices)
        .await
        .unwrap();
    assert_eq!(app.read("a.txt"), mine.replace("line 5\n", "five\n"));
    assert_eq!(app.read("new.txt"), "n\n");

    let merge = agent
        .changes()
        .preview_bring_back(id, BringBack::Merge)
        .await
        .unwrap();
    assert!(merge.problem.is_some());
    let removed = agent.changes().remove_worktree(id).await.unwrap();
    assert_eq!(
        (removed.branch.as_str(), removed.saved, folder.exists()),
        ("lathe/try-it", true, false)
    );
    let saved = git(&app.path(""), &["show", "lathe/try-it:new.txt"]).unwrap();
    assert_eq!(saved, "n");
}

#[tokio::test]
async fn the_commits_of_a_worktree_are_merged() {
    let agent = in_repository().await;
    let app = &agent.app;
    let (session, folder) = in_worktree(&agent).await;
    fs::write(
        folder.join("a.txt"),
        numbered(1..=30).replace("line 5\n", "five\n"),
    )
    .unwrap();
    git(&folder, &["commit", "-qam", "Five"]).unwrap();
    app.write("b.txt", "meanwhile\n");
    git(&app.path(""), &["add", "."]).unwrap();
    git(&app.path(""), &["commit", "-qm", "Meanwhile"]).unwrap();
    let preview = agent
        .changes()
        .preview_bring_back(&session.id, BringBack::Merge)
        .await
        .unwrap();
    assert_eq!((preview.commits, preview.problem), (1, None));
    agent
        .changes()
        .bring_back(&session.id, BringBack::Merge, BTreeMap::new())
        .await
        .unwrap();
    assert!(app.read("a.txt").contains("five\n"));
    assert_eq!(app.read("b.txt"), "meanwhile\n");
}
