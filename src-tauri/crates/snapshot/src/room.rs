//! Room for snapshots: what is always allowed, and what goes first when there is none left.

use std::collections::BTreeSet;

use crate::{
    error::{Context, Result},
    objects::Budget,
    refs::SnapshotRef,
    repo::{SideRepo, Snapshot},
};

/// Of ten parts of the limit, so many may be used after room was made. Otherwise each of the next
/// snapshots would have to make room again.
const FILLED: u64 = 9;

impl SideRepo {
    /// Takes a snapshot that must not fail for want of room: the one just before a revert. It is
    /// outside the limit of the project and uses the space that is kept free.
    pub fn take_safety(&self, label: &str) -> Result<Snapshot> {
        self.take_within(label, Budget::NO_LIMIT)
    }

    /// Releases the oldest of `may_go`, one part after the other, until there is room for new
    /// snapshots. Returns what was released; everything if that was not enough.
    ///
    /// Snapshots share most of their content, so what is freed is known only after a clean-up.
    pub fn make_room(&self, may_go: &[SnapshotRef]) -> Result<Vec<SnapshotRef>> {
        let may_go: BTreeSet<&SnapshotRef> = may_go.iter().collect();
        let mut left: Vec<SnapshotRef> = self.all_references()?;
        left.retain(|one| may_go.contains(one));
        let mut released = Vec::new();
        let mut used = self.collect_garbage()?;
        while !left.is_empty() && !self.has_room(used)? {
            let part: Vec<SnapshotRef> = left.drain(..left.len().div_ceil(4)).collect();
            self.release(&part)?;
            used = self.collect_garbage()?;
            released.extend(part);
        }
        Ok(released)
    }

    fn has_room(&self, used: u64) -> Result<bool> {
        let options = self.options();
        let free = crate::os::free_space(self.objects().dir()).context("asking for free space")?;
        let fits = used <= options.limit / 10 * FILLED;
        Ok(fits && free.is_none_or(|free| free >= options.keep_free))
    }
}
