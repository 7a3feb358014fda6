//! Opens a data directory, and runs the task that flushes pending records.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use lathe_protocol::{IdSource, Tick};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::in_flight::InFlight;
use super::{Options, Store, run};
use crate::error::{IoContext, Result};
use crate::fs::{Disk, Fs};
use crate::id_floor;
use crate::journal::Journal;
use crate::locks::StoreLock;
use crate::migrate;
use crate::storage::{DataDirs, Storage, WriteState};
use crate::temp_files::TempFiles;

/// The pause after a fault of the program, so that one that repeats itself does not use up the
/// processor.
const AFTER_A_FAULT: Duration = Duration::from_millis(500);

impl Store {
    /// Creates missing folders, recovers from a kill and migrates old data.
    pub async fn open(root: &Path, options: Options) -> Result<Store> {
        let dirs = DataDirs::below(root);
        let flush_interval = options.flush_interval;
        let storage = Arc::new(run(move || open_storage(dirs, options)).await?);
        tokio::spawn(flush_in_background(
            Arc::downgrade(&storage),
            storage.flush_wake.clone(),
        ));
        Ok(Store {
            storage,
            in_flight: InFlight::default(),
            flush_interval,
        })
    }

    /// Opens a data directory without creating or changing any file.
    pub async fn open_read_only(root: &Path) -> Result<Store> {
        let dirs = DataDirs::below(root);
        let storage = run(move || open_storage_read_only(dirs)).await?;
        Ok(Store {
            storage: Arc::new(storage),
            in_flight: InFlight::default(),
            flush_interval: Options::default().flush_interval,
        })
    }
}

fn open_storage_read_only(dirs: DataDirs) -> Result<Storage> {
    Disk.metadata(&dirs.tree).doing("opening", &dirs.tree)?;
    migrate::version(&Disk, &dirs)?;
    Ok(Storage::new(
        dirs,
        Arc::new(Disk),
        None,
        IdSource::new(Tick::default()),
    ))
}

pub(crate) fn open_storage(dirs: DataDirs, options: Options) -> Result<Storage> {
    let Options {
        fs,
        max_journal_records,
        ..
    } = options;
    let DataDirs {
        root,
        tree,
        locks,
        quarantine,
        trash,
        index,
        migrated: _,
    } = &dirs;
    for folder in [root, tree, locks, quarantine, trash, index] {
        fs.create_dir_all(folder).doing("creating", folder)?;
    }
    let lock_path = locks.join("store");
    // The storage opens the lock file again: this lock is held until everything is recovered.
    let lock = StoreLock::new(lock_path.clone())?;
    let _guard = lock.acquire()?;
    let floor = id_floor::load(&*fs, &dirs)?;
    let temp_files = TempFiles::start(root, locks)?;
    let state = WriteState {
        journal: Journal::new(locks, temp_files.tag(), max_journal_records),
        temp_files,
        store_lock: StoreLock::new(lock_path)?,
    };
    let ids = IdSource::new(floor.unwrap_or_default());
    let storage = Storage::new(dirs, fs, Some(state), ids);
    storage.replay_dead_journals()?;
    migrate::run(&storage)?;
    storage.resume_interrupted_moves()?;
    if floor.is_none() {
        storage.recover_floor()?;
    }
    Ok(storage)
}

/// Ends when the store is dropped: it holds the storage only while it writes.
async fn flush_in_background(storage: Weak<Storage>, wake: Arc<Notify>) {
    loop {
        let Some(due) = storage.upgrade().map(|storage| storage.next_due()) else {
            return;
        };
        match due {
            // A new value may be due earlier than one that failed and is tried again later.
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
        // A value that fails stays pending, and the store's health says so.
        let flushed = tokio::task::spawn_blocking(move || storage.flush_due(Instant::now()).ok());
        match flushed.await {
            Ok(_) => {}
            // What was not written is still pending: the others must not wait for ever.
            Err(error) if error.is_panic() => {
                tracing::error!(%error, "records were not written");
                tokio::time::sleep(AFTER_A_FAULT).await;
            }
            // Only a runtime that shuts down drops blocking work.
            Err(_) => return,
        }
    }
}
