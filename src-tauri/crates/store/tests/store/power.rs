//! What a step has secured survives a power cut, whatever else the disk has written by then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::Part;
use lathe_store::{Options, Store};

use crate::support::power::{Luck, Powered};
use crate::support::*;

struct Machine {
    folder: tempfile::TempDir,
    fs: Arc<Powered>,
    store: Store,
}

impl Machine {
    /// `soon`: when what is kept reaches its file.
    async fn on(soon: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fs = Arc::new(Powered::default());
        let options = Options {
            fs: fs.clone(),
            soon,
        };
        let store = Store::open(folder.path(), options).await.unwrap();
        Machine { folder, fs, store }
    }

    /// The power goes, comes back, and the program starts again.
    async fn cut(self, luck: Luck) -> (tempfile::TempDir, Store) {
        self.fs.cut(self.folder.path(), luck);
        drop(self.store);
        let store = open(self.folder.path()).await;
        (self.folder, store)
    }
}

fn is_journal(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.starts_with("journal-")
}

fn is_record(path: &Path) -> bool {
    !is_journal(path)
}

const LUCKS: [Luck; 4] = [
    Luck::None,
    Luck::AllBut(|_| false),
    Luck::AllBut(is_journal),
    Luck::AllBut(is_record),
];

const NEVER: Duration = Duration::from_secs(3600);

async fn found(store: &Store, message: i64) -> Vec<Part> {
    store.parts(&message_id(message)).await.unwrap().items
}

#[tokio::test]
async fn what_was_secured_is_there_after_a_power_cut() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.write_session(&session(1)).await.unwrap();
        store.keep_message(&user(1, 0)).await.unwrap();
        store.keep_part(&text(1, 0, 0, "kept")).await.unwrap();
        store.write_part(&text(1, 0, 1, "written")).await.unwrap();
        store.write_part_soon(text(1, 0, 2, "streamed")).unwrap();
        store.secure(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        let parts = ["kept", "written", "streamed"];
        let parts = [0, 1, 2].map(|at| text(1, 0, at, parts[at as usize]));
        assert_eq!(found(&store, 0).await, parts, "{luck:?}");
        assert_eq!(
            store.session(&session_id(1)).await.unwrap(),
            Some(session(1))
        );
    }
}

/// The journal on the disk may be older than the files there.
#[tokio::test]
async fn a_journal_that_was_not_emptied_in_time_undoes_nothing() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.keep_part(&text(1, 0, 0, "first")).await.unwrap();
        store.secure(&session_id(1)).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();
        store.write_part(&text(1, 0, 0, "second")).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        assert_eq!(
            found(&store, 0).await,
            [text(1, 0, 0, "second")],
            "{luck:?}"
        );
    }
}

/// Whoever dies later must not set back what another process has written since.
#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_secures_any_more_is_settled_by_itself() {
    let machine = Machine::on(Duration::from_millis(100)).await;
    machine
        .store
        .keep_part(&text(1, 0, 0, "ours"))
        .await
        .unwrap();
    machine.store.secure(&session_id(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let second = open(machine.folder.path()).await;
    second.write_part(&text(1, 0, 0, "theirs")).await.unwrap();

    let (_folder, store) = machine.cut(Luck::AllBut(|_| false)).await;
    assert_eq!(found(&store, 0).await, [text(1, 0, 0, "theirs")]);
}

#[tokio::test(start_paused = true)]
async fn a_long_journal_is_brought_into_the_files() {
    let machine = Machine::on(Duration::from_millis(100)).await;
    for number in 0..600 {
        let part = text(1, 0, number, "one of many");
        machine.store.keep_part(&part).await.unwrap();
        machine.store.secure(&session_id(1)).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    let locks = tree(&machine.folder.path().join("locks"));
    let journals = locks
        .iter()
        .filter(|(name, _)| name.starts_with("journal-"));
    let sizes: Vec<usize> = journals.map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(sizes, [0]);

    let (_folder, store) = machine.cut(Luck::None).await;
    assert_eq!(found(&store, 0).await.len(), 600);
}

/// Random work: after every cut, each record is as it was last secured, or newer.
#[tokio::test]
async fn every_record_is_at_least_as_new_as_when_it_was_secured() {
    for seed in 1..=count(40, 1000) as u64 {
        let mut dice = Dice(seed * 7919);
        let soon = [NEVER, Duration::from_millis(1)][dice.roll(2) as usize];
        let machine = Machine::on(soon).await;
        let store = &machine.store;
        let (mut version, mut newest, mut secured) = (0, BTreeMap::new(), BTreeMap::new());
        for _ in 0..dice.roll(60) {
            let at = dice.roll(4) as i64;
            version += 1;
            let part = text(1, 0, at, &version.to_string());
            match dice.roll(7) {
                0..3 => store.keep_part(&part).await.unwrap(),
                3 => store.write_part(&part).await.unwrap(),
                4 => store.write_part_soon(part).unwrap(),
                5 => {
                    store.secure(&session_id(1)).await.unwrap();
                    secured.clone_from(&newest);
                    continue;
                }
                _ => {
                    store.barrier(&session_id(1)).await.unwrap();
                    secured.clone_from(&newest);
                    continue;
                }
            }
            newest.insert(at, version);
        }
        let luck = LUCKS[dice.roll(4) as usize];
        let (_folder, store) = machine.cut(luck).await;
        let found: BTreeMap<i64, i64> = found(&store, 0)
            .await
            .iter()
            .map(|part| {
                let at = (0..4).find(|at| part_id(0, *at) == *part.id()).unwrap();
                let Part::Text(text) = part else { panic!() };
                (at, text.text.parse().unwrap())
            })
            .collect();
        for (at, version) in secured {
            let now = found.get(&at);
            assert!(
                now >= Some(&version),
                "seed {seed}, {luck:?}: {at} is {now:?}, was {version}"
            );
        }
    }
}
