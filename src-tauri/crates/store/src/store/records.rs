//! Projects, sessions, messages and parts.

use std::time::Duration;

use lathe_protocol::{
    Message, MessageId, MessageWithParts, Part, PartId, Project, ProjectId, Session, SessionId,
};

use super::Store;
use crate::error::Result;
use crate::key::Key;
use crate::listing::Listing;
use crate::messages::{Page, Window, WindowAnchor};
use crate::storage::{Storage, encode};
use crate::trash::Trashed;

impl Store {
    pub async fn projects(&self) -> Result<Listing<Project>> {
        self.run(Storage::projects).await
    }

    pub async fn project(&self, id: &ProjectId) -> Result<Option<Project>> {
        let id = id.clone();
        self.run(move |storage| storage.project(&id)).await
    }

    pub async fn write_project(&self, project: &Project) -> Result<()> {
        self.write_bytes(&Key::project(&project.id)?, None, encode(project)?, false)
            .await
    }

    /// The sessions of every project.
    pub async fn all_sessions(&self) -> Result<Listing<Session>> {
        self.run(Storage::all_sessions).await
    }

    pub async fn sessions(&self, project: &ProjectId) -> Result<Listing<Session>> {
        let project = project.clone();
        self.run(move |storage| storage.sessions(&project)).await
    }

    /// Finds a session under any project.
    pub async fn session(&self, id: &SessionId) -> Result<Option<Session>> {
        let id = id.clone();
        self.run(move |storage| storage.session(&id)).await
    }

    /// Moves the session's record if its project has changed.
    pub async fn write_session(&self, session: &Session) -> Result<()> {
        let session = session.clone();
        self.run(move |storage| storage.write_session(&session))
            .await
    }

    pub async fn update_session<F>(&self, id: &SessionId, edit: F) -> Result<Session>
    where
        F: FnOnce(&mut Session) + Send + 'static,
    {
        let id = id.clone();
        self.run(move |storage| storage.update_session(&id, edit))
            .await
    }

    /// Moves a session with all its records to the trash. Its child sessions stay. The caller holds
    /// the session's lock.
    pub async fn remove_session(&self, id: &SessionId) -> Result<()> {
        let id = id.clone();
        self.run(move |storage| storage.remove_session(&id)).await
    }

    /// Fails if the session exists again because it was imported.
    pub async fn restore_session(&self, id: &SessionId) -> Result<()> {
        let id = id.clone();
        self.run(move |storage| storage.restore_session(&id)).await
    }

    /// The sessions that can be restored, last removed first.
    pub async fn trashed(&self) -> Result<Vec<Trashed>> {
        self.run(|storage| storage.trashed()).await
    }

    /// Returns how many sessions were deleted.
    pub async fn empty_trash(&self, older_than: Duration) -> Result<usize> {
        self.run(move |storage| storage.empty_trash(older_than))
            .await
    }

    /// At most `limit` messages right before `before`, or the newest ones.
    pub async fn messages(
        &self,
        session: &SessionId,
        before: Option<&MessageId>,
        limit: usize,
    ) -> Result<Page> {
        let (session, before) = (session.clone(), before.cloned());
        self.run(move |storage| storage.messages(&session, before.as_ref(), limit))
            .await
    }

    /// At most `limit` messages from the middle of a session.
    pub async fn window(
        &self,
        session: &SessionId,
        anchor: &WindowAnchor,
        limit: usize,
    ) -> Result<Window> {
        let (session, anchor) = (session.clone(), anchor.clone());
        self.run(move |storage| storage.window(&session, &anchor, limit))
            .await
    }

    pub async fn message(
        &self,
        session: &SessionId,
        id: &MessageId,
    ) -> Result<Option<MessageWithParts>> {
        let (session, id) = (session.clone(), id.clone());
        self.run(move |storage| storage.message_with_parts(&session, &id))
            .await
    }

    /// A message without its parts.
    pub async fn message_info(
        &self,
        session: &SessionId,
        id: &MessageId,
    ) -> Result<Option<Message>> {
        let (session, id) = (session.clone(), id.clone());
        self.run(move |storage| storage.message(&session, &id))
            .await
    }

    /// As [`Store::message_info`], for every message whose id is `wanted`, newest first.
    pub async fn message_infos(
        &self,
        session: &SessionId,
        wanted: impl Fn(&MessageId) -> bool + Send + Sync + 'static,
    ) -> Result<Vec<Message>> {
        let session = session.clone();
        self.run(move |storage| storage.message_infos(&session, &wanted))
            .await
    }

    pub async fn write_message(&self, message: &Message) -> Result<()> {
        let key = Key::message(message.session_id(), message.id())?;
        self.write_bytes(
            &key,
            Some(message.session_id().clone()),
            encode(message)?,
            false,
        )
        .await
    }

    /// For a record that changes again and again within a step. It survives a kill when this
    /// returns, and is written to its file within [`Options::flush_interval`].
    ///
    /// [`Options::flush_interval`]: crate::Options::flush_interval
    pub async fn journal_message(&self, message: &Message) -> Result<()> {
        let key = Key::message(message.session_id(), message.id())?;
        self.journal_write(key, message.session_id(), encode(message)?)
            .await
    }

    /// As [`Store::journal_message`].
    pub async fn journal_part(&self, part: &Part) -> Result<()> {
        let key = Key::part(part.message_id(), part.id())?;
        self.journal_write(key, part.session_id(), encode(part)?)
            .await
    }

    async fn journal_write(&self, key: Key, session: &SessionId, bytes: Vec<u8>) -> Result<()> {
        let (session, within) = (session.clone(), self.flush_interval);
        self.run(move |storage| storage.journal_write(key, &session, bytes, within))
            .await
    }

    /// Removes a message and its parts.
    pub async fn remove_message(&self, session: &SessionId, id: &MessageId) -> Result<bool> {
        let (session, id) = (session.clone(), id.clone());
        self.run(move |storage| storage.remove_message(&session, &id))
            .await
    }

    pub async fn parts(&self, message: &MessageId) -> Result<Listing<Part>> {
        let message = message.clone();
        self.run(move |storage| storage.parts(&message, &mut Vec::new()))
            .await
    }

    pub async fn part(&self, message: &MessageId, id: &PartId) -> Result<Option<Part>> {
        let (message, id) = (message.clone(), id.clone());
        self.run(move |storage| storage.part(&message, &id)).await
    }

    pub async fn write_part(&self, part: &Part) -> Result<()> {
        let key = Key::part(part.message_id(), part.id())?;
        self.write_bytes(&key, Some(part.session_id().clone()), encode(part)?, false)
            .await
    }

    pub async fn remove_part(&self, message: &MessageId, id: &PartId) -> Result<bool> {
        self.remove(&Key::part(message, id)?).await
    }
}
