//! Data of OpenCode 1.1 is read completely and rewritten without loss.

use std::collections::BTreeMap;

use lathe_protocol::{FileDiff, Rule, Todo};
use lathe_store::Key;
use serde_json::Value;

use crate::migrations::fixture;
use crate::support::*;

const DAMAGED: [&str; 2] = [
    "session/4b825dc642cb6eb9a060e54bf8d69288fbee4904/ses_46275e2c3ffeDDDDDDDDDDDDDD.json",
    "part/msg_b996eae8d001AAAAAAAAAAAAAA/prt_b996eaf2d001TRUNCATEDTRUN.json",
];

fn values(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Value> {
    let good = files
        .into_iter()
        .filter(|(name, _)| !DAMAGED.contains(&name.as_str()));
    good.map(|(name, bytes)| (name, value(&bytes))).collect()
}

#[tokio::test]
async fn every_record_is_read_and_rewritten_without_losing_a_field() {
    let folder = fixture("opencode-1.1");
    let tree_before = tree(&folder.path().join("storage"));
    let store = open(folder.path()).await;

    let projects = store.projects().await.unwrap();
    for project in &projects.items {
        store.write_project(project).await.unwrap();
    }
    let sessions = store.all_sessions().await.unwrap();
    let mut parts = 0;
    let mut damaged = sessions.damaged.len();
    for session in &sessions.items {
        store.write_session(session).await.unwrap();
        let page = store.messages(&session.id, None, usize::MAX).await.unwrap();
        damaged += page.damaged.len();
        for message in &page.messages {
            store.write_message(&message.info).await.unwrap();
            for part in &message.parts {
                store.write_part(part).await.unwrap();
                parts += 1;
            }
        }
    }
    assert_eq!(
        (projects.items.len(), sessions.items.len(), parts, damaged),
        (2, 3, 32, 2)
    );
    rewrite::<Vec<Todo>>(&store, "todo").await;
    rewrite::<Vec<FileDiff>>(&store, "session_diff").await;
    rewrite::<Vec<Rule>>(&store, "permission").await;
    rewrite::<Value>(&store, "session_share").await;

    let tree_after = tree(&folder.path().join("storage"));
    for name in DAMAGED {
        assert_eq!(tree_after[name], tree_before[name]);
    }
    let (after, before) = (values(tree_after), values(tree_before));
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
    for (name, value) in before {
        assert_eq!(after[&name], value, "{name}");
    }
}

async fn rewrite<T>(store: &lathe_store::Store, kind: &str)
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    for key in store.list(&Key::new([kind]).unwrap()).await.unwrap() {
        let record = store.read::<T>(&key).await.unwrap().unwrap();
        store.write(&key, &record).await.unwrap();
    }
}

#[tokio::test]
async fn rewriting_an_unchanged_record_gives_the_same_bytes() {
    let folder = fixture("opencode-1.1");
    let before = tree(&folder.path().join("storage"));
    let store = open(folder.path()).await;
    for key in store.list(&Key::new(["part"]).unwrap()).await.unwrap() {
        if let Ok(Some(record)) = store.read::<Value>(&key).await {
            store.write(&key, &record).await.unwrap();
        }
    }
    let text = |files: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, String> {
        files
            .iter()
            .map(|(name, bytes)| (name.clone(), String::from_utf8(bytes.clone()).unwrap()))
            .collect()
    };
    assert_eq!(text(&tree(&folder.path().join("storage"))), text(&before));
}

#[tokio::test]
async fn orphans_and_damage_are_reported_and_do_not_stop_a_check() {
    let folder = fixture("opencode-1.1");
    let store = open(folder.path()).await;
    let report = store.check().await.unwrap();
    let orphans: Vec<_> = report.orphans.iter().map(Key::as_str).collect();
    assert_eq!(
        orphans,
        [
            "message/ses_46275e2c1ffeORPHANORPHANOR",
            "part/msg_b996eaf0d001ORPHANORPHANOR",
            "session_diff/ses_46275e2c2ffeZZZZZZZZZZZZZZ",
        ],
    );
    let mut damaged: Vec<_> = report
        .damaged
        .iter()
        .map(|found| format!("{}.json", found.key))
        .collect();
    damaged.reverse();
    assert_eq!(damaged, DAMAGED);
    assert_eq!(report.strays, Vec::<std::path::PathBuf>::new());
}
