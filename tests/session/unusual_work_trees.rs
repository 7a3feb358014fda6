//! Work trees with sockets, links, unreadable files and nested repositories: what a snapshot
//! cannot contain is reported and never touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lathe_protocol::ipc::{PromptInput, RevertChange, RevertFile, RevertTarget};
use lathe_protocol::{Event, MessageError, MessageId, SnapshotPart};
use lathe_session::bus::Notification;
use lathe_test_support::app::until;
use lathe_test_support::fake_model::{call, text};
use lathe_test_support::scripted_agent::{Agent, git};
use serde_json::json;

const LARGE: u64 = 64 << 20;

/// Every path below a folder with its kind, its permissions and its content.
fn inventory(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let about = fs::symlink_metadata(&path).unwrap();
            let (kind, mode) = (about.file_type(), about.permissions().mode());
            let closed = mode & 0o400 == 0;
            let content = if kind.is_symlink() {
                format!("to {}", fs::read_link(&path).unwrap().display())
            } else if kind.is_dir() && !closed {
                folders.push(path);
                "folder".into()
            } else if kind.is_file() && !closed && about.len() < LARGE {
                format!("{:?}", fs::read(&path).unwrap())
            } else {
                format!(
                    "{kind:?} of {}",
                    if kind.is_file() { about.len() } else { 0 }
                )
            };
            found.insert(name, format!("{mode:o} {content}"));
        }
    }
    found
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A project with all of these; the socket exists as long as the returned listener.
fn fill(agent: &Agent, outside: &Path) -> UnixListener {
    let at = |name: &str| agent.app.path(name);
    let commit = |folder: &str| {
        git(&at(folder), &["init", "-q"]);
        git(&at(folder), &["add", "-A"]);
        git(&at(folder), &["commit", "-qm", "one"]);
    };
    commit("");
    fs::create_dir_all(outside.join("library")).unwrap();
    fs::write(outside.join("library/code"), "library\n").unwrap();
    git(&outside.join("library"), &["init", "-q"]);
    git(&outside.join("library"), &["add", "-A"]);
    git(&outside.join("library"), &["commit", "-qm", "one"]);
    let library = outside.join("library").display().to_string();
    let allow = ["-c", "protocol.file.allow=always"];
    let add = ["submodule", "--quiet", "add", &library, "sub"];
    git(&at(""), &[&allow[..], &add].concat());
    for nested in ["born", "unborn"] {
        fs::create_dir(at(nested)).unwrap();
        fs::write(at(nested).join("code"), "nested\n").unwrap();
    }
    commit("born");
    git(&at("unborn"), &["init", "-q"]);
    let fifo = Command::new("mkfifo").arg(at("fifo")).status().unwrap();
    assert!(fifo.success());
    let large = fs::File::create(at("large")).unwrap();
    large.set_len(LARGE).unwrap();
    fs::write(at("new\nline"), "named\n").unwrap();
    fs::write(at("secret"), "secret\n").unwrap();
    fs::create_dir(at("closed")).unwrap();
    fs::write(at("closed/inner"), "inner\n").unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink(outside.join("library"), at("outward")).unwrap();
    set_mode(&at("secret"), 0o000);
    set_mode(&at("closed"), 0o000);
    UnixListener::bind(at("socket")).unwrap()
}

fn to(message: &MessageId) -> RevertTarget {
    RevertTarget::Message {
        message_id: message.clone(),
        keep_files: false,
    }
}

fn to_snapshot(part: &SnapshotPart) -> RevertTarget {
    RevertTarget::Snapshot {
        message_id: part.message_id.clone(),
        part_id: part.id.clone(),
    }
}

fn conflicts(files: &[RevertFile]) -> Vec<&str> {
    let left = files.iter();
    left.filter(|file| file.change == RevertChange::Conflict)
        .map(|file| file.path.as_str())
        .collect()
}

