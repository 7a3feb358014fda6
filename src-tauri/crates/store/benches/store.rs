//! The cost of the store, compared with one `fs::write` and one full read per part.
//!
//! Prints one JSON object a line: `{"name", "ours", "baseline", "ratio"}`, in seconds, and a
//! row for memory in bytes. `LATHE_BENCH_MESSAGES` sets the number of messages.

// A benchmark that cannot go on may panic.
#![allow(clippy::expect_used)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lathe_protocol::{Message, MessageId, Millis, Part, Session, SessionId};
use lathe_store::{Key, Options, Store};
use serde_json::json;

const PARTS: usize = 10;
const TAIL: usize = 50;
const SMALL: usize = 100;
const CREATED: i64 = 1_767_800_000_000;

fn main() {
    let messages = std::env::var("LATHE_BENCH_MESSAGES").ok();
    let messages = messages
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(run(messages));
}

async fn run(messages: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let ours = folder.path().join("ours");
    let naive = folder.path().join("naive");
    let store = open(&ours).await;
    let big = records(&store, 1, messages);
    let small = records(&store, 2, SMALL);

    let wrote = write_ours(&store, &big).await;
    row("write all parts", wrote, write_naive(&naive, &big));
    write_ours(&store, &small).await;
    let (updated, baseline) = update(&store, &naive, &big).await;
    row("update 1,000 parts", updated, baseline);
    let listed = timed(|| async { list(&store, &big).await }).await;
    row(
        "list all parts",
        listed,
        timed(|| async { list_naive(&naive) }).await,
    );
    drop(store);
    // A folder that changed a moment ago is listed again each time. A session that a person opens
    // is older than that.
    tokio::time::sleep(Duration::from_secs(4)).await;

    let store = open(&ours).await;
    for records in [&big, &small] {
        tail(&store, &records.session.id).await;
    }
    let before = resident();
    tail(&store, &small.session.id).await;
    let after_small = resident();
    tail(&store, &big.session.id).await;
    let after_big = resident();
    let [big_tail, small_tail] =
        medians([&big, &small].map(|records| || tail(&store, &records.session.id))).await;
    row(
        "tail of the big session against the small one",
        big_tail,
        small_tail,
    );
    row(
        "tail of the big session against reading all",
        big_tail,
        read_naive(&naive, &big),
    );
    let [big_tail, small_tail] =
        medians([&big, &small].map(|records| || fresh_tail(&ours, &records.session.id))).await;
    row(
        "tail after a start, big against small",
        big_tail,
        small_tail,
    );

    let mut loads = Vec::new();
    let mut reads = Vec::new();
    for _ in 0..3 {
        loads.push(load_all(&store, &big.session.id, messages).await);
        reads.push(read_naive(&naive, &big));
    }
    loads.sort();
    reads.sort();
    row("load all parts", loads[1], reads[1]);
    memory(before, after_small, after_big);
}

struct Records {
    session: Session,
    messages: Vec<(Message, Vec<Part>)>,
}

fn records(store: &Store, number: i64, count: usize) -> Records {
    let session = store.ids().session(Millis(CREATED + number));
    let messages = (0..count as i64)
        .map(|n| message(store, &session, CREATED + n * 1000))
        .collect();
    let record = json!({
        "id": session, "projectID": "global", "directory": "/home/user/app", "title": "Bench",
        "version": "1.1.27", "time": { "created": CREATED, "updated": CREATED },
    });
    Records {
        session: serde_json::from_value(record).expect("a session"),
        messages,
    }
}

fn message(store: &Store, session: &SessionId, created: i64) -> (Message, Vec<Part>) {
    let id = store.ids().message(Millis(created));
    let message = json!({
        "id": id, "sessionID": session, "role": "user", "time": { "created": created },
        "agent": "build", "model": { "providerID": "demo", "modelID": "demo" },
    });
    let parts = (0..PARTS)
        .map(|number| part(store, session, &id, created, number))
        .collect();
    (serde_json::from_value(message).expect("a message"), parts)
}

/// As in a real session: half text, half tool calls.
fn part(
    store: &Store,
    session: &SessionId,
    message: &MessageId,
    created: i64,
    number: usize,
) -> Part {
    let id = store.ids().part(Millis(created));
    let words =
        "The lookup walks the whole list each time, so I keep an index. ".repeat(1 + number);
    let mut part = json!({ "id": id, "sessionID": session, "messageID": message });
    let rest = if number.is_multiple_of(2) {
        json!({ "type": "text", "text": words, "time": { "start": created, "end": created } })
    } else {
        json!({ "type": "tool", "callID": "call_1", "tool": "read", "state": {
            "status": "completed", "input": { "filePath": "/home/user/app/src/a.rs" },
            "output": words, "title": "src/a.rs", "metadata": { "truncated": false },
            "time": { "start": created, "end": created },
        } })
    };
    let (Some(fields), Some(more)) = (part.as_object_mut(), rest.as_object()) else {
        unreachable!()
    };
    fields.extend(more.clone());
    serde_json::from_value(part).expect("a part")
}

