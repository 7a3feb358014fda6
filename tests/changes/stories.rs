//! What people have lost with other programs, and do not lose here. Each test is named after the
//! public report.

use std::fs;

use lathe_protocol::ipc::{RevertLinesOptions, ReviewScope, ReviewSelection, StepPlace};
use lathe_test_support::git::{commit_all, git};

use lathe_test_support::scripted_agent::Agent;

use crate::reviewing::Reviewing;

const ALL: ReviewScope = ReviewScope::Session;

/// opencode 10287: an undo brought files back to a state of weeks ago, and committed code was gone.
#[tokio::test]
async fn opencode_10287_a_revert_leaves_what_was_committed_meanwhile() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("core.txt", "old\n");
    let root = agent.app.path("");
    commit_all(&root).unwrap();
    agent.turn("printf '2\\n' > a.txt").await;
    agent.app.write("core.txt", "new, and committed\n");
    git(&root, &["commit", "-qam", "Work of a person"]).unwrap();
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let options = RevertLinesOptions::default();
    changes
        .revert_lines(id, &ALL, &ReviewSelection::All, &options)
        .await
        .unwrap();
    assert_eq!(agent.app.read("a.txt"), "1\n");
    assert_eq!(agent.app.read("core.txt"), "new, and committed\n");
}

/// claude-code 28078: going back in a session without changes deleted those of another session.
#[tokio::test]
async fn claude_code_28078_going_back_in_one_session_leaves_the_changes_of_another() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    let app = &agent.app;
    let other = app.sessions.create(&app.project, None).await.unwrap();
    agent
        .model
        .reply([lathe_test_support::fake_model::text("Nothing to do.")]);
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "look".into(),
        ..lathe_protocol::ipc::PromptInput::default()
    };
    let prompt = app.sessions.prompt(&other.id, input).await.unwrap();
    lathe_test_support::app::until_idle(&mut events, &other.id).await;
    agent
        .turn("printf '2\\n' > a.txt; printf 'new\\n' > b.txt")
        .await;
    let before = agent.tree();
    let place = StepPlace {
        message_id: prompt,
        part_id: None,
    };
    let planned = agent
        .changes()
        .preview_restore(&other.id, &place)
        .await
        .unwrap();
    assert!(planned.is_empty());
    let options = lathe_protocol::ipc::RevertOptions::default();
    agent
        .changes()
        .restore_files(&other.id, &place, &options)
        .await
        .unwrap();
    assert_eq!(agent.tree(), before);
}

/// cline 14367: a restore brought an older `.gitignore` back, and then deleted the files that only
/// the newer one had ignored.
#[tokio::test]
async fn cline_14367_a_restore_of_the_ignore_file_deletes_nothing_that_it_ignored() {
    let agent = Agent::start().await.file(".gitignore", "target\n");
    let root = agent.app.path("");
    commit_all(&root).unwrap();
    agent
        .turn("printf 'target\\nsecret.env\\n' > .gitignore")
        .await;
    agent.app.write("secret.env", "KEY=1\n");
    agent.app.write("notes.txt", "not tracked\n");
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let step = changes.session_steps(id).await.unwrap().remove(0);
    let place = StepPlace {
        message_id: step.turn_id,
        part_id: None,
    };
    let options = lathe_protocol::ipc::RevertOptions::default();
    changes.restore_files(id, &place, &options).await.unwrap();
    assert_eq!(agent.app.read(".gitignore"), "target\n");
    assert_eq!(
        fs::read_to_string(root.join("secret.env")).unwrap(),
        "KEY=1\n"
    );
    assert_eq!(agent.app.read("notes.txt"), "not tracked\n");
}