/// Root may read everything, so the test runs itself again as another user.
#[tokio::test]
async fn a_turn_in_an_unusual_work_tree_can_be_reverted_without_touching_unusual_files() {
    let me = fs::metadata("/proc/self").map(|about| std::os::unix::fs::MetadataExt::uid(&about));
    if me.is_ok_and(|uid| uid == 0) {
        let name = "odd_trees::a_turn_in_an_odd_tree_works_and_can_be_taken_back_without_touching_what_is_odd";
        let again = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("HOME", "/nonexistent")
            .current_dir("/")
            .uid(65534)
            .gid(65534)
            .output();
        match again {
            Ok(done) => assert!(
                done.status.success(),
                "{}",
                String::from_utf8_lossy(&done.stdout)
            ),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
        }
        return;
    }
    let agent = Agent::start().await.file("a.txt", "1\n");
    let outside = tempfile::tempdir().unwrap();
    let _socket = fill(&agent, outside.path());
    let app = &agent.app;
    let id = &app.session.id;
    let elsewhere = inventory(outside.path());
    let before = inventory(&app.path(""));

    let snapshot = app.sessions.take_snapshot(id, "before").await.unwrap();
    assert_eq!(
        snapshot.skipped.clone().unwrap(),
        [
            "closed: it can’t be read",
            "fifo: neither file, folder nor link",
            "large: too large",
            "secret: it can’t be read",
            "socket: neither file, folder nor link",
        ]
    );

    // Changes next to these files and inside of them are reverted and restored.
    let turn = agent
        .turn(
            "for at in sub born unborn; do echo more >> $at/code; echo new > $at/new; done; \
             echo 2 > a.txt; echo more >> 'new\nline'; echo new > 'other\nline'; rm dangling",
        )
        .await;
    let after = inventory(&app.path(""));
    let outcome = app.sessions.revert(id, &to(&turn)).await.unwrap();
    assert_eq!(conflicts(&outcome.files), [""; 0]);
    assert_eq!(inventory(&app.path("")), before);
    app.sessions.unrevert(id).await.unwrap();
    assert_eq!(inventory(&app.path("")), after);
    app.sessions.revert(id, &to(&turn)).await.unwrap();
    assert_eq!(inventory(&app.path("")), before);

    // A file that the snapshot before the step could not contain is not reverted, although the
    // one after it contains the file.
    let opened = ["closed/inner", "fifo", "large", "secret", "socket"];
    let turn = agent
        .turn(
            "chmod 700 closed; chmod 600 secret; rm fifo socket large; \
             for at in fifo socket large; do echo small > $at; done",
        )
        .await;
    let after = inventory(&app.path(""));
    for target in [to(&turn), to_snapshot(&snapshot)] {
        let outcome = app.sessions.revert(id, &target).await.unwrap();
        assert_eq!(conflicts(&outcome.files), opened);
        assert_eq!(inventory(&app.path("")), after);
        app.sessions.clean_up(0).await;
    }
    assert_eq!(inventory(outside.path()), elsewhere);
}

#[tokio::test]
async fn a_missing_snapshot_is_reported_once_per_prompt() {
    let agent = Agent::start().await;
    let app = &agent.app;
    // No snapshot is taken of a folder that contains the data directory.
    let project = app.sessions.open_project(app.data_dir()).await.unwrap();
    let session = app.sessions.create(&project, None).await.unwrap();
    for command in ["touch one", "touch two"] {
        let input = json!({ "command": command, "description": "Touch" });
        agent.model.reply([call("bash", input)]);
    }
    agent.model.reply([text("Done.")]);
    agent.model.reply([text("I only talk.")]);
    for expected in [1, 0] {
        let mut events = app.sessions.subscribe();
        let input = PromptInput {
            text: "go".into(),
            ..PromptInput::default()
        };
        app.sessions.prompt(&session.id, input).await.unwrap();
        let published = until(
            &mut events,
            |event| matches!(event, Event::SessionIdle { session_id } if *session_id == session.id),
        )
        .await;
        let errors = published.iter().filter_map(|one| match one {
            Notification::Event(event) => match &**event {
                Event::SessionError { error, .. } => error.as_ref(),
                _ => None,
            },
            _ => None,
        });
        let said: Vec<String> = errors.map(MessageError::message).collect();
        assert_eq!(said.len(), expected, "{said:?}");
        assert!(said.iter().all(|text| text.contains("our own data")));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_project_whose_name_is_not_text_is_refused_and_no_other_folder_is_made() {
    use std::os::unix::ffi::OsStrExt;
    let app = lathe_test_support::app::TestApp::start().await;
    let folder = app.path("").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir_all(folder.join("inside")).unwrap();
    for folder in [folder.clone(), folder.join("inside")] {
        let refused = app
            .sessions
            .open_project(&folder)
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("not valid text"), "{refused}");
    }
    assert_eq!(std::fs::read_dir(app.path("")).unwrap().count(), 1);
}