async fn open(root: &Path) -> Store {
    Store::open(root, Options::default())
        .await
        .expect("a store")
}

async fn write_ours(store: &Store, records: &Records) -> Duration {
    store
        .write_session(&records.session)
        .await
        .expect("a session");
    let start = Instant::now();
    for (message, parts) in &records.messages {
        store.write_message(message).await.expect("a message");
        for part in parts {
            store.write_part(part).await.expect("a part");
        }
    }
    start.elapsed()
}

fn naive_path(root: &Path, part: &Part) -> PathBuf {
    root.join(part.message_id().as_str())
        .join(format!("{}.json", part.id()))
}

fn write_naive(root: &Path, records: &Records) -> Duration {
    let start = Instant::now();
    for (message, parts) in &records.messages {
        fs::create_dir_all(root.join(message.id().as_str())).expect("a folder");
        for part in parts {
            let bytes = serde_json::to_vec_pretty(part).expect("JSON");
            fs::write(naive_path(root, part), bytes).expect("a file");
        }
    }
    start.elapsed()
}

async fn update(store: &Store, naive: &Path, records: &Records) -> (Duration, Duration) {
    let some: Vec<&Part> = records
        .messages
        .iter()
        .step_by(10)
        .map(|(_, parts)| &parts[0])
        .collect();
    let rename = |part: &mut Part| {
        if let Part::Text(text) = part {
            text.text.push_str("more");
        }
    };
    let start = Instant::now();
    for part in &some {
        let key = Key::part(part.message_id(), part.id()).expect("a key");
        store
            .update::<Part, _>(&key, rename)
            .await
            .expect("an update");
    }
    let ours = start.elapsed();
    let start = Instant::now();
    for part in &some {
        let path = naive_path(naive, part);
        let mut read: Part =
            serde_json::from_slice(&fs::read(&path).expect("a file")).expect("a part");
        rename(&mut read);
        fs::write(&path, serde_json::to_vec_pretty(&read).expect("JSON")).expect("a file");
    }
    (ours, start.elapsed())
}

async fn list(store: &Store, records: &Records) {
    let listed = store
        .list(&Key::new(["part"]).expect("a key"))
        .await
        .expect("a list");
    assert!(listed.len() >= records.messages.len() * PARTS);
}

fn list_naive(root: &Path) {
    for folder in fs::read_dir(root).expect("a folder") {
        for file in fs::read_dir(folder.expect("an entry").path()).expect("a folder") {
            black_box(file.expect("an entry").path());
        }
    }
}

/// Lists the folders too, because opening a session has to.
fn read_naive(root: &Path, records: &Records) -> Duration {
    let start = Instant::now();
    for (message, _) in &records.messages {
        for file in fs::read_dir(root.join(message.id().as_str())).expect("a folder") {
            let bytes = fs::read(file.expect("an entry").path()).expect("a file");
            black_box(serde_json::from_slice::<Part>(&bytes).expect("a part"));
        }
    }
    start.elapsed()
}

async fn tail(store: &Store, session: &SessionId) {
    let page = store.messages(session, None, TAIL).await.expect("a page");
    assert_eq!(page.messages.len(), TAIL);
    black_box(page);
}

async fn fresh_tail(root: &Path, session: &SessionId) {
    tail(&open(root).await, session).await;
}

/// Page by page to the beginning, as scrolling up does.
async fn load_all(store: &Store, session: &SessionId, messages: usize) -> Duration {
    let start = Instant::now();
    let mut before = None;
    let mut loaded = 0;
    loop {
        let page = store
            .messages(session, before.as_ref(), 1000)
            .await
            .expect("a page");
        loaded += page.messages.len();
        before = page
            .messages
            .first()
            .map(|message| message.info.id().clone());
        if !page.has_older {
            break;
        }
    }
    assert_eq!(loaded, messages);
    start.elapsed()
}

async fn timed<F: Future>(work: impl FnOnce() -> F) -> Duration {
    let start = Instant::now();
    work().await;
    start.elapsed()
}

/// Medians of many runs. The works take turns, so that other load on the machine hits all of them.
async fn medians<F: Future, const N: usize>(works: [impl Fn() -> F; N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..31 {
        for (work, times) in works.iter().zip(&mut times) {
            times.push(timed(work).await);
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

#[allow(clippy::print_stdout)]
fn row(name: &str, ours: Duration, baseline: Duration) {
    let (ours, baseline) = (ours.as_secs_f64(), baseline.as_secs_f64());
    println!(
        "{}",
        json!({ "name": name, "ours": ours, "baseline": baseline, "ratio": ours / baseline })
    );
}

/// How much more memory the process uses after reading the big session's tail than after the small
/// one's.
#[allow(clippy::print_stdout)]
fn memory(before: u64, small: u64, big: u64) {
    let (ours, baseline) = (big.saturating_sub(before), small.saturating_sub(before));
    let ratio = big as f64 / small as f64;
    println!(
        "{}",
        json!({ "name": "resident memory after the tail, big against small (bytes)",
        "ours": ours, "baseline": baseline, "resident": big, "ratio": ratio })
    );
}

fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0);
    pages * 4096
}
