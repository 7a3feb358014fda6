//! What people have lost with other programs, and do not lose here. Each test is named after the
//! public report.

use std::fs;

use lathe_changes::Changes;
use lathe_protocol::ipc::{RevertLinesOptions, ReviewSelection, StepPlace};
use lathe_test_support::fake_model::{call, text};
use lathe_test_support::git::{commit_all, git};
use lathe_test_support::scripted_agent::Agent;
use serde_json::json;

use crate::reviewing::{ALL, Reviewing, no_fold, numbered};

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
    agent.model.reply([text("Nothing to do.")]);
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
    assert!(planned.files.is_empty());
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

/// opencode 46783: the agent was asked to read a file that was not there. The person put it there
/// and undid the prompt to ask once more, and the undo deleted the file.
#[tokio::test]
async fn opencode_46783_an_undo_leaves_a_file_that_came_after_the_agent_had_looked_for_it() {
    let agent = Agent::start().await.file("a.txt", "1\n");
    commit_all(&agent.app.path("")).unwrap();
    agent.model.reply([call(
        "read",
        json!({ "filePath": agent.app.path("notes.txt").display().to_string() }),
    )]);
    agent.model.reply([text("There is no such file.")]);
    agent.app.ask("read notes.txt").await;
    agent.app.write("notes.txt", "downloaded\n");
    let before = agent.tree();
    let undone = agent
        .app
        .sessions
        .undo_last_turn(&agent.app.session.id, false)
        .await
        .unwrap();
    assert!(undone.files.is_empty(), "{:?}", undone.files);
    assert_eq!(agent.tree(), before);
}

/// opencode 3176: taking one message back in one folder of a large repository destroyed the work
/// in another folder of it, and so did doing it again.
#[tokio::test]
async fn opencode_3176_neither_undo_nor_redo_touches_another_folder_of_the_repository() {
    let agent = Agent::start()
        .await
        .file("web/a.txt", "1\n")
        .file("api/b.txt", "1\n");
    commit_all(&agent.app.path("")).unwrap();
    agent.turn("printf '2\\n' > web/a.txt").await;
    agent.app.write("api/b.txt", "days of work\n");
    agent.app.write("api/new.txt", "not tracked\n");
    let files = || ["api/b.txt", "api/new.txt", "web/a.txt"].map(|name| agent.app.read(name));
    let with = |web: &str| ["days of work\n", "not tracked\n", web].map(str::to_owned);
    agent.revert(&ReviewSelection::All).await;
    assert_eq!(files(), with("1\n"));
    agent.undo().await;
    assert_eq!(files(), with("2\n"));
    agent.redo().await;
    assert_eq!(files(), with("1\n"));
}

/// opencode 29520: no snapshot could be taken, and nothing said so. The undo took the messages back
/// and left the files, as if it had done its work.
#[tokio::test]
async fn opencode_29520_an_undo_without_snapshots_says_that_it_has_not_undone_the_files() {
    let agent = Agent::start().await;
    let app = &agent.app;
    // No snapshot is taken of a folder that contains the data directory.
    let project = app.sessions.open_project(app.data_dir()).await.unwrap();
    let session = app.sessions.create(&project, None).await.unwrap();
    let file = app.data_dir().join("a.txt");
    fs::write(&file, "1\n").unwrap();
    let command = format!("printf '2\\n' > {}", file.display());
    let input = json!({ "command": command, "description": "edit" });
    agent.model.reply([call("bash", input)]);
    agent.model.reply([text("Done.")]);
    let mut events = app.sessions.subscribe();
    let input = lathe_protocol::ipc::PromptInput {
        text: "make it 2".into(),
        ..lathe_protocol::ipc::PromptInput::default()
    };
    let prompt = app.sessions.prompt(&session.id, input).await.unwrap();
    lathe_test_support::app::until_idle(&mut events, &session.id).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "2\n");
    let changes = Changes::new(app.sessions.clone());
    let place = StepPlace {
        message_id: prompt,
        part_id: None,
    };
    let shown = changes.review_files(&session.id, &ALL, no_fold).await;
    let plan = changes.preview_restore(&session.id, &place).await;
    for refused in [shown.err(), plan.err()] {
        let refused = refused.unwrap().to_string();
        assert!(refused.contains("no snapshots of this folder"), "{refused}");
    }
    let undone = app.sessions.undo_last_turn(&session.id, false).await;
    let undone = undone.unwrap();
    assert!(!undone.complete, "{undone:?}");
    assert!(
        undone.unknown.iter().any(|line| line.contains("bash")),
        "{:?}",
        undone.unknown
    );
    assert_eq!(undone.session.revert, None, "the turn is still there");
    assert_eq!(fs::read_to_string(&file).unwrap(), "2\n");
}

/// claude-code 68315: before each edit, the checkpoints of files stashed what was not committed and
/// reset the working tree, and took the lock of the index meanwhile.
#[tokio::test]
async fn claude_code_68315_snapshots_leave_the_index_the_stash_and_what_is_not_committed() {
    let agent = Agent::start()
        .await
        .file("a.txt", "1\n")
        .file("mine.txt", "1\n")
        .file("staged.txt", "1\n");
    let root = agent.app.path("");
    commit_all(&root).unwrap();
    agent.app.write("staged.txt", "staged\n");
    git(&root, &["add", "staged.txt"]).unwrap();
    agent.app.write("staged.txt", "staged, and edited\n");
    agent.app.write("mine.txt", "not committed\n");
    agent.app.write("new.txt", "not tracked\n");
    let before = project(&agent);
    let index = fs::read(root.join(".git/index")).unwrap();
    // Somebody else's git command is at work the whole time.
    fs::write(root.join(".git/index.lock"), "").unwrap();
    agent.turn("printf '2\\n' > a.txt").await;
    agent.turn("printf '3\\n' > a.txt").await;
    assert_eq!(agent.app.read("a.txt"), "3\n");
    let file = agent.whole(&ALL, "a.txt").await;
    agent.revert(&file).await;
    assert_eq!(project(&agent), before);
    assert_eq!(fs::read(root.join(".git/index")).unwrap(), index);
    assert_eq!(fs::read(root.join(".git/index.lock")).unwrap(), b"");
    assert!(!root.join(".git/refs/stash").exists());
    assert!(!root.join(".git/ORIG_HEAD").exists());
}

/// A person edits a file by hand after the agent, and then goes back to before the agent. Elsewhere
/// the edit was replaced by an old copy of the file and could not be brought back.
#[tokio::test]
async fn an_edit_by_hand_after_the_agent_survives_going_back_and_forward() {
    let agent = Agent::start().await.file("a.txt", &numbered(1..=20));
    let prompt = agent.turn("sed -i 's/line 5$/five/' a.txt").await;
    let mine = agent.app.read("a.txt").replace("line 15", "mine");
    agent.app.write("a.txt", &mine);
    let (changes, id) = (&agent.changes(), &agent.app.session.id);
    let place = StepPlace {
        message_id: prompt,
        part_id: None,
    };
    let options = lathe_protocol::ipc::RevertOptions::default();
    changes.restore_files(id, &place, &options).await.unwrap();
    assert_eq!(agent.app.read("a.txt"), mine.replace("five", "line 5"));
    agent.undo().await;
    assert_eq!(agent.app.read("a.txt"), mine);
}

/// The files of the project, without those of git.
fn project(agent: &Agent) -> Vec<String> {
    let mut files = agent.tree();
    files.retain(|file| !file.starts_with(".git/"));
    files
}
