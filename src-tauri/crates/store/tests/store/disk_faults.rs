//! Every write, sync and rename of a turn fails once, fails for a while, or is the last one.
//!
//! Where changes are counted, the clock is paused: pending records are then flushed by the turn's
//! own actions and never by the timer, however slow the machine is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lathe_protocol::{Message, Part, Session};
use lathe_store::{Result, Store};
use serde_json::Value;

use crate::support::faulty_disk::{EIO, ENOSPC, EROFS, Fault, FaultyDisk};
use crate::support::test_fs::options_with;
use crate::support::*;

/// One step of a turn, as the store sees it.
enum Action {
    Session(Session),
    Message(Message),
    Part(Part),
    /// Streaming text goes through the journal in either mode.
    Streamed(Part),
    MakeDurable,
    Barrier,
}

/// How a turn stores its messages and parts.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Written,
    Journaled,
}

const MODES: [Mode; 2] = [Mode::Written, Mode::Journaled];

/// A prompt and three steps, each with streamed text and a tool call.
fn turn() -> Vec<Action> {
    let mut actions = vec![
        Action::Session(session(1)),
        Action::Message(user(1, 0)),
        Action::Part(text(1, 0, 0, "do it")),
    ];
    for step in 1..=3 {
        actions.push(Action::Message(user(1, step)));
        actions.push(Action::Part(text(1, step, 0, "step-start")));
        actions
            .extend(["a", "a b", "a b c"].map(|words| Action::Streamed(text(1, step, 1, words))));
        actions.push(Action::Part(text(1, step, 2, "running")));
        actions.push(Action::MakeDurable);
        actions.push(Action::Part(text(1, step, 2, "completed")));
        actions.push(Action::Part(text(1, step, 3, "step-finish")));
        actions.push(Action::MakeDurable);
    }
    actions.push(Action::Barrier);
    actions
}

async fn run(store: &Store, mode: Mode, action: &Action) -> Result<()> {
    match (action, mode) {
        (Action::Session(session), _) => store.write_session(session).await,
        (Action::Message(message), Mode::Written) => store.write_message(message).await,
        (Action::Message(message), Mode::Journaled) => store.journal_message(message).await,
        (Action::Part(part), Mode::Written) => store.write_part(part).await,
        (Action::Part(part), Mode::Journaled) => store.journal_part(part).await,
        (Action::Streamed(part), _) => store.journal_part(part).await,
        (Action::MakeDurable, _) => store.make_durable(&session_id(1)).await,
        (Action::Barrier, _) => store.barrier(&session_id(1)).await,
    }
}

/// The file that an action writes, and its content.
fn content(action: &Action) -> Option<(String, Value)> {
    let part = |part: &Part| {
        let path = format!("part/{}/{}.json", part.message_id(), part.id());
        (path, serde_json::to_value(part).unwrap())
    };
    match action {
        Action::Session(session) => Some((
            format!("session/{}/{}.json", session.project_id, session.id),
            serde_json::to_value(session).unwrap(),
        )),
        Action::Message(message) => Some((
            format!("message/{}/{}.json", message.session_id(), message.id()),
            serde_json::to_value(message).unwrap(),
        )),
        Action::Part(it) | Action::Streamed(it) => Some(part(it)),
        Action::MakeDurable | Action::Barrier => None,
    }
}

fn files(root: &Path) -> BTreeMap<String, Value> {
    let mut files = tree(&root.join("storage"));
    files.retain(|name, _| name.ends_with(".json"));
    files
        .into_iter()
        .map(|(name, bytes)| (name, value(&bytes)))
        .collect()
}

async fn start(fault: Fault) -> (tempfile::TempDir, Arc<FaultyDisk>, Store) {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FaultyDisk::new(Fault::None));
    let store = Store::open(folder.path(), options_with(&disk))
        .await
        .unwrap();
    disk.set(fault);
    (folder, disk, store)
}

async fn count_changes_of_a_turn(mode: Mode) -> usize {
    let (_folder, disk, store) = start(Fault::None).await;
    for action in turn() {
        run(&store, mode, &action).await.unwrap();
    }
    disk.changes()
}

