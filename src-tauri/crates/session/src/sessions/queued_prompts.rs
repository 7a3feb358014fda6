//! Prompts that wait for the next step of a running turn.

use lathe_protocol::{MessageId, MessageWithParts, SessionId};
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
            return Err(Failed::refused("Enter a prompt"));
        }
        let core = &self.core;
        let waiting = core.active.waiting(id, message).ok_or_else(already_taken)?;
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = core.workspace.setup(&session, &project).await;
        let parts = prompt::edited_parts(core, &setup, &session, &project, &waiting, text).await?;
        let _queue = core.active.lock_queue(id).await;
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

    /// Moves a waiting prompt before the one above it. Refused once a step has taken it.
    pub async fn move_queued_up(&self, id: &SessionId, message: &MessageId) -> Result<()> {
        let _queue = self.core.active.lock_queue(id).await;
        let moved = self.core.active.move_queued_up(id, message);
        for info in moved.ok_or_else(already_taken)? {
            // No step takes it before the lock is free, and until then it is not sent.
            let waiting = prompt::waiting(MessageWithParts {
                info,
                parts: Vec::new(),
            });
            self.core.records.put_message(waiting.info).await?;
        }
        Ok(())
    }

    /// Removes a waiting prompt, or one that was not sent. Refused once a step has taken it.
    pub async fn remove_queued(&self, id: &SessionId, message: &MessageId) -> Result<()> {
        {
            let _queue = self.core.active.lock_queue(id).await;
            if self.core.active.withdraw_queued(id, message) {
                return self.core.records.remove_message(id, message).await;
            }
        }
        let _prompt = self.core.active.lock_prompt(id).await;
        self.unsent(id, message).await?;
        self.core.records.remove_message(id, message).await
    }

    /// Sends a prompt that waited for a turn which ended without it. It becomes the newest message.
    pub async fn send_unsent(&self, id: &SessionId, message: &MessageId) -> Result<MessageId> {
        let _prompt = self.core.active.lock_prompt(id).await;
        self.send_again(id, message).await
    }

    /// Sends a waiting prompt at once: stops the turn for it. The others wait for its turn, in
    /// their order. Changes nothing if a step has just taken it.
    pub async fn send_queued_now(&self, id: &SessionId, message: &MessageId) -> Result<()> {
        let active = &self.core.active;
        let _prompt = active.lock_prompt(id).await;
        let waiting = {
            let _queue = active.lock_queue(id).await;
            active.take_back(id, message)
        };
        if waiting.is_empty() {
            // The turn has ended without it, or it is sent already.
            if self.unsent(id, message).await.is_ok() {
                self.send_again(id, message).await?;
            }
            return Ok(());
        }
        self.runner.abort(id).await;
        self.send_again(id, message).await?;
        for other in waiting.iter().filter(|other| *other != message) {
            self.send_again(id, other).await?;
        }
        Ok(())
    }

    /// The caller holds the lock for prompts.
    async fn send_again(&self, id: &SessionId, message: &MessageId) -> Result<MessageId> {
        let unsent = self.unsent(id, message).await?;
        let session = self.get(id).await?;
        let again = prompt::dated_now(&self.core.records, unsent).await?;
        let session = self.finalize_revert(session, false).await?;
        let sent = self.runner.send(session, again).await?;
        self.core.records.remove_message(id, message).await?;
        Ok(sent)
    }

    async fn unsent(&self, id: &SessionId, message: &MessageId) -> Result<MessageWithParts> {
        let active = &self.core.active;
        if active.is_taken(id, message) || active.queued(id).contains(message) {
            return Err(already_taken());
        }
        let stored = self.core.records.store().message(id, message).await?;
        let is_unsent = |stored: &MessageWithParts| {
            let user = stored.info.as_user();
            user.is_some_and(|user| user.unsent == Some(true))
        };
        stored.filter(is_unsent).ok_or_else(already_taken)
    }
}

fn already_taken() -> Failed {
    Failed::refused("This prompt was already sent")
}
