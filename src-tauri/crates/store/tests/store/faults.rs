//! Every write, sync and rename of a turn fails once, fails for a while, or is the last.
//!
//! Where each change is counted, time stands still: what waits is then written by the turn's own
//! deeds and never beside them, however long a busy machine takes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lathe_protocol::{Message, Part, Session};
use lathe_store::{Options, Result, Store};
use serde_json::Value;

use crate::support::faulty::{EIO, ENOSPC, EROFS, Fault, Faulty};
use crate::support::*;

/// One deed of a turn.
enum Deed {
    Session(Session),
    Message(Message),
    Part(Part),
    /// Text that streams in goes through the journal however the rest is stored.
    Streamed(Part),
    Secure,
    Barrier,
}

/// How a turn stores what it does.
#[derive(Debug, Clone, Copy)]
enum Way {
    Written,
    Kept,
}

const WAYS: [Way; 2] = [Way::Written, Way::Kept];

/// A prompt and three steps, each with streamed text and a tool call.
fn turn() -> Vec<Deed> {
    let mut deeds = vec![
        Deed::Session(session(1)),
        Deed::Message(user(1, 0)),
        Deed::Part(text(1, 0, 0, "do it")),
    ];
    for step in 1..=3 {
        deeds.push(Deed::Message(user(1, step)));
        deeds.push(Deed::Part(text(1, step, 0, "step-start")));
        deeds.extend(["a", "a b", "a b c"].map(|words| Deed::Streamed(text(1, step, 1, words))));
        deeds.push(Deed::Part(text(1, step, 2, "running")));
        deeds.push(Deed::Secure);
        deeds.push(Deed::Part(text(1, step, 2, "completed")));
        deeds.push(Deed::Part(text(1, step, 3, "step-finish")));
        deeds.push(Deed::Secure);
    }
    deeds.push(Deed::Barrier);
    deeds
}

async fn act(store: &Store, way: Way, deed: &Deed) -> Result<()> {
    match (deed, way) {
        (Deed::Session(session), _) => store.write_session(session).await,
        (Deed::Message(message), Way::Written) => store.write_message(message).await,
        (Deed::Message(message), Way::Kept) => store.keep_message(message).await,
        (Deed::Part(part), Way::Written) => store.write_part(part).await,
        (Deed::Part(part), Way::Kept) => store.keep_part(part).await,
        (Deed::Streamed(part), _) => store.keep_part(part).await,
        (Deed::Secure, _) => store.secure(&session_id(1)).await,
        (Deed::Barrier, _) => store.barrier(&session_id(1)).await,
    }
}

