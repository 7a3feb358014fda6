//! What was made durable survives a power cut, whatever else the disk has written by then.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{Part, PartId};
use lathe_store::{Key, Options, Store, StoreError};

use crate::support::power_cut_disk::{PowerCutDisk, Unsynced};
use crate::support::test_fs::options_with;
use crate::support::*;

/// A computer that runs the program until its power is cut.
struct Machine {
    folder: tempfile::TempDir,
    disk: Arc<PowerCutDisk>,
    store: Store,
    /// The store's temp file log, which it keeps locked while it lives.
    log: File,
}

impl Machine {
    async fn start(flush_interval: Duration) -> Self {
        let options = Options {
            flush_interval,
            ..Options::default()
        };
        Machine::start_with(options).await
    }

    async fn start_with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Machine::start_on(folder, PowerCutDisk::default(), options).await
    }

    async fn start_on(folder: tempfile::TempDir, disk: PowerCutDisk, options: Options) -> Self {
        let disk = Arc::new(disk);
        let options = Options {
            fs: options_with(&disk).fs,
            ..options
        };
        let store = Store::open(folder.path(), options).await.unwrap();
        let mut locks = std::fs::read_dir(folder.path().join("locks")).unwrap();
        let log = locks.find_map(|entry| {
            let path = entry.unwrap().path();
            let is_log = path.to_string_lossy().contains("scratch-");
            is_log.then(|| File::open(path).unwrap())
        });
        Machine {
            folder,
            disk,
            store,
            log: log.unwrap(),
        }
    }

    /// Cuts the power and opens the store again, on a disk that keeps its power.
    async fn cut(self, unsynced: Unsynced) -> (tempfile::TempDir, Store) {
        let folder = self.power_off(unsynced).await;
        let store = open(folder.path()).await;
        (folder, store)
    }

    /// Cuts the power and starts again on a disk whose power can be cut once more.
    async fn restart(self, unsynced: Unsynced) -> Self {
        let folder = self.power_off(unsynced).await;
        let disk = PowerCutDisk::after_a_cut(folder.path());
        let options = Options {
            flush_interval: NEVER,
            ..Options::default()
        };
        Machine::start_on(folder, disk, options).await
    }

    async fn power_off(self, unsynced: Unsynced) -> tempfile::TempDir {
        self.disk.cut(self.folder.path(), unsynced);
        drop(self.store);
        // A write that is under way still holds the store, and the next process would take the
        // locked log for that of a running one.
        let wait_until_closed = move || self.log.lock().unwrap();
        tokio::task::spawn_blocking(wait_until_closed)
            .await
            .unwrap();
        self.folder
    }
}

fn is_journal(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.starts_with("journal-")
}

fn is_record(path: &Path) -> bool {
    !is_journal(path)
}

const OUTCOMES: [Unsynced; 4] = [
    Unsynced::Lost,
    Unsynced::WrittenExcept(|_| false),
    Unsynced::WrittenExcept(is_journal),
    Unsynced::WrittenExcept(is_record),
];

const NEVER: Duration = Duration::from_secs(3600);

async fn parts(store: &Store, message: i64) -> Vec<Part> {
    store.parts(&message_id(message)).await.unwrap().items
}

#[tokio::test]
async fn durable_records_survive_a_power_cut() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.write_session(&session(1)).await.unwrap();
        store.journal_message(&user(1, 0)).await.unwrap();
        store
            .journal_part(&text(1, 0, 0, "journaled"))
            .await
            .unwrap();
        store.write_part(&text(1, 0, 1, "written")).await.unwrap();
        store
            .journal_part(&text(1, 0, 2, "journaled too"))
            .await
            .unwrap();
        store.make_durable(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        let words = ["journaled", "written", "journaled too"];
        let expected = [0, 1, 2].map(|at| text(1, 0, at, words[at as usize]));
        assert_eq!(parts(&store, 0).await, expected, "{unsynced:?}");
        assert_eq!(
            store.session(&session_id(1)).await.unwrap(),
            Some(session(1))
        );
    }
}

/// The journal on the disk may be older than the files there.
#[tokio::test]
async fn an_older_journal_does_not_undo_newer_files() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.journal_part(&text(1, 0, 0, "first")).await.unwrap();
        store.make_durable(&session_id(1)).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();
        store.write_part(&text(1, 0, 0, "second")).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        assert_eq!(
            parts(&store, 0).await,
            [text(1, 0, 0, "second")],
            "{unsynced:?}"
        );
    }
}

