//! Takes snapshots at the limit: the oldest ones that nothing needs are removed first.

use std::path::Path;

use lathe_protocol::SessionId;
use lathe_snapshot::{SideRepo, SnapshotRef, TreeId};

use super::{NoSnapshot, unused};
use crate::Review;
use crate::error::Result;

/// Takes a snapshot of the work tree as it is now. The caller holds the session's lock.
pub async fn take(
    review: &Review,
    worktree: &Path,
    session: &SessionId,
) -> Result<TreeId, NoSnapshot> {
    let snapshots = &review.snapshots;
    let full = match snapshots.take(worktree, session).await {
        Err(why) if why.is_full => why,
        taken => return taken,
    };
    match make_room(review, worktree, session).await {
        Ok(0) => return Err(full),
        Ok(released) => tracing::info!(released, "snapshots were removed to make room"),
        Err(error) => {
            tracing::info!(%error, "no room was made for snapshots");
            return Err(full);
        }
    }
    snapshots.take(worktree, session).await
}

/// Returns how many snapshots were removed.
async fn make_room(review: &Review, worktree: &Path, session: &SessionId) -> Result<usize> {
    let Some((labels, _)) = review.snapshots.usage(worktree).await? else {
        return Ok(0);
    };
    let (mut may_go, mut locked): (Vec<SnapshotRef>, _) = (Vec::new(), Vec::new());
    for label in labels {
        // A snapshot that this session took a moment ago may not be recorded yet.
        if label == session.as_str() {
            continue;
        }
        if unused::is_orphaned(review, &label).await? {
            may_go.extend(review.snapshots.references(worktree, &label).await?);
        } else if let Ok(id) = SessionId::parse(&label)
            && let Ok(writer) = review.records.store().lock_session(&id).await
        {
            may_go.extend(unused::find(review, &id, worktree).await?);
            locked.push(writer);
        }
    }
    let make_room = move |repo: &SideRepo| Ok(repo.make_room(&may_go)?.len());
    let released = review.snapshots.with_repo(worktree, make_room).await;
    // Until here no other turn may begin in those sessions.
    drop(locked);
    released
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use lathe_records::Records;
    use lathe_records::bus::Bus;
    use lathe_records::clock::SystemClock;
    use lathe_store::Store;

    use super::*;
    use crate::snapshots::Snapshots;

    /// Content that does not compress.
    fn noise(seed: u64) -> Vec<u8> {
        let mut state = seed + 1;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..40_000).map(next).collect()
    }

    #[tokio::test]
    async fn at_the_limit_snapshots_that_nothing_needs_make_room_for_new_ones() {
        let data = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let store = Store::open(data.path(), lathe_store::Options::default()).await;
        let records = Records::new(store.unwrap(), Bus::default(), Arc::new(SystemClock));
        let mut review = Review::new(records, data.path().to_owned());
        let options = lathe_snapshot::Options {
            limit: 400_000,
            keep_free: 0,
            ..lathe_snapshot::Options::default()
        };
        review.snapshots = Snapshots::with_options(data.path().to_owned(), options);
        let id = |n: usize| SessionId::parse(&format!("ses_00000000000{n}aaaaaaaaaaaaaa")).unwrap();
        // Both are not stored: the first was deleted, the second is the caller's own.
        let (deleted, mine) = (id(1), id(2));
        let save = |n| fs::write(project.path().join("file"), noise(n)).unwrap();
        save(0);
        let first = take(&review, project.path(), &mine).await.unwrap();
        for n in 1..9 {
            save(n);
            take(&review, project.path(), &deleted).await.unwrap();
        }
        save(9);
        let full = review.snapshots.take(project.path(), &mine).await;
        assert!(full.is_err_and(|why| why.is_full));
        let newest = take(&review, project.path(), &mine).await.unwrap();
        let held = review.snapshots.references(project.path(), mine.as_str());
        let held: Vec<TreeId> = held.await.unwrap().iter().map(SnapshotRef::tree).collect();
        assert_eq!(held, [first, newest], "its own stay");

        for n in 10..30 {
            save(n);
            let taken = take(&review, project.path(), &mine).await;
            if let Err(why) = taken {
                assert_eq!(
                    why.to_string(),
                    "the snapshots of this project take 390.6 KB, the most they may. Delete old \
                     sessions of the project permanently to make room"
                );
                return;
            }
        }
        panic!("what is needed is never removed, so there is a limit");
    }
}
