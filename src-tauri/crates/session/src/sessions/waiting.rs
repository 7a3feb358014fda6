//! What waits: prompts for the next step, requests and questions for a person.

use std::collections::HashMap;

use lathe_protocol::ipc::{Activity, ContextUse, LastUse};
use lathe_protocol::{
    Message, MessageId, MessageWithParts, PermissionRequest, QuestionRequest, Session, SessionId,
    UserMessage,
};

use super::Sessions;
use crate::compaction;
use crate::prompt;
use crate::turn::history::last_total;
use lathe_records::{Failed, Result};

/// As far back as the newest step can lie.
const NEWEST: usize = 20;

impl Sessions {
    pub fn permissions(&self) -> Vec<PermissionRequest> {
        self.core.permissions.broker.pending()
    }

    pub fn questions(&self) -> Vec<QuestionRequest> {
        self.core.questions.pending()
    }

    /// What all sessions are doing, for a window that starts to listen now.
    pub async fn activity(&self) -> Activity {
        let statuses: HashMap<_, _> = self.statuses().into_iter().collect();
        let (permissions, questions) = (self.permissions(), self.questions());
        let mut wanted: Vec<_> = statuses.keys().cloned().collect();
        wanted.extend(permissions.iter().map(|request| request.session_id.clone()));
        wanted.extend(questions.iter().map(|request| request.session_id.clone()));
        let mut sessions = HashMap::new();
        while let Some(id) = wanted.pop() {
            if sessions.contains_key(&id) {
                continue;
            }
            // A session that was removed in the meantime has its own event.
            if let Ok(session) = self.get(&id).await {
                wanted.extend(session.parent_id.clone());
                sessions.insert(id, session.shortened());
            }
        }
        Activity {
            statuses,
            permissions,
            questions,
            sessions: sessions.into_values().collect(),
        }
    }

    /// Requests of a session and of the tasks it handed out: who watches the parent must see
    /// what its children wait for.
    pub fn permissions_in(&self, id: &SessionId) -> Vec<PermissionRequest> {
        let mut requests = self.permissions();
        requests.retain(|request| self.works_for(&request.session_id, id));
        requests
    }

    pub fn questions_in(&self, id: &SessionId) -> Vec<QuestionRequest> {
        let mut requests = self.questions();
        requests.retain(|request| self.works_for(&request.session_id, id));
        requests
    }

    fn works_for(&self, session: &SessionId, id: &SessionId) -> bool {
        session == id || self.core.running.parent(session).as_ref() == Some(id)
    }

    /// What a session was last asked, and by whom and with which model it is answered. What a
    /// pending revert hides does not count.
    pub async fn newest_prompt(&self, session: &Session) -> Result<Option<UserMessage>> {
        let newest = |messages: &[MessageWithParts]| {
            let mut prompts = messages.iter().rev().filter_map(|one| one.info.as_user());
            prompts.next().cloned()
        };
        if session.revert.is_some() {
            return Ok(newest(&self.visible(session).await?));
        }
        let mut before = None;
        loop {
            let page = self.messages(&session.id, before.as_ref(), NEWEST).await?;
            let found = newest(&page.messages);
            if found.is_some() || !page.has_older {
                return Ok(found);
            }
            before = page.messages.first().map(|oldest| oldest.info.id().clone());
        }
    }

    /// The prompts that wait for the next step, oldest first.
    pub fn queued(&self, id: &SessionId) -> Vec<MessageId> {
        self.core.running.queued(id)
    }

    /// Changes what a waiting prompt says. Refused once a step has taken it up.
    pub async fn edit_queued(&self, id: &SessionId, message: &MessageId, text: &str) -> Result<()> {
        if text.trim().is_empty() {
            return Err(Failed::refused("The prompt is empty"));
        }
        let core = &self.core;
        let waiting = core.running.waiting(id, message).ok_or_else(taken_up)?;
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = core.workspace.setup(&session, &project).await;
        let parts = prompt::retyped(core, &setup, &session, &project, &waiting, text).await?;
        let before = core.running.replace_queued(id, message, parts.clone());
        let before = before.ok_or_else(taken_up)?;
        for part in parts {
            core.records.put_part(part).await?;
        }
        for part in before {
            core.records.remove_part(&part).await?;
        }
        Ok(())
    }

    /// Takes a waiting prompt back. Refused once a step has taken it up.
    pub async fn remove_queued(&self, id: &SessionId, message: &MessageId) -> Result<()> {
        if !self.core.running.withdraw_queued(id, message) {
            return Err(taken_up());
        }
        self.core.records.remove_message(id, message).await
    }

    /// How full the context of a session's model is.
    pub async fn context_use(&self, id: &SessionId) -> Result<ContextUse> {
        let session = self.get(id).await?;
        let newest = self.newest(id).await?;
        self.context_after(&session, &newest).await
    }

    /// As much of a session's end as says how it stands.
    pub async fn newest(&self, id: &SessionId) -> Result<Vec<MessageWithParts>> {
        Ok(self.messages(id, None, NEWEST).await?.messages)
    }

    /// Whom the newest prompt went to, by the newest messages of the session. They may all be
    /// answers of one long turn, which name their prompt.
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
        // A prompt that was lost leaves what its answer says.
        let said = prompt.unwrap_or_else(|| Message::Assistant(answer.clone()));
        Ok(Some(LastUse::from_message(&said)))
    }

    /// The same, by the newest messages of the session.
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
        let settings = compaction::Settings::of(&setup.settings);
        let limits = setup.models.limits(&model);
        Ok(compaction::context_use(used, &limits, settings))
    }
}

fn taken_up() -> Failed {
    Failed::refused("This prompt is no longer waiting: it has been taken up")
}