/// Otherwise the replay of its journal would undo what another process has written since.
#[tokio::test(start_paused = true)]
async fn an_idle_session_is_moved_out_of_the_journal() {
    let machine = Machine::start(Duration::from_millis(100)).await;
    machine
        .store
        .journal_part(&text(1, 0, 0, "ours"))
        .await
        .unwrap();
    machine.store.make_durable(&session_id(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let second = open(machine.folder.path()).await;
    second.write_part(&text(1, 0, 0, "theirs")).await.unwrap();

    let (_folder, store) = machine.cut(Unsynced::WrittenExcept(|_| false)).await;
    assert_eq!(parts(&store, 0).await, [text(1, 0, 0, "theirs")]);
}

#[tokio::test(start_paused = true)]
async fn a_long_journal_is_moved_into_the_files() {
    let machine = Machine::start(Duration::from_millis(100)).await;
    for number in 0..600 {
        let part = text(1, 0, number, "one of many");
        machine.store.journal_part(&part).await.unwrap();
        machine.store.make_durable(&session_id(1)).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(150)).await;
    let locks = tree(&machine.folder.path().join("locks"));
    let journals = locks
        .iter()
        .filter(|(name, _)| name.starts_with("journal-"));
    let sizes: Vec<usize> = journals.map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(sizes, [0]);

    let (_folder, store) = machine.cut(Unsynced::Lost).await;
    assert_eq!(parts(&store, 0).await.len(), 600);
}

/// A file that is newer than the journal may not be on the disk yet when the journal is.
#[tokio::test]
async fn a_newer_unsynced_write_does_not_lose_the_durable_record() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.journal_part(&text(1, 0, 0, "durable")).await.unwrap();
        store.make_durable(&session_id(1)).await.unwrap();
        store.write_part(&text(1, 0, 0, "newer")).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        let found = parts(&store, 0).await;
        let allowed = ["durable", "newer"].map(|words| vec![text(1, 0, 0, words)]);
        assert!(allowed.contains(&found), "{unsynced:?}: {found:?}");
    }
}

#[tokio::test]
async fn a_durable_removal_stays_removed() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.write_part(&text(1, 0, 0, "written")).await.unwrap();
        store
            .journal_part(&text(1, 0, 1, "journaled"))
            .await
            .unwrap();
        store.make_durable(&session_id(1)).await.unwrap();
        for at in [0, 1] {
            let removed = store.remove_part(&message_id(0), &part_id(0, at)).await;
            assert!(removed.unwrap());
        }
        store.make_durable(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        assert_eq!(parts(&store, 0).await, [], "{unsynced:?}");
    }
}

/// Syncing a folder makes the names of all its files safe, but not their bytes.
#[tokio::test]
async fn syncing_one_session_does_not_lose_another_in_the_same_folder() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.write_session(&session(1)).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();
        let named = store
            .update_session(&session_id(1), |session| session.title = "Named".to_owned())
            .await
            .unwrap();
        store.write_session(&session(2)).await.unwrap();
        store.make_durable(&session_id(2)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        let found = store.session(&session_id(1)).await.unwrap().unwrap();
        assert!(
            [session(1), named].contains(&found),
            "{unsynced:?}: {found:?}"
        );
    }
}

#[tokio::test]
async fn a_durable_record_in_a_new_folder_survives() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let key = Key::new(["permission", "global"]).unwrap();
        machine.store.write_durable(&key, &7).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        assert_eq!(store.read(&key).await.unwrap(), Some(7), "{unsynced:?}");
    }
}

/// Syncing the folder of a journal that was never created does not make its name safe.
#[tokio::test]
async fn a_journal_that_is_created_late_survives() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        let store = &machine.store;
        store.write_part(&text(1, 0, 0, "written")).await.unwrap();
        machine.disk.fail_next(1);
        let refused = store.journal_part(&text(1, 0, 1, "refused")).await;
        assert!(refused.is_err());
        store.make_durable(&session_id(1)).await.unwrap();
        let journaled = text(1, 0, 1, "journaled");
        store.journal_part(&journaled).await.unwrap();
        store.make_durable(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        assert!(parts(&store, 0).await.contains(&journaled), "{unsynced:?}");
    }
}

