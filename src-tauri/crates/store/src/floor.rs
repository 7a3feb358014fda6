//! The floor under new ids, kept across restarts.
//!
//! The file `ids` holds a tick that no stored id lies beyond. It is moved ahead in strides,
//! before the record that would pass it is written; so it is written rarely, and a clock that
//! went back while the program was closed cannot make an id that sorts before a stored one.

use std::sync::atomic::Ordering;

use lathe_protocol::{Millis, Tick};

use crate::error::{IoContext, Result, optional};
use crate::fs::Fs;
use crate::storage::{Places, Storage};

/// How far ahead of the newest id the floor is set: ten seconds' worth of ticks.
const STRIDE: u64 = 10_000 << 12;

/// None when there is no floor yet, or its file is no number.
pub(crate) fn load(fs: &dyn Fs, places: &Places) -> Result<Option<Tick>> {
    let path = places.root.join("ids");
    let mut bytes = Vec::new();
    let found = optional(fs.read(&path, &mut bytes)).doing("reading", &path)?;
    let text = found.and_then(|()| std::str::from_utf8(&bytes).ok());
    Ok(text.and_then(|text| text.trim().parse().ok()).map(Tick))
}

impl Storage {
    pub(crate) fn reserve_ids(&self) -> Result<()> {
        let newest = self.ids.floor();
        if newest.0 <= self.reserved.load(Ordering::Acquire) {
            return Ok(());
        }
        // Another process may have gone further; the floor never goes down.
        let stored = load(&*self.fs, &self.places)?.unwrap_or_default();
        let floor = stored.0.max(newest.0.saturating_add(STRIDE));
        self.put(
            &self.places.root.join("ids"),
            floor.to_string().as_bytes(),
            true,
        )?;
        self.reserved.fetch_max(floor, Ordering::AcqRel);
        Ok(())
    }

    /// Without a stored floor (a first start, or the file was lost) the newest session says
    /// how far time has come.
    pub(crate) fn recover_floor(&self) -> Result<()> {
        let sessions = self.all_sessions()?.items;
        if let Some(newest) = sessions.iter().map(|session| session.time.updated).max() {
            self.ids.raise(Tick::at(Millis(newest.0 + 1)));
        }
        Ok(())
    }
}