/// The file that a deed is about, and what will be in it.
fn content(deed: &Deed) -> Option<(String, Value)> {
    let part = |part: &Part| {
        let path = format!("part/{}/{}.json", part.message_id(), part.id());
        (path, serde_json::to_value(part).unwrap())
    };
    match deed {
        Deed::Session(session) => Some((
            format!("session/{}/{}.json", session.project_id, session.id),
            serde_json::to_value(session).unwrap(),
        )),
        Deed::Message(message) => Some((
            format!("message/{}/{}.json", message.session_id(), message.id()),
            serde_json::to_value(message).unwrap(),
        )),
        Deed::Part(it) | Deed::Streamed(it) => Some(part(it)),
        Deed::Secure | Deed::Barrier => None,
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

async fn start(fault: Fault) -> (tempfile::TempDir, Arc<Faulty>, Store) {
    let folder = tempfile::tempdir().unwrap();
    let fs = Arc::new(Faulty::new(Fault::None));
    let store = Store::open(
        folder.path(),
        Options {
            fs: fs.clone(),
            ..Options::default()
        },
    )
    .await
    .unwrap();
    fs.set(fault);
    (folder, fs, store)
}

async fn changes_of_a_turn(way: Way) -> usize {
    let (_folder, fs, store) = start(Fault::None).await;
    for deed in turn() {
        act(&store, way, &deed).await.unwrap();
    }
    fs.changes()
}

fn whole() -> BTreeMap<String, Value> {
    turn().iter().filter_map(content).collect()
}

#[tokio::test(start_paused = true)]
async fn death_at_every_change_leaves_what_was_stored() {
    for way in WAYS {
        for at in (0..changes_of_a_turn(way).await).step_by(count(2, 1)) {
            dies(way, at).await;
        }
    }
}

async fn dies(way: Way, at: usize) {
    let (folder, _fs, store) = start(Fault::Death { at }).await;
    let mut stored = BTreeMap::new();
    let mut waiting = BTreeMap::new();
    for deed in turn() {
        let outcome = act(&store, way, &deed).await;
        match &deed {
            _ if outcome.is_ok() => stored.extend(content(&deed)),
            // The one under way may have come to be, as it may not.
            _ => waiting.extend(content(&deed)),
        }
        if outcome.is_err() {
            break;
        }
    }
    drop(store);

    let store = open(folder.path()).await;
    let found = files(folder.path());
    for (name, value) in &stored {
        let now = found.get(name);
        assert!(
            now == Some(value) || now.is_some() && now == waiting.get(name),
            "{name} lost at {at}"
        );
    }
    assert!(
        found
            .keys()
            .all(|name| stored.contains_key(name) || waiting.contains_key(name))
    );
    let strays = tree(folder.path())
        .into_keys()
        .filter(|name| name.contains(".tmp"))
        .count();
    assert_eq!(strays, 0, "temp files left at {at}");
    assert_eq!(store.check().await.unwrap().damaged, []);
    for deed in turn() {
        act(&store, way, &deed).await.unwrap();
    }
    assert_eq!(files(folder.path()), whole());
}

#[tokio::test(start_paused = true)]
async fn one_failure_at_any_change_is_told_and_the_turn_goes_on() {
    for way in WAYS {
        fails_once(way).await;
    }
}

async fn fails_once(way: Way) {
    let changes = changes_of_a_turn(way).await;
    for (first, with) in [ENOSPC, EIO, EROFS].into_iter().enumerate() {
        // Every change fails in one way each day, in every way in the soak.
        let step = count(3, 1);
        for at in (first % step..changes).step_by(step) {
            let (folder, _fs, store) = start(Fault::Once { at, with }).await;
            let mut failures = 0;
            for deed in turn() {
                let before = files(folder.path());
                if let Err(error) = act(&store, way, &deed).await {
                    failures += 1;
                    assert!(!store.health().borrow().is_good());
                    assert!(
                        error.is_io() && error.is_disk_full() == (with == ENOSPC),
                        "{error}"
                    );
                    if let Some((name, value)) = content(&deed) {
                        let now = files(folder.path());
                        assert!(
                            now.get(&name) == before.get(&name) || now.get(&name) == Some(&value)
                        );
                    }
                    act(&store, way, &deed).await.unwrap();
                    assert!(store.health().borrow().is_good());
                }
            }
            assert!(failures <= 2, "one fault failed {failures} deeds");
            assert_eq!(files(folder.path()), whole());
        }
    }
}

#[tokio::test]
async fn while_the_disk_is_full_barriers_fail_and_afterwards_all_is_well() {
    let (folder, fs, store) = start(Fault::None).await;
    for deed in turn().iter().take(8) {
        act(&store, Way::Written, deed).await.unwrap();
    }
    store.barrier(&session_id(1)).await.unwrap();
    let good = files(folder.path());

    for with in [ENOSPC, EROFS, EIO] {
        fs.set(Fault::From { at: 0, with });
        for _ in 0..count(20, 200) {
            store
                .write_part(&text(1, 1, 2, "cannot be"))
                .await
                .unwrap_err();
            store.barrier(&session_id(1)).await.unwrap_err();
            assert!(!store.health().borrow().is_good());
        }
        // Reading goes on.
        let page = store.messages(&session_id(1), None, 9).await.unwrap();
        assert_eq!((page.messages.len(), page.damaged), (2, vec![]));
        assert_eq!(files(folder.path()), good);

        fs.set(Fault::None);
        store.barrier(&session_id(1)).await.unwrap();
        assert!(store.health().borrow().is_good());
    }
    for deed in turn() {
        act(&store, Way::Written, &deed).await.unwrap();
    }
    assert_eq!(files(folder.path()), whole());
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
