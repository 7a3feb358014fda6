//! What a step has secured survives a power cut, whatever else the disk has written by then.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lathe_protocol::{Part, PartId};
use lathe_store::{Key, Options, Store, StoreError};

use crate::support::power::{Luck, Powered};
use crate::support::*;

struct Machine {
    folder: tempfile::TempDir,
    fs: Arc<Powered>,
    store: Store,
    /// Locked for as long as the store lives.
    log: File,
}

impl Machine {
    /// `soon`: when what is kept reaches its file.
    async fn on(soon: Duration) -> Self {
        let options = Options {
            soon,
            ..Options::default()
        };
        Machine::with(options).await
    }

    async fn with(options: Options) -> Self {
        Machine::at(tempfile::tempdir().unwrap(), Powered::default(), options).await
    }

    async fn at(folder: tempfile::TempDir, fs: Powered, options: Options) -> Self {
        let fs = Arc::new(fs);
        let options = Options {
            fs: fs.clone(),
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
            fs,
            store,
            log: log.unwrap(),
        }
    }

    /// The power goes, comes back, and the program starts again.
    async fn cut(self, luck: Luck) -> (tempfile::TempDir, Store) {
        let folder = self.dies(luck).await;
        let store = open(folder.path()).await;
        (folder, store)
    }

    /// As [`Machine::cut`], and the power may go once more.
    async fn again(self, luck: Luck) -> Self {
        let folder = self.dies(luck).await;
        let fs = Powered::after_a_cut(folder.path());
        let options = Options {
            soon: NEVER,
            ..Options::default()
        };
        Machine::at(folder, fs, options).await
    }

    async fn dies(self, luck: Luck) -> tempfile::TempDir {
        self.fs.cut(self.folder.path(), luck);
        drop(self.store);
        // A write that is under way holds the store, and whoever comes next would take it for
        // one that lives.
        let death = move || self.log.lock().unwrap();
        tokio::task::spawn_blocking(death).await.unwrap();
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
        store.keep_part(&text(1, 0, 2, "streamed")).await.unwrap();
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

/// The file that says more than the journal does may not be on the disk when the journal is.
#[tokio::test]
async fn what_was_secured_is_not_lost_to_a_newer_record() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.keep_part(&text(1, 0, 0, "secured")).await.unwrap();
        store.secure(&session_id(1)).await.unwrap();
        store.write_part(&text(1, 0, 0, "newer")).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        let found = found(&store, 0).await;
        let may_be = ["secured", "newer"].map(|words| vec![text(1, 0, 0, words)]);
        assert!(may_be.contains(&found), "{luck:?}: {found:?}");
    }
}

#[tokio::test]
async fn what_was_removed_before_it_was_secured_stays_removed() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.write_part(&text(1, 0, 0, "written")).await.unwrap();
        store.keep_part(&text(1, 0, 1, "kept")).await.unwrap();
        store.secure(&session_id(1)).await.unwrap();
        for at in [0, 1] {
            let removed = store.remove_part(&message_id(0), &part_id(0, at)).await;
            assert!(removed.unwrap());
        }
        store.secure(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        assert_eq!(found(&store, 0).await, [], "{luck:?}");
    }
}

/// To sync a folder makes the names of all files in it safe, but not their bytes.
#[tokio::test]
async fn a_session_is_not_lost_to_its_neighbour() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.write_session(&session(1)).await.unwrap();
        store.barrier(&session_id(1)).await.unwrap();
        let named = store
            .update_session(&session_id(1), |session| session.title = "Named".to_owned())
            .await
            .unwrap();
        store.write_session(&session(2)).await.unwrap();
        store.secure(&session_id(2)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        let found = store.session(&session_id(1)).await.unwrap().unwrap();
        assert!([session(1), named].contains(&found), "{luck:?}: {found:?}");
    }
}

#[tokio::test]
async fn a_durable_record_is_there_even_if_its_folder_is_new() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let key = Key::new(["permission", "global"]).unwrap();
        machine.store.write_durable(&key, &7).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        assert_eq!(store.read(&key).await.unwrap(), Some(7), "{luck:?}");
    }
}

/// What cannot be made is not on the disk either, however often one syncs.
#[tokio::test]
async fn a_journal_that_could_not_be_made_at_first_is_there_when_it_counts() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        let store = &machine.store;
        store.write_part(&text(1, 0, 0, "written")).await.unwrap();
        machine.fs.refuses(1);
        let refused = store.keep_part(&text(1, 0, 1, "refused")).await;
        assert!(refused.is_err());
        store.secure(&session_id(1)).await.unwrap();
        let kept = text(1, 0, 1, "kept");
        store.keep_part(&kept).await.unwrap();
        store.secure(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        assert!(found(&store, 0).await.contains(&kept), "{luck:?}");
    }
}

