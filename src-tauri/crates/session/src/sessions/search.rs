//! Finding what was said, and going there.

use std::collections::HashSet;

use lathe_protocol::ipc::{FindHit, SearchAnswer};
use lathe_protocol::{Part, PartId, SessionId};
use lathe_store::{Window, WindowAnchor};

use super::Sessions;
use lathe_records::Result;

impl Sessions {
    /// Begins to keep the search index level, for a program that stays. Without it the first
    /// search does.
    pub async fn start_indexing(&self) -> Result<()> {
        self.indexing().await?.update_in_background();
        Ok(())
    }

    /// Places in every session that hold all the words, best first. Answers with what is
    /// indexed by now.
    pub async fn search_text(&self, typed: &str, limit: usize) -> Result<SearchAnswer> {
        Ok(self.indexing().await?.search(typed, limit).await?)
    }

    /// Waits until everything stored can be found.
    pub async fn index_all(&self) -> Result<()> {
        Ok(self.indexing().await?.update().await?)
    }

    /// The sessions in which all the words stand, as far as is stored by now.
    pub async fn sessions_saying(&self, words: &str) -> Result<HashSet<SessionId>> {
        Ok(self.indexing().await?.sessions_with(words).await?)
    }

    /// Makes the search index anew.
    pub async fn rebuild_index(&self) -> Result<()> {
        Ok(self.indexing().await?.rebuild().await?)
    }

    /// Every place of one session that holds the text, in reading order. What a pending revert
    /// hides is not found.
    pub async fn find_in(&self, id: &SessionId, text: &str) -> Result<Vec<FindHit>> {
        let session = self.get(id).await?;
        let mut hits = self.indexing().await?.find(&session, text).await?;
        if session.revert.is_some() && !hits.is_empty() {
            let shown = self.visible(&session).await?;
            let parts = shown.iter().flat_map(|message| &message.parts);
            let shown: HashSet<&PartId> = parts.map(Part::id).collect();
            hits.retain(|hit| shown.contains(&hit.part_id));
        }
        Ok(hits)
    }

    /// Messages somewhere inside a session, with streaming text as new as it was told.
    pub async fn window(
        &self,
        id: &SessionId,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        self.core.records.window(id, anchor, limit).await
    }
}
