//! Where a pending revert begins. A window may show any part of the session, so it cannot tell by
//! itself which messages are hidden.

use lathe_protocol::SessionId;
use lathe_protocol::ipc::PendingRevert;
use lathe_records::Result;
use lathe_review::revert;

use super::Sessions;

impl Sessions {
    /// The revert that the next prompt would make final.
    pub async fn pending_revert(&self, id: &SessionId) -> Result<Option<PendingRevert>> {
        let Some(revert) = self.get(id).await?.revert else {
            return Ok(None);
        };
        let first = self
            .core
            .records
            .store()
            .message(id, &revert.message_id)
            .await?;
        let left = revert::left_by_pending(&self.core.review, id).await?;
        Ok(first.map(|first| PendingRevert {
            message_id: revert.message_id,
            created: first.info.created(),
            left: left.into_iter().collect(),
        }))
    }
}