/// Who plays it back removes it; that has to reach the disk, too.
#[tokio::test]
async fn a_journal_that_was_played_back_does_not_return() {
    for luck in LUCKS {
        let machine = Machine::on(NEVER).await;
        machine
            .store
            .keep_part(&text(1, 0, 0, "first"))
            .await
            .unwrap();
        machine.store.secure(&session_id(1)).await.unwrap();
        let machine = machine.again(luck).await;
        let second = text(1, 0, 0, "second");
        machine.store.write_part(&second).await.unwrap();
        machine.store.barrier(&session_id(1)).await.unwrap();

        let (_folder, store) = machine.cut(luck).await;
        assert_eq!(found(&store, 0).await, [second], "{luck:?}");
    }
}

/// Somebody who does random things with records of its own, and knows what they may be.
struct Worker {
    dice: Dice,
    records: Range<i64>,
    versions: usize,
    /// What every record was, one state after the other.
    states: BTreeMap<i64, Vec<Option<usize>>>,
    /// Which of them it had when all was last safe.
    secured: BTreeMap<i64, usize>,
}

impl Worker {
    fn new(seed: u64, records: Range<i64>) -> Self {
        Worker {
            dice: Dice(seed),
            states: records.clone().map(|at| (at, vec![None])).collect(),
            records,
            versions: 0,
            secured: BTreeMap::new(),
        }
    }

    /// Until the power goes or the work is done.
    async fn work(&mut self, store: &Store) {
        for _ in 0..self.dice.roll(60) {
            if self.step(store).await.is_err() {
                return;
            }
        }
    }

    /// What fails may have happened all the same.
    async fn step(&mut self, store: &Store) -> Result<(), StoreError> {
        let count = self.records.end - self.records.start;
        let at = self.records.start + self.dice.roll(count as u64) as i64;
        self.versions += 1;
        let part = text(1, 0, at, &self.versions.to_string());
        let states = self.states.get_mut(&at).unwrap();
        let action = self.dice.roll(8);
        match action {
            0..5 => states.push(Some(self.versions)),
            5 => states.push(None),
            _ => {}
        }
        match action {
            0..4 => return store.keep_part(&part).await,
            4 => return store.write_part(&part).await,
            5 => {
                let removed = store.remove_part(&message_id(0), part.id()).await;
                return removed.map(drop);
            }
            6 => store.secure(&session_id(1)).await?,
            _ => store.barrier(&session_id(1)).await?,
        }
        let states = self.states.iter();
        self.secured = states.map(|(at, states)| (*at, states.len() - 1)).collect();
        Ok(())
    }

    /// Each record is as it was when it was last secured, or as it was at some time since.
    fn agrees(&self, found: &HashMap<PartId, usize>) -> Result<(), String> {
        for (at, states) in &self.states {
            let now = found.get(&part_id(0, *at)).copied();
            let may_be = &states[self.secured.get(at).copied().unwrap_or_default()..];
            if !may_be.contains(&now) {
                return Err(format!("{at} is {now:?}, may be {may_be:?}"));
            }
        }
        Ok(())
    }
}

/// Random work, by one alone or by two at once, and a cut at any moment.
#[tokio::test]
async fn every_record_is_at_least_as_new_as_when_it_was_secured() {
    let mut shortened = 0;
    for seed in 1..=count(100, 3000) as u64 {
        let mut dice = Dice(seed * 7919);
        let options = Options {
            soon: [NEVER, Duration::from_millis(1)][dice.roll(2) as usize],
            // One that is always too long is written anew in the middle of everything.
            journal: [512, 1][dice.roll(2) as usize],
            ..Options::default()
        };
        let machine = Machine::with(options).await;
        if dice.roll(2) == 0 {
            machine.fs.lasts_for(dice.roll(300));
        }
        let mut first = Worker::new(dice.roll(u64::MAX), 0..3);
        let mut second = Worker::new(dice.roll(u64::MAX), 3..5);
        match dice.roll(2) {
            0 => first.work(&machine.store).await,
            _ => {
                tokio::join!(first.work(&machine.store), second.work(&machine.store));
            }
        }
        let luck = LUCKS[dice.roll(4) as usize];
        shortened += machine.fs.replaced(is_journal);
        let (_folder, store) = machine.cut(luck).await;
        let listing = store.parts(&message_id(0)).await.unwrap();
        let found = listing.items.iter().map(|part| {
            let Part::Text(text) = part else { panic!() };
            (part.id().clone(), text.text.parse().unwrap())
        });
        let found = found.collect();
        let agreed = first.agrees(&found).and_then(|()| second.agrees(&found));
        assert_eq!(agreed, Ok(()), "seed {seed}, {luck:?}");
    }
    assert!(shortened > 0, "no journal was ever written anew");
}
