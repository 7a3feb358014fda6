//! Opening a data directory, and the task that writes what waits.

use std::path::Path;
use std::sync::{Arc, Weak};

use lathe_protocol::{IdSource, Tick};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Options, Store, run};
use crate::error::{IoContext, Result};
use crate::floor;
use crate::fs::{Disk, Fs};
use crate::journal::Journal;
use crate::locks::SharedLock;
use crate::migrate;
use crate::scratch::Scratch;
use crate::storage::{Places, Storage, Writing};

impl Store {
    /// Makes the folders that are missing, cleans up after a kill and brings old data up to
    /// date.
    pub async fn open(root: &Path, options: Options) -> Result<Store> {
        let places = Places::below(root);
        let soon = options.soon;
        let storage = Arc::new(run(move || begin(places, options)).await?);
        tokio::spawn(write_what_waits(
            Arc::downgrade(&storage),
            storage.wake.clone(),
        ));
        Ok(Store { storage, soon })
    }

    /// Another program's data, or our own, to be looked at only: no file is made or changed.
    pub async fn open_read_only(root: &Path) -> Result<Store> {
        let places = Places::below(root);
        let storage = run(move || look(places)).await?;
        Ok(Store {
            storage: Arc::new(storage),
            soon: Options::default().soon,
        })
    }
}

fn look(places: Places) -> Result<Storage> {
    Disk.stat(&places.tree).doing("opening", &places.tree)?;
    migrate::version(&Disk, &places)?;
    Ok(Storage::new(
        places,
        Arc::new(Disk),
        None,
        IdSource::new(Tick::default()),
    ))
}

pub(crate) fn begin(places: Places, options: Options) -> Result<Storage> {
    let Options { fs, journal, .. } = options;
    let Places {
        root,
        tree,
        locks,
        quarantine,
        trash,
        index,
        migrated: _,
    } = &places;
    for folder in [root, tree, locks, quarantine, trash, index] {
        fs.create_dir_all(folder).doing("creating", folder)?;
    }
    let lock = locks.join("store");
    let opening = SharedLock::new(lock.clone())?;
    let _alone = opening.acquire()?;
    let floor = floor::load(&*fs, &places)?;
    let scratch = Scratch::begin(root, locks)?;
    let writing = Writing {
        journal: Journal::new(locks, scratch.tag(), journal),
        scratch,
        shared: SharedLock::new(lock)?,
    };
    let ids = IdSource::new(floor.unwrap_or_default());
    let storage = Storage::new(places, fs, Some(writing), ids);
    storage.bury_the_dead()?;
    migrate::run(&storage)?;
    storage.resume_trash()?;
    if floor.is_none() {
        storage.recover_floor()?;
    }
    Ok(storage)
}

/// Ends with the store: it holds the storage only while it writes.
async fn write_what_waits(storage: Weak<Storage>, wake: Arc<Notify>) {
    loop {
        let Some(due) = storage.upgrade().map(|storage| storage.next_due()) else {
            return;
        };
        match due {
            // A new value is due later than all that wait, except for those that failed.
            Some(due) => tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = wake.notified() => continue,
            },
            None => {
                wake.notified().await;
                continue;
            }
        }
        let Some(storage) = storage.upgrade() else {
            return;
        };
        // A failure is kept with its value and in the store's health.
        run(move || storage.flush_due(Instant::now()).ok()).await;
    }
}