fn expected_files() -> BTreeMap<String, Value> {
    turn().iter().filter_map(content).collect()
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_any_change_loses_nothing_that_was_stored() {
    for mode in MODES {
        for at in (0..count_changes_of_a_turn(mode).await).step_by(count(2, 1)) {
            kill_at(mode, at).await;
        }
    }
}

async fn kill_at(mode: Mode, at: usize) {
    let (folder, _disk, store) = start(Fault::Kill { at }).await;
    let mut stored = BTreeMap::new();
    let mut interrupted = BTreeMap::new();
    for action in turn() {
        if run(&store, mode, &action).await.is_err() {
            // This one may or may not have taken effect.
            interrupted.extend(content(&action));
            break;
        }
        stored.extend(content(&action));
    }
    drop(store);

    let store = open(folder.path()).await;
    let found = files(folder.path());
    for (name, value) in &stored {
        let now = found.get(name);
        assert!(
            now == Some(value) || now.is_some() && now == interrupted.get(name),
            "{name} lost at {at}"
        );
    }
    assert!(
        found
            .keys()
            .all(|name| stored.contains_key(name) || interrupted.contains_key(name))
    );
    let strays = tree(folder.path())
        .into_keys()
        .filter(|name| name.contains(".tmp"))
        .count();
    assert_eq!(strays, 0, "temp files left at {at}");
    assert_eq!(store.check().await.unwrap().damaged, []);
    for action in turn() {
        run(&store, mode, &action).await.unwrap();
    }
    assert_eq!(files(folder.path()), expected_files());
}

#[tokio::test(start_paused = true)]
async fn one_failure_at_any_change_is_reported_and_the_turn_goes_on() {
    for mode in MODES {
        fail_once(mode).await;
    }
}

async fn fail_once(mode: Mode) {
    let changes = count_changes_of_a_turn(mode).await;
    for (first, with) in [ENOSPC, EIO, EROFS].into_iter().enumerate() {
        // Every day each change fails with one of the errors, in the soak run with all of them.
        let step = count(3, 1);
        for at in (first % step..changes).step_by(step) {
            let (folder, _disk, store) = start(Fault::Once { at, with }).await;
            let mut failures = 0;
            for action in turn() {
                let before = files(folder.path());
                if let Err(error) = run(&store, mode, &action).await {
                    failures += 1;
                    assert!(!store.health().borrow().is_good());
                    assert!(
                        error.is_io() && error.is_disk_full() == (with == ENOSPC),
                        "{error}"
                    );
                    if let Some((name, value)) = content(&action) {
                        let now = files(folder.path());
                        assert!(
                            now.get(&name) == before.get(&name) || now.get(&name) == Some(&value)
                        );
                    }
                    run(&store, mode, &action).await.unwrap();
                    assert!(store.health().borrow().is_good());
                }
            }
            assert!(failures <= 2, "one fault failed {failures} actions");
            assert_eq!(files(folder.path()), expected_files());
        }
    }
}

#[tokio::test]
async fn barriers_fail_while_the_disk_is_full_and_work_afterwards() {
    let (folder, disk, store) = start(Fault::None).await;
    for action in turn().iter().take(8) {
        run(&store, Mode::Written, action).await.unwrap();
    }
    store.barrier(&session_id(1)).await.unwrap();
    let good = files(folder.path());

    for with in [ENOSPC, EROFS, EIO] {
        disk.set(Fault::From { at: 0, with });
        for _ in 0..count(20, 200) {
            store
                .write_part(&text(1, 1, 2, "cannot be"))
                .await
                .unwrap_err();
            store.barrier(&session_id(1)).await.unwrap_err();
            assert!(!store.health().borrow().is_good());
        }
        // Reads still work.
        let page = store.messages(&session_id(1), None, 9).await.unwrap();
        assert_eq!((page.messages.len(), page.damaged), (2, vec![]));
        assert_eq!(files(folder.path()), good);

        disk.set(Fault::None);
        store.barrier(&session_id(1)).await.unwrap();
        assert!(store.health().borrow().is_good());
    }
    for action in turn() {
        run(&store, Mode::Written, &action).await.unwrap();
    }
    assert_eq!(files(folder.path()), expected_files());
    drop(store);
    let strays = tree(folder.path())
        .into_keys()
        .filter(|name| name.contains(".tmp"))
        .count();
    assert_eq!(
        (
            strays,
            open(folder.path())
                .await
                .check()
                .await
                .unwrap()
                .strays
                .len()
        ),
        (strays, 0)
    );
}
