//! How full the context of a session is, and which agent and model answered last.

use lathe_protocol::ipc::{ContextUse, LastUse};
use lathe_protocol::{Message, MessageWithParts, Session, SessionId, UserMessage};

use super::Sessions;
use crate::turn::history::last_total;
use lathe_conversation::compaction;
use lathe_records::Result;

/// Enough messages to include the newest step.
const NEWEST: usize = 20;

impl Sessions {
    /// The newest prompt, which names agent and model. What a pending revert hides does not
    /// count.
    pub async fn newest_prompt(&self, session: &Session) -> Result<Option<UserMessage>> {
        let newest = |messages: &[MessageWithParts]| {
            let mut prompts = messages.iter().rev().filter_map(|one| one.info.as_user());
            prompts.next().cloned()
        };
        if session.revert.is_some() {
            return Ok(newest(&self.visible_messages(session).await?));
        }
        self.core.records.newest_user_message(&session.id).await
    }

    /// How full the context of a session's model is.
    pub async fn context_use(&self, id: &SessionId) -> Result<ContextUse> {
        let session = self.get(id).await?;
        let newest = self.newest_messages(id).await?;
        self.context_after(&session, &newest).await
    }

    /// The newest messages, enough for [`Sessions::last_use`] and [`Sessions::context_after`].
    pub async fn newest_messages(&self, id: &SessionId) -> Result<Vec<MessageWithParts>> {
        Ok(self.messages(id, None, NEWEST).await?.messages)
    }

    /// The agent and model of the newest prompt, from the newest messages of the session. If
    /// these are all answers of one long turn, their prompt is read.
    pub async fn last_use(
        &self,
        id: &SessionId,
        newest: &[MessageWithParts],
    ) -> Result<Option<LastUse>> {
        let infos = || newest.iter().rev().map(|one| &one.info);
        if let Some(prompt) = infos().find(|info| info.as_user().is_some()) {
            return Ok(Some(LastUse::from_message(prompt)));
        }
        let Some(answer) = infos().find_map(|info| info.as_assistant()) else {
            return Ok(None);
        };
        let store = self.core.records.store();
        let prompt = store.message_info(id, &answer.parent_id).await?;
        let prompt = prompt.filter(|info| info.as_user().is_some());
        // If the prompt is lost, its answer names agent and model too.
        let source = prompt.unwrap_or_else(|| Message::Assistant(answer.clone()));
        Ok(Some(LastUse::from_message(&source)))
    }

    /// How full the context is, from the newest messages of the session.
    pub async fn context_after(
        &self,
        session: &Session,
        newest: &[MessageWithParts],
    ) -> Result<ContextUse> {
        let project = self.core.workspace.project_of(session).await?;
        let setup = self.core.workspace.setup(session, &project).await;
        let used = self.last_use(&session.id, newest).await?;
        let model = match used.and_then(|used| used.model) {
            Some(model) => model,
            None => setup.models.default().await,
        };
        let used = last_total(newest).unwrap_or(0);
        let settings = compaction::Settings::new(&setup.settings);
        let limits = setup.models.limits(&model);
        Ok(compaction::context_use(used, &limits, settings))
    }
}
