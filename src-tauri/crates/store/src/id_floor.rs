//! The lower bound of new ids, stored across restarts.
//!
//! The file `ids` holds a tick that no stored id exceeds. It is raised in large steps, before a
//! record with an id beyond it is written, so it is written rarely. New ids start above it: even
//! if the clock was set back while the program was closed, they sort after every stored one.

use std::sync::atomic::Ordering;

use lathe_protocol::{Millis, Tick};

use crate::error::{IoContext, Result, optional};
use crate::fs::Fs;
use crate::storage::{DataDirs, Storage};

/// How far above the newest id the floor is set: ten seconds of ticks.
const STEP: u64 = 10_000 << 12;

/// None if there is no floor yet, or its file holds no number.
pub(crate) fn load(fs: &dyn Fs, dirs: &DataDirs) -> Result<Option<Tick>> {
    let path = dirs.root.join("ids");
    let mut bytes = Vec::new();
    let found = optional(fs.read(&path, &mut bytes)).doing("reading", &path)?;
    let text = found.and_then(|()| std::str::from_utf8(&bytes).ok());
    Ok(text.and_then(|text| text.trim().parse().ok()).map(Tick))
}

impl Storage {
    /// To be called before a record is stored.
    pub(crate) fn reserve_ids(&self) -> Result<()> {
        let newest = self.ids.floor();
        if newest.0 <= self.reserved_ids.load(Ordering::Acquire) {
            return Ok(());
        }
        // Another process may have raised it further; the floor never goes down.
        let stored = load(&*self.fs, &self.dirs)?.unwrap_or_default();
        let floor = stored.0.max(newest.0.saturating_add(STEP));
        let path = self.dirs.root.join("ids");
        self.write_atomically(&path, floor.to_string().as_bytes(), true)?;
        self.reserved_ids.fetch_max(floor, Ordering::AcqRel);
        Ok(())
    }

    /// Derives the floor from the newest session, at the first start or if the file was lost.
    pub(crate) fn recover_floor(&self) -> Result<()> {
        let sessions = self.all_sessions()?.items;
        if let Some(newest) = sessions.iter().map(|session| session.time.updated).max() {
            self.ids.raise(Tick::at(Millis(newest.0 + 1)));
        }
        Ok(())
    }
}
