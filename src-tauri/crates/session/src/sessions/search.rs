//! Full-text search, and loading messages around a hit.

use std::collections::HashSet;

use lathe_protocol::ipc::{FindHit, SearchAnswer};
use lathe_protocol::{Part, PartId, SessionId};
use lathe_store::{Window, WindowAnchor};

use super::Sessions;
use lathe_records::Result;

impl Sessions {
    /// Starts to keep the search index up to date, for a program that keeps running. Otherwise
    /// the first search does.
    pub async fn start_indexing(&self) -> Result<()> {
        self.live_index().await?.update_in_background();
        Ok(())
    }

    /// Hits in all sessions that contain every word, best first, in what is indexed by now.
    pub async fn search_text(&self, query: &str, limit: usize) -> Result<SearchAnswer> {
        Ok(self.live_index().await?.search(query, limit).await?)
    }

    /// Waits until everything stored can be found.
    pub async fn index_all(&self) -> Result<()> {
        Ok(self.live_index().await?.update().await?)
    }

    /// The sessions that contain every word.
    pub async fn sessions_with_words(&self, words: &str) -> Result<HashSet<SessionId>> {
        Ok(self.live_index().await?.sessions_with(words).await?)
    }

    /// Builds the search index again from the store.
    pub async fn rebuild_index(&self) -> Result<()> {
        Ok(self.live_index().await?.rebuild().await?)
    }

    /// Every hit in one session, in reading order, except what a pending revert hides.
    pub async fn find_in(&self, id: &SessionId, text: &str) -> Result<Vec<FindHit>> {
        let session = self.get(id).await?;
        let mut hits = self.live_index().await?.find(&session, text).await?;
        if session.revert.is_some() && !hits.is_empty() {
            let shown = self.visible_messages(&session).await?;
            let parts = shown.iter().flat_map(|message| &message.parts);
            let shown: HashSet<&PartId> = parts.map(Part::id).collect();
            hits.retain(|hit| shown.contains(&hit.part_id));
        }
        Ok(hits)
    }

    /// Messages around some place in a session, with streaming text as it was last published.
    pub async fn window(
        &self,
        id: &SessionId,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        self.core.records.window(id, anchor, limit).await
    }
}
