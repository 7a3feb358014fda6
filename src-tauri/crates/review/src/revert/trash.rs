//! The files that reverts of a session replaced or removed. They stay for 30 days, by the clock of
//! the program: each revert has a folder, and beside it a file with its time. The clock of the file
//! system only says whether something was written since.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use lathe_protocol::{Millis, SessionId};

use super::archive::KEPT;
use super::late_saves::RESTORED;
use crate::Review;

/// The folder for files that the reverts of a session remove.
pub fn folder(review: &Review, session: &SessionId) -> PathBuf {
    root(review).join(session.as_str())
}

fn root(review: &Review) -> PathBuf {
    review.data_dir.join("reverted")
}

/// The sessions whose reverts have removed files.
pub async fn sessions(review: &Review) -> Vec<SessionId> {
    let root = root(review);
    let list = move || -> Vec<SessionId> {
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter_map(|name| SessionId::parse(&name).ok())
            .collect()
    };
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// Writes down when the newest reverts were made, and removes what is older than 30 days. The
/// caller holds the session's lock and has settled what a crash left open.
pub async fn empty(review: &Review, session: &SessionId) {
    let (folder, now) = (folder(review, session), review.records.now());
    let work = move || {
        for batch in batches(&folder) {
            batch.remove_if_old(now);
        }
        let _ = fs::remove_dir(folder.join(RESTORED));
        let _ = fs::remove_dir(&folder);
    };
    if let Err(error) = tokio::task::spawn_blocking(work).await {
        tracing::info!(%error, "the trash of reverts was not emptied");
    }
}

/// Writes down when reverts were made that have no time yet. Blocks.
pub fn note_time(folder: &Path, now: Millis) {
    for batch in batches(folder).iter().filter(|one| !one.time.exists()) {
        batch.write_down(now, newest_in(&batch.folder));
    }
}

/// What one revert has moved, or what of it was restored since.
struct Batch {
    folder: PathBuf,
    time: PathBuf,
}

fn batches(folder: &Path) -> Vec<Batch> {
    let numbers = |at: &Path| -> Vec<String> {
        let entries = fs::read_dir(at).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.parse::<u64>().is_ok()).collect()
    };
    let mut found = Vec::new();
    let restored = folder.join(RESTORED);
    for (at, word) in [(folder.to_owned(), ""), (restored, "restored-")] {
        found.extend(numbers(&at).into_iter().map(|number| Batch {
            time: folder.join(format!("{word}{number}.time")),
            folder: at.join(number),
        }));
    }
    found
}

impl Batch {
    /// When it was made, or written to for the last time, and the newest file in it by then. A
    /// time that a wrong clock has set does not count.
    fn known(&self, now: Millis) -> Option<(i64, u128)> {
        let text = fs::read_to_string(&self.time).ok()?;
        let (made, newest) = text.split_once(' ')?;
        let made: i64 = made.parse().ok()?;
        (made <= now.0).then_some((made, newest.parse().ok()?))
    }

    fn write_down(&self, made: Millis, newest: u128) {
        // If this fails, its time begins later.
        if let Err(error) = fs::write(&self.time, format!("{} {newest}", made.0)) {
            tracing::info!(%error, "the time of a revert was not written down");
        }
    }

    /// A file that another program has written meanwhile, through an open handle, makes all of it
    /// new again.
    fn remove_if_old(&self, now: Millis) {
        let newest = newest_in(&self.folder);
        match self.known(now).filter(|(_, known)| *known >= newest) {
            None => self.write_down(now, newest),
            Some((made, _)) if now.0.saturating_sub(made) < KEPT => {}
            Some(_) => match fs::remove_dir_all(&self.folder) {
                Ok(()) => drop(fs::remove_file(&self.time)),
                Err(error) => tracing::info!(%error, "an old revert stays in the trash"),
            },
        }
    }
}

/// The newest time at which a file in the folder was written, in nanoseconds.
fn newest_in(folder: &Path) -> u128 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => newest_in(&entry.path()),
        _ => {
            let written = entry.metadata().and_then(|meta| meta.modified()).ok();
            let since = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map_or(0, |since| since.as_nanos())
        }
    });
    times.max().unwrap_or(0)
}
