//! The stored log of reverts that can be undone, also after a restart.

use lathe_protocol::{MessageId, MessageWithParts, PartId, Session, SessionId};
use lathe_snapshot::{PathRestore, RelPath, Result as SnapshotResult, SideRepo, TreeId};
use lathe_store::Key;
use serde::{Deserialize, Serialize};

use super::cut::Cut;
use crate::Review;
use crate::error::Result;

/// Older entries can no longer be undone; their snapshots are still there.
const MOST_ENTRIES: usize = 50;

/// One revert. The field names are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The tree just before the revert.
    pub safety: String,
    /// The revert also hid messages.
    pub hides: bool,
    /// The first hidden message or part; older versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<(MessageId, Option<PartId>)>,
    pub files: Vec<RevertedFile>,
    /// The snapshot part that marks the revert in the timeline.
    pub part: Option<(MessageId, PartId)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertedFile {
    pub path: String,
    /// The tree that has the file as the revert left it.
    pub to: String,
}

impl UndoEntry {
    /// The moves that undo this revert.
    pub fn moves_back(&self, repo: &SideRepo) -> SnapshotResult<Vec<PathRestore>> {
        let safety: TreeId = self.safety.parse()?;
        let mut moves = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let to: TreeId = file.to.parse()?;
            let path = match RelPath::new(&file.path) {
                Ok(path) if !file.path.contains(char::REPLACEMENT_CHARACTER) => Some(path),
                // A name that is not UTF-8: found by how it is displayed.
                _ => repo
                    .changed_files(to, safety)?
                    .into_iter()
                    .find(|path| path.to_string() == file.path),
            };
            moves.extend(path.map(|path| PathRestore {
                path,
                target: safety,
                post_image: to,
            }));
        }
        Ok(moves)
    }
}

/// Oldest first.
pub async fn load(review: &Review, session: &SessionId) -> Result<Vec<UndoEntry>> {
    let key = Key::session_revert(session)?;
    Ok(review.records.store().read(&key).await?.unwrap_or_default())
}

/// Splits off the entries of a pending revert and all later ones.
pub fn split_off_hiding(entries: &mut Vec<UndoEntry>) -> Vec<UndoEntry> {
    let first = entries.iter().position(|entry| entry.hides);
    entries.split_off(first.unwrap_or(entries.len()))
}

/// The earliest cut for which files were reverted together with messages; `hidden` is the cut
/// from which messages are hidden.
pub fn files_reverted_from(
    entries: &[UndoEntry],
    messages: &[MessageWithParts],
    hidden: Option<Cut>,
) -> Option<Cut> {
    let hiding = entries.iter().filter(|entry| entry.hides);
    let cuts = hiding.filter_map(|entry| match &entry.cut {
        Some((message, part)) => Cut::locate(messages, message, part.as_ref()),
        None => hidden,
    });
    cuts.min()
}

/// How many reverts can be undone one by one. Undoing a pending revert undoes its entry and all
/// later ones together.
pub async fn count_undoable(review: &Review, session: &Session) -> Result<usize> {
    let entries = load(review, &session.id).await?;
    let pending = session.revert.is_some();
    let before = entries.iter().position(|entry| pending && entry.hides);
    Ok(before.unwrap_or(entries.len()))
}

pub async fn save(review: &Review, session: &SessionId, mut entries: Vec<UndoEntry>) -> Result<()> {
    let key = Key::session_revert(session)?;
    let store = review.records.store();
    if entries.is_empty() {
        store.remove(&key).await?;
        return Ok(());
    }
    entries.drain(..entries.len().saturating_sub(MOST_ENTRIES));
    Ok(store.write_durable(&key, &entries).await?)
}
