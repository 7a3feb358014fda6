//! Prompts that wait for the next step of a running turn.

use lathe_protocol::{MessageId, SessionId};
use lathe_records::{Failed, Result};

use super::Sessions;
use crate::prompt;

impl Sessions {
    /// The prompts that wait for the next step, oldest first.
    pub fn queued(&self, id: &SessionId) -> Vec<MessageId> {
        self.core.active.queued(id)
    }

    /// Changes the text of a waiting prompt. Refused once a step has taken it.
    pub async fn edit_queued(&self, id: &SessionId, message: &MessageId, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Err(Failed::refused("The prompt is empty"));
        }
        let core = &self.core;
        let waiting = core.active.waiting(id, message).ok_or_else(already_taken)?;
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = core.workspace.setup(&session, &project).await;
        let parts = prompt::edited_parts(core, &setup, &session, &project, &waiting, text).await?;
        let before = core.active.replace_queued(id, message, parts.clone());
        let before = before.ok_or_else(already_taken)?;
        for part in parts {
            core.records.put_part(part).await?;
        }
        for part in before {
            core.records.remove_part(&part).await?;
        }
        Ok(())
    }

    /// Removes a waiting prompt. Refused once a step has taken it.
    pub async fn remove_queued(&self, id: &SessionId, message: &MessageId) -> Result<()> {
        if !self.core.active.withdraw_queued(id, message) {
            return Err(already_taken());
        }
        self.core.records.remove_message(id, message).await
    }
}

fn already_taken() -> Failed {
    Failed::refused("This prompt is no longer waiting: it has been taken up")
}
