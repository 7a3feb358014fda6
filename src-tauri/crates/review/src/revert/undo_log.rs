//! The stored log of reverts that can be undone, also after a restart.

use std::collections::BTreeSet;

use lathe_protocol::{MessageId, MessageWithParts, PartId, Session, SessionId};
use lathe_snapshot::{PathRestore, RelPath, Result as SnapshotResult, SideRepo, TreeId};
use lathe_store::Key;
use serde::{Deserialize, Serialize};

use super::archive;
use super::cut::Cut;
use crate::Review;
use crate::error::Result;

/// Older entries go to the list "Reverted and removed".
const MOST_ENTRIES: usize = 50;

/// One revert. The field names are stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The tree just before the revert.
    pub safety: String,
    /// The revert also hid messages.
    pub hides: bool,
    /// The first hidden message or part; older versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<(MessageId, Option<PartId>)>,
    pub files: Vec<RevertedFile>,
    /// The files that it left as they are, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// The snapshot part that marks the revert in the timeline.
    pub part: Option<(MessageId, PartId)>,
    /// The newest message at that time, if the messages stayed only because not all of their
    /// effects were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partly: Option<MessageId>,
    /// Absent once it has come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underway: Option<Underway>,
}

/// What was being done with an entry. If it is still there after a kill, the entry is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Underway {
    Reverting,
    /// The files are reverted, and the messages are to be hidden.
    Hiding,
    Undoing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertedFile {
    pub path: String,
    /// The tree that has the file as the revert left it.
    pub to: String,
    /// The tree that has the file as the revert found it; older versions only had the safety
    /// snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The path is relative to the root of the file system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// The name in hexadecimal, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

impl RevertedFile {
    pub fn new(path: &RelPath, from: TreeId, to: TreeId, outside: bool) -> Self {
        let bytes = path.as_bytes();
        let is_text = std::str::from_utf8(bytes).is_ok();
        RevertedFile {
            path: path.to_string(),
            to: to.to_string(),
            from: Some(from.to_string()),
            outside,
            bytes: (!is_text).then(|| bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }

    /// Its path and the trees from which and to which it was moved; `None` in older entries.
    pub fn span(&self) -> Option<(RelPath, TreeId, TreeId)> {
        let from = self.from.as_ref()?.parse().ok()?;
        Some((self.rel_path()?, from, self.to.parse().ok()?))
    }

    /// As a person sees it.
    pub fn name(&self) -> String {
        match self.outside {
            true => format!("/{}", self.path),
            false => self.path.clone(),
        }
    }

    fn rel_path(&self) -> Option<RelPath> {
        let Some(bytes) = &self.bytes else {
            return RelPath::new(&self.path).ok();
        };
        let pairs = (0..bytes.len()).step_by(2);
        let bytes: Option<Vec<u8>> = pairs
            .map(|at| u8::from_str_radix(bytes.get(at..at + 2)?, 16).ok())
            .collect();
        RelPath::new(bytes?).ok()
    }
}

impl UndoEntry {
    /// The moves that undo this revert, inside or outside of the project.
    pub fn moves_back(&self, repo: &SideRepo, outside: bool) -> SnapshotResult<Vec<PathRestore>> {
        let mut moves = Vec::with_capacity(self.files.len());
        for file in self.files.iter().filter(|file| file.outside == outside) {
            let to: TreeId = file.to.parse()?;
            let from: TreeId = file.from.as_ref().unwrap_or(&self.safety).parse()?;
            let is_old = file.bytes.is_none() && file.path.contains(char::REPLACEMENT_CHARACTER);
            let path = match file.rel_path() {
                Some(path) if !is_old => Some(path),
                // A name that is not UTF-8, in an older entry: found by how it is displayed.
                _ => repo
                    .changed_files(to, from)?
                    .into_iter()
                    .find(|path| path.lossy() == file.path),
            };
            moves.extend(path.map(|path| PathRestore {
                path,
                target: from,
                post_image: to,
            }));
        }
        Ok(moves)
    }

    /// Its files, with the trees as the revert found and left each.
    pub fn spans(&self, outside: bool) -> impl Iterator<Item = (RelPath, TreeId, TreeId)> {
        let files = self
            .files
            .iter()
            .filter(move |file| file.outside == outside);
        files.filter_map(|file| {
            let from = file.from.as_ref().unwrap_or(&self.safety);
            Some((file.rel_path()?, from.parse().ok()?, file.to.parse().ok()?))
        })
    }

    pub fn is_about(&self, outside: bool) -> bool {
        self.files.iter().any(|file| file.outside == outside)
    }
}

/// The files that reverts of a pending cut left as they were, and that no later one has moved.
/// Each revert that hides messages tries again what the earlier ones left.
pub fn still_left(entries: &[UndoEntry]) -> BTreeSet<String> {
    let mut left = BTreeSet::new();
    for entry in entries.iter().skip_while(|entry| !entry.hides) {
        if entry.hides {
            left.clear();
        }
        for file in &entry.files {
            left.remove(&file.name());
        }
        left.extend(entry.left.iter().cloned());
    }
    left
}

/// The files that a pending revert left as they are, by name.
pub async fn left_by_pending(review: &Review, session: &SessionId) -> Result<BTreeSet<String>> {
    Ok(still_left(&load(review, session).await?))
}

/// Oldest first.
pub async fn load(review: &Review, session: &SessionId) -> Result<Vec<UndoEntry>> {
    let key = Key::session_revert(session)?;
    Ok(review.records.store().read(&key).await?.unwrap_or_default())
}

/// The part in the timeline of the newest revert that can be undone.
pub async fn newest_part(review: &Review, session: &SessionId) -> Result<Option<PartId>> {
    let newest = load(review, session).await?.pop();
    Ok(newest.and_then(|entry| Some(entry.part?.1)))
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
    // Those of a pending revert stay together.
    let pending = entries.iter().position(|entry| entry.hides);
    let old = entries.len().saturating_sub(MOST_ENTRIES);
    for entry in entries.drain(..old.min(pending.unwrap_or(old))) {
        archive::add(review, session, Vec::new(), Vec::new(), vec![entry]).await?;
    }
    Ok(store.write_durable(&key, &entries).await?)
}

/// The newest entry has come to its end.
pub async fn close_newest(review: &Review, session: &SessionId) -> Result<()> {
    let mut entries = load(review, session).await?;
    match entries.last_mut().and_then(|entry| entry.underway.take()) {
        Some(_) => save(review, session, entries).await,
        None => Ok(()),
    }
}

/// The messages from a cut on are hidden. What reverts to the same place had done before, without
/// hiding them, is undone together with it.
pub async fn join_partial(
    review: &Review,
    session: &SessionId,
    cut: &(MessageId, Option<PartId>),
    newest: &MessageId,
) -> Result<()> {
    let mut entries = load(review, session).await?;
    let before = entries.iter().rposition(|entry| !entry.hides);
    let Some(before) = before else { return Ok(()) };
    let mut joined = false;
    for entry in entries[..=before].iter_mut().rev() {
        let is_same = entry.cut.as_ref() == Some(cut) && entry.partly.as_ref() == Some(newest);
        if !is_same {
            break;
        }
        (entry.hides, joined) = (true, true);
    }
    match joined {
        true => save(review, session, entries).await,
        false => Ok(()),
    }
}
