//! "Reverted and removed": what a revert took away for good, kept for 30 days.
//!
//! The next prompt removes the messages that a pending revert hides. They go here first, with
//! everything that is needed to undo the revert of their files. The trees that an archived revert
//! names are held as long as it is stored.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::{RevertOptions, RevertedItem};
use lathe_protocol::{MessageId, MessageWithParts, Millis, Part, Session, SessionId};
use lathe_store::Key;
use serde::{Deserialize, Serialize};

use super::late_saves;
use super::undo_log::UndoEntry;
use crate::Review;
use crate::error::{Result, ReviewError};

/// How long it can be restored, in milliseconds.
pub(super) const KEPT: i64 = 30 * 24 * 3600 * 1000;
const LONGEST_TITLE: usize = 80;

/// The field names are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Archived {
    pub id: String,
    pub time: Millis,
    pub messages: Vec<MessageWithParts>,
    /// Parts of a message that stayed.
    pub parts: Vec<Part>,
    /// Oldest first.
    pub entries: Vec<UndoEntry>,
    /// Files of the person that something restored has replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
}

impl Archived {
    fn item(&self, session: &SessionId) -> RevertedItem {
        let files = self.entries.iter().flat_map(|entry| &entry.files);
        let mut files: Vec<String> = files.map(|file| file.name()).collect();
        files.sort();
        files.dedup();
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let mut texts = parts.chain(&self.parts).filter_map(|part| match part {
            Part::Text(part) => part.text.lines().find(|line| !line.trim().is_empty()),
            _ => None,
        });
        let title = match texts.next() {
            Some(text) => text.trim().chars().take(LONGEST_TITLE).collect(),
            None if self.replaced => {
                let files = files.join(", ");
                format!("{files}, as it was before another version was restored")
            }
            None => files.join(", "),
        };
        RevertedItem {
            id: self.id.clone(),
            session_id: session.clone(),
            title,
            time: self.time,
            messages: self.messages.len(),
            files,
        }
    }
}

pub async fn load(review: &Review, session: &SessionId) -> Result<Vec<Archived>> {
    let key = Key::reverted(session)?;
    Ok(review.records.store().read(&key).await?.unwrap_or_default())
}

async fn save(review: &Review, session: &SessionId, all: &[Archived]) -> Result<()> {
    let (key, store) = (Key::reverted(session)?, review.records.store());
    if all.is_empty() {
        store.remove(&key).await?;
        return Ok(());
    }
    Ok(store.write_durable(&key, all).await?)
}

/// Adds what is about to be removed, before it is removed, and returns the id of the item. Nothing
/// is added twice after a crash.
pub async fn add(
    review: &Review,
    session: &SessionId,
    messages: Vec<MessageWithParts>,
    parts: Vec<Part>,
    entries: Vec<UndoEntry>,
) -> Result<Option<String>> {
    if messages.is_empty() && parts.is_empty() && entries.iter().all(|one| one.files.is_empty()) {
        return Ok(None);
    }
    let mut all = load(review, session).await?;
    let first = messages.first().map(|message| message.info.id());
    let again = all.iter().find(|one| {
        let there = one.messages.first().map(|message| message.info.id());
        // After a crash, the messages may be removed already.
        let same = there == first || first.is_none();
        one.entries == entries && same && (first.is_some() || !entries.is_empty())
    });
    if let Some(again) = again {
        return Ok(Some(again.id.clone()));
    }
    let id = next_id(&all);
    all.push(Archived {
        id: id.clone(),
        time: review.records.now(),
        messages,
        parts,
        entries,
        replaced: false,
    });
    save(review, session, &all).await?;
    Ok(Some(id))
}

/// Adds files of the person that are about to be replaced. `entry` undoes that.
pub async fn add_replaced(review: &Review, session: &SessionId, entry: UndoEntry) -> Result<()> {
    let mut all = load(review, session).await?;
    all.push(Archived {
        id: next_id(&all),
        time: review.records.now(),
        messages: Vec::new(),
        parts: Vec::new(),
        entries: vec![entry],
        replaced: true,
    });
    save(review, session, &all).await
}

fn next_id(all: &[Archived]) -> String {
    let numbers = all.iter().filter_map(|one| one.id.parse::<u64>().ok());
    (numbers.max().unwrap_or(0) + 1).to_string()
}

/// The newest first, with what was written to a file after it was reverted.
pub async fn list(
    review: &Review,
    session: &SessionId,
    worktree: &Path,
) -> Result<Vec<RevertedItem>> {
    let all = load(review, session).await?;
    let mut items: Vec<RevertedItem> = all.iter().rev().map(|one| one.item(session)).collect();
    items.extend(late_saves::list(review, session, worktree).await?);
    items.sort_by_key(|item| std::cmp::Reverse(item.time));
    Ok(items)
}

/// Forgets what is older than 30 days.
pub async fn forget_old(review: &Review, session: &SessionId) -> Result<()> {
    let mut all = load(review, session).await?;
    let (before, now) = (all.len(), review.records.now().0);
    all.retain(|one| now.saturating_sub(one.time.0) < KEPT);
    if all.len() == before {
        return Ok(());
    }
    save(review, session, &all).await
}

/// Whether messages would come back behind the cut of a pending revert: their files would be there
/// again, and the next prompt would remove the messages without the files.
async fn would_be_hidden(review: &Review, session: &Session, archived: &Archived) -> Result<bool> {
    let Some(pending) = &session.revert else {
        return Ok(false);
    };
    let page = review
        .records
        .messages(&session.id, None, usize::MAX)
        .await?;
    let created = |id: &MessageId| {
        let found = page.messages.iter().find(|one| one.info.id() == id);
        found.map(|one| one.info.created())
    };
    let Some(cut) = created(&pending.message_id) else {
        return Ok(false);
    };
    let messages = archived.messages.iter().map(|one| one.info.created());
    let parts = archived.parts.iter();
    let mut times = messages.chain(parts.filter_map(|part| created(part.message_id())));
    Ok(times.any(|time| time >= cut))
}

/// Brings back the messages and the files. What cannot be brought back stays in the list.
pub async fn restore(
    review: &Arc<Review>,
    session: Session,
    worktree: &Path,
    id: &str,
    options: &RevertOptions,
) -> Result<lathe_protocol::ipc::RevertOutcome> {
    if late_saves::is_id(id) {
        return late_saves::restore(review, session, worktree, id, options).await;
    }
    let session_id = session.id.clone();
    let all = load(review, &session_id).await?;
    let archived = all.into_iter().find(|one| one.id == id);
    let mut archived = archived.ok_or_else(|| ReviewError::missing("reverted item", id))?;
    if would_be_hidden(review, &session, &archived).await? {
        return Err(ReviewError::refused(
            "A revert would hide these messages. Undo it first, or send a prompt",
        ));
    }
    for message in &archived.messages {
        review.records.put_complete_message(message).await?;
    }
    for part in &archived.parts {
        review.records.put_part(part.clone()).await?;
    }
    let revert = super::Revert::open(review, session, worktree).await?;
    let (mut outcome, remaining) = revert.bring_back(&archived.entries, options).await?;
    // Read again: what this has replaced is in the list by now.
    let mut all = load(review, &session_id).await?;
    if remaining.is_empty() {
        all.retain(|one| one.id != id);
    } else {
        archived.messages.clear();
        archived.parts.clear();
        archived.entries = remaining;
        outcome.left_in = Some(id.to_owned());
        all.iter_mut()
            .filter(|one| one.id == id)
            .for_each(|one| *one = archived.clone());
    }
    save(review, &session_id, &all).await?;
    Ok(outcome)
}