/// The replay removes the journal, and the removal must be synced too.
#[tokio::test]
async fn a_replayed_journal_does_not_come_back() {
    for unsynced in OUTCOMES {
        let machine = Machine::start(NEVER).await;
        machine
            .store
            .journal_part(&text(1, 0, 0, "first"))
            .await
            .unwrap();
        machine.store.make_durable(&session_id(1)).await.unwrap();
        let machine = machine.restart(unsynced).await;
        let second = text(1, 0, 0, "second");
        machine.store.write_part(&second).await.unwrap();
        machine.store.barrier(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(unsynced).await;
        assert_eq!(parts(&store, 0).await, [second], "{unsynced:?}");
    }
}

/// Makes random changes to its own records and knows which states each may have.
struct RandomWriter {
    random: Random,
    records: Range<i64>,
    versions: usize,
    /// The states of every record, oldest first.
    states: BTreeMap<i64, Vec<Option<usize>>>,
    /// Which of its states each record had when all were last made durable.
    durable: BTreeMap<i64, usize>,
}

impl RandomWriter {
    fn new(seed: u64, records: Range<i64>) -> Self {
        RandomWriter {
            random: Random(seed),
            states: records.clone().map(|at| (at, vec![None])).collect(),
            records,
            versions: 0,
            durable: BTreeMap::new(),
        }
    }

    /// Runs until the power is cut or enough was done.
    async fn run(&mut self, store: &Store) {
        for _ in 0..self.random.below(60) {
            if self.step(store).await.is_err() {
                return;
            }
        }
    }

    /// A change that fails may have been made all the same.
    async fn step(&mut self, store: &Store) -> Result<(), StoreError> {
        let count = self.records.end - self.records.start;
        let at = self.records.start + self.random.below(count as u64) as i64;
        self.versions += 1;
        let part = text(1, 0, at, &self.versions.to_string());
        let states = self.states.get_mut(&at).unwrap();
        let action = self.random.below(8);
        match action {
            0..5 => states.push(Some(self.versions)),
            5 => states.push(None),
            _ => {}
        }
        match action {
            0..4 => return store.journal_part(&part).await,
            4 => return store.write_part(&part).await,
            5 => {
                let removed = store.remove_part(&message_id(0), part.id()).await;
                return removed.map(drop);
            }
            6 => store.make_durable(&session_id(1)).await?,
            _ => store.barrier(&session_id(1)).await?,
        }
        let states = self.states.iter();
        self.durable = states.map(|(at, states)| (*at, states.len() - 1)).collect();
        Ok(())
    }

    /// Checks that each record has its last durable state, or one it had since.
    fn verify(&self, found: &HashMap<PartId, usize>) -> Result<(), String> {
        for (at, states) in &self.states {
            let now = found.get(&part_id(0, *at)).copied();
            let allowed = &states[self.durable.get(at).copied().unwrap_or_default()..];
            if !allowed.contains(&now) {
                return Err(format!("{at} is {now:?}, allowed are {allowed:?}"));
            }
        }
        Ok(())
    }
}

/// One or two random writers, and a cut at any moment.
#[tokio::test]
async fn every_record_is_at_least_as_new_as_when_it_was_made_durable() {
    let mut compactions = 0;
    for seed in 1..=count(100, 3000) as u64 {
        let mut random = Random(seed * 7919);
        let options = Options {
            flush_interval: [NEVER, Duration::from_millis(1)][random.below(2) as usize],
            // With a limit of one record the journal is compacted again and again.
            max_journal_records: [512, 1][random.below(2) as usize],
            ..Options::default()
        };
        let machine = Machine::start_with(options).await;
        if random.below(2) == 0 {
            machine.disk.cut_after(random.below(300));
        }
        let mut first = RandomWriter::new(random.below(u64::MAX), 0..3);
        let mut second = RandomWriter::new(random.below(u64::MAX), 3..5);
        match random.below(2) {
            0 => first.run(&machine.store).await,
            _ => {
                tokio::join!(first.run(&machine.store), second.run(&machine.store));
            }
        }
        let unsynced = OUTCOMES[random.below(4) as usize];
        compactions += machine.disk.replaced(is_journal);
        let (_folder, store) = machine.cut(unsynced).await;
        let listing = store.parts(&message_id(0)).await.unwrap();
        let found = listing.items.iter().map(|part| {
            let Part::Text(text) = part else { panic!() };
            (part.id().clone(), text.text.parse().unwrap())
        });
        let found = found.collect();
        let verified = first.verify(&found).and_then(|()| second.verify(&found));
        assert_eq!(verified, Ok(()), "seed {seed}, {unsynced:?}");
    }
    assert!(compactions > 0, "no journal was ever compacted");
}
