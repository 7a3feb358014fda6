//! Small records, folders as maps, and file systems that fail on demand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{Message, MessageId, Part, PartId, Session, SessionId};
use lathe_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::faulty_disk::{Fault, FaultyDisk};
use self::test_fs::options_with;

pub mod faulty_disk;
pub mod move_watcher;
pub mod power_cut_disk;
pub mod test_fs;

pub struct TestStore {
    pub folder: TempDir,
    pub store: Store,
}

impl TestStore {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).await;
        TestStore { folder, store }
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, inside: &str) -> PathBuf {
        self.root().join("storage").join(inside)
    }

    /// Closes the store and opens it again.
    pub async fn reopen(self) -> Self {
        let TestStore { folder, store } = self;
        drop(store);
        let store = open(folder.path()).await;
        TestStore { folder, store }
    }
}

/// On a disk that does not wait for syncs, which would only make most tests slow.
pub async fn open(root: &Path) -> Store {
    let disk = Arc::new(FaultyDisk::new(Fault::None));
    Store::open(root, options_with(&disk)).await.unwrap()
}

/// One second per number, from a day in January 2026.
pub fn millis(number: i64) -> i64 {
    1_767_800_000_000 + number * 1000
}

fn tick(number: i64, counter: i64) -> i64 {
    ((millis(number) << 12) + counter) & ((1 << 48) - 1)
}

pub fn session_id(number: i64) -> SessionId {
    let tick = !tick(number, 1) & ((1 << 48) - 1);
    SessionId::parse(&format!("ses_{tick:012x}AAAAAAAAAAAAAA")).unwrap()
}

pub fn message_id(number: i64) -> MessageId {
    MessageId::parse(&format!("msg_{:012x}BBBBBBBBBBBBBB", tick(number, 1))).unwrap()
}

pub fn part_id(message: i64, number: i64) -> PartId {
    PartId::parse(&format!(
        "prt_{:012x}CCCCCCCCCCCCCC",
        tick(message, 2 + number)
    ))
    .unwrap()
}

pub fn session(number: i64) -> Session {
    serde_json::from_value(json!({
        "id": session_id(number),
        "slug": "quiet-river",
        "projectID": "global",
        "directory": "/home/user/app",
        "title": format!("Session {number}"),
        "version": "1.1.27",
        "time": { "created": millis(number), "updated": millis(number) },
    }))
    .unwrap()
}

pub fn user(session: i64, number: i64) -> Message {
    serde_json::from_value(json!({
        "id": message_id(number),
        "sessionID": session_id(session),
        "role": "user",
        "time": { "created": millis(number) },
        "agent": "build",
        "model": { "providerID": "demo", "modelID": "demo" },
    }))
    .unwrap()
}

pub fn text(session: i64, message: i64, number: i64, words: &str) -> Part {
    serde_json::from_value(json!({
        "id": part_id(message, number),
        "sessionID": session_id(session),
        "messageID": message_id(message),
        "type": "text",
        "text": words,
    }))
    .unwrap()
}

/// A session of `messages` messages with `parts` parts each.
pub async fn fill(store: &Store, number: i64, messages: i64, parts: i64) {
    store.write_session(&session(number)).await.unwrap();
    for message in 0..messages {
        store.write_message(&user(number, message)).await.unwrap();
        for part in 0..parts {
            let words = format!("part {part} of message {message}");
            store
                .write_part(&text(number, message, part, &words))
                .await
                .unwrap();
        }
    }
}

/// The bytes of every file below a folder, by path relative to it.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_string_lossy()
                    .replace('\\', "/");
                files.insert(inside, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

pub fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

pub fn runtime() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap()
}

/// How often to repeat: few times every day, the full count in a soak run.
pub fn count(everyday: usize, soak: usize) -> usize {
    if std::env::var_os("LATHE_SOAK").is_some() {
        soak
    } else {
        everyday
    }
}

/// A small pseudo-random generator, so that a seed repeats a run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
