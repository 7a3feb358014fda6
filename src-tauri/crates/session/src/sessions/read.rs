//! Reads sessions, messages and parts.

use std::collections::HashSet;
use std::path::Path;

use lathe_protocol::{
    MessageId, MessageWithParts, Part, PartId, Project, Session, SessionId, SessionStatus, Todo,
};
use lathe_records::Result;
use lathe_store::{Key, Listing, Page};

use super::Sessions;

/// How far back the answers to a prompt are looked for.
const ANSWER_TAIL: usize = 200;

impl Sessions {
    /// A project's sessions, last used first. Sessions in its directory are included, so that a
    /// changed project id never hides history.
    pub async fn list(&self, project: &Project) -> Result<Vec<Session>> {
        let Listing { items, .. } = self.core.records.store().all_sessions().await?;
        let belongs = |session: &Session| {
            session.project_id == project.id
                || Path::new(&session.directory).starts_with(&project.worktree)
        };
        let mut sessions: Vec<_> = items.into_iter().filter(belongs).collect();
        newest_first(&mut sessions);
        Ok(sessions)
    }

    pub async fn list_all(&self) -> Result<Vec<Session>> {
        let mut sessions = self.core.records.store().all_sessions().await?.items;
        newest_first(&mut sessions);
        Ok(sessions)
    }

    pub async fn get(&self, id: &SessionId) -> Result<Session> {
        self.core.records.session(id).await
    }

    /// The newest messages before `before`, oldest first.
    pub async fn messages(
        &self,
        id: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        self.core.records.messages(id, before, limit).await
    }

    pub async fn message(
        &self,
        session: &SessionId,
        message: &MessageId,
    ) -> Result<Option<MessageWithParts>> {
        Ok(self.core.records.store().message(session, message).await?)
    }

    pub async fn part(
        &self,
        session: &SessionId,
        message: &MessageId,
        part: &PartId,
    ) -> Result<Option<Part>> {
        let found = self.core.records.store().part(message, part).await?;
        Ok(found.filter(|part| part.session_id() == session))
    }

    /// What answers a prompt or one that followed it, oldest first. Empty if the prompt was not
    /// sent, or its turn was stopped before the first step.
    pub async fn answers_since(
        &self,
        session: &SessionId,
        prompt: &MessageId,
    ) -> Result<Vec<MessageWithParts>> {
        let Some(sent) = self.message(session, prompt).await? else {
            return Ok(Vec::new());
        };
        if sent
            .info
            .as_user()
            .is_none_or(|user| user.unsent == Some(true))
        {
            return Ok(Vec::new());
        }
        let mut messages = self.messages(session, None, ANSWER_TAIL).await?.messages;
        let prompt_at = messages.iter().position(|one| one.info.id() == prompt);
        messages.drain(..prompt_at.unwrap_or_default());
        let later = messages.iter().filter(|one| one.info.as_user().is_some());
        let mut asked: HashSet<_> = later.map(|one| one.info.id().clone()).collect();
        asked.insert(prompt.clone());
        messages.retain(|one| {
            let answer = one.info.as_assistant();
            answer.is_some_and(|answer| asked.contains(&answer.parent_id))
        });
        Ok(messages)
    }

    /// A part that text is streaming into, with its newest text.
    pub fn streaming(&self, part: &PartId) -> Option<Part> {
        self.core.records.streaming(part)
    }

    pub async fn todos(&self, id: &SessionId) -> Result<Vec<Todo>> {
        Ok(self
            .core
            .records
            .store()
            .read(&Key::todo(id)?)
            .await?
            .unwrap_or_default())
    }

    pub fn status(&self, id: &SessionId) -> SessionStatus {
        self.core.active.status(id)
    }

    /// The status of every session that is not idle.
    pub fn statuses(&self) -> Vec<(SessionId, SessionStatus)> {
        self.core.active.statuses()
    }
}

fn newest_first(sessions: &mut [Session]) {
    sessions.sort_by(|a, b| {
        let newer = b.time.updated.cmp(&a.time.updated);
        newer.then_with(|| a.id.as_str().cmp(b.id.as_str()))
    });
}
