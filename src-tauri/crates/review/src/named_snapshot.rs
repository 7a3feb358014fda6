//! A snapshot that a person takes by hand, under a name.

use std::path::Path;

use lathe_protocol::{
    CreatedTime, Extra, Message, MessageId, MessageWithParts, Part, Session, SnapshotPart,
    UserMessage,
};
use lathe_snapshot::{Skipped, Snapshot};

use crate::Review;
use crate::error::{Result, ReviewError};

/// Skipped files beyond this number are not listed.
const MOST_LISTED: usize = 50;

/// Takes a snapshot and stores it with the newest visible message. A session without messages
/// gets one for it.
pub async fn take(
    review: &Review,
    session: &Session,
    worktree: &Path,
    newest: Option<&MessageId>,
    name: &str,
) -> Result<SnapshotPart> {
    let name = name.trim();
    if name.is_empty() {
        return Err(ReviewError::refused("Enter a name for the snapshot"));
    }
    let label = session.id.to_string();
    let take = move |repo: &lathe_snapshot::SideRepo| Ok(repo.take(&label)?);
    let Snapshot { hash, skipped, .. } = review.snapshots.with_repo(worktree, take).await?;
    let (ids, now) = (review.records.ids(), review.records.now());
    let message_id = newest.cloned().unwrap_or_else(|| ids.message(now));
    let describe = |one: &Skipped| format!("{}: {}", one.path, one.reason);
    let part = SnapshotPart {
        id: ids.part(now),
        session_id: session.id.clone(),
        message_id: message_id.clone(),
        snapshot: hash.to_string(),
        name: Some(name.to_owned()),
        reverted_files: None,
        skipped: (!skipped.is_empty())
            .then(|| skipped.iter().take(MOST_LISTED).map(describe).collect()),
        extra: Extra::default(),
    };
    if newest.is_some() {
        review
            .records
            .put_part(Part::Snapshot(part.clone()))
            .await?;
        return Ok(part);
    }
    let info = Message::User(UserMessage {
        id: message_id,
        session_id: session.id.clone(),
        time: CreatedTime {
            created: now,
            extra: Extra::default(),
        },
        summary: None,
        agent: None,
        model: None,
        system: None,
        tools: None,
        variant: None,
        unsent: None,
        extra: Extra::default(),
    });
    let parts = vec![Part::Snapshot(part.clone())];
    review
        .records
        .put_complete_message(&MessageWithParts { info, parts })
        .await?;
    Ok(part)
}
