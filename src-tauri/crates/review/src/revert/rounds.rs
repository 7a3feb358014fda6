//! What was taken back and can be undone, also after the program began again.

use lathe_protocol::{MessageId, MessageWithParts, PartId, Session, SessionId};
use lathe_snapshot::{PathRestore, RelPath, Result as SnapshotResult, SideRepo, TreeId};
use lathe_store::Key;
use serde::{Deserialize, Serialize};

use super::cut::Cut;
use crate::Review;
use crate::error::Result;

/// Older ones can no longer be undone; their snapshots are still there.
const KEPT: usize = 50;

/// One taking back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The tree just before.
    pub safety: String,
    /// Messages were hidden with it.
    pub hides: bool,
    /// From where on; nothing in what an older Lathe wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<(MessageId, Option<PartId>)>,
    pub files: Vec<Moved>,
    /// The snapshot part that tells of it.
    pub part: Option<(MessageId, PartId)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub path: String,
    /// The tree that has the file as it was made.
    pub to: String,
}

impl Round {
    /// The way back, for the files that can be named.
    pub fn undoing(&self, repo: &SideRepo) -> SnapshotResult<Vec<PathRestore>> {
        let safety: TreeId = self.safety.parse()?;
        let mut moves = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let to: TreeId = file.to.parse()?;
            let path = match RelPath::new(&file.path) {
                Ok(path) if !file.path.contains(char::REPLACEMENT_CHARACTER) => Some(path),
                // A name that is not text: known by how it is shown.
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
pub async fn load(review: &Review, session: &SessionId) -> Result<Vec<Round>> {
    let key = Key::session_revert(session)?;
    Ok(review.records.store().read(&key).await?.unwrap_or_default())
}

/// Those of a pending revert, with whatever came after its first; the others are left.
pub fn split_hiding(rounds: &mut Vec<Round>) -> Vec<Round> {
    let first = rounds.iter().position(|round| round.hides);
    rounds.split_off(first.unwrap_or(rounds.len()))
}

/// How far back files are taken back with messages; `hidden` is from where on these are.
pub fn reach(rounds: &[Round], messages: &[MessageWithParts], hidden: Option<Cut>) -> Option<Cut> {
    let hiding = rounds.iter().filter(|round| round.hides);
    let cuts = hiding.filter_map(|round| match &round.cut {
        Some((message, part)) => Cut::named(messages, message, part.as_ref()),
        None => hidden,
    });
    cuts.min()
}

/// How many can be undone one by one. A pending revert takes its own with it, and those after it.
pub async fn left(review: &Review, session: &Session) -> Result<usize> {
    let rounds = load(review, &session.id).await?;
    let pending = session.revert.is_some();
    let before = rounds.iter().position(|round| pending && round.hides);
    Ok(before.unwrap_or(rounds.len()))
}

pub async fn save(review: &Review, session: &SessionId, mut rounds: Vec<Round>) -> Result<()> {
    let key = Key::session_revert(session)?;
    let store = review.records.store();
    if rounds.is_empty() {
        store.remove(&key).await?;
        return Ok(());
    }
    rounds.drain(..rounds.len().saturating_sub(KEPT));
    Ok(store.write_durable(&key, &rounds).await?)
}
