//! Sends prompts and stops turns.

use std::ops::Range;
use std::path::Path;

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Extra, Message, MessageId, MessageWithParts, ModelRef, Project, Session, SessionId,
};
use lathe_records::{Failed, Result};

use super::Sessions;
use crate::active_sessions::ActiveSession;
use crate::new_session::NewSession;
use crate::prompt::{self, Author, Chosen, Prompt};
use crate::synthetic::Draft;
use crate::turn::{self, NextRequest, RECOVERED_TAIL};

impl Sessions {
    /// Stores the prompt. A new turn answers it, or the running turn at its next step.
    pub async fn prompt(&self, id: &SessionId, input: PromptInput) -> Result<MessageId> {
        self.prompt_by(Author::Person, id, input).await
    }

    /// The prompt of the person, in which these bytes are not their words but quoted.
    pub async fn prompt_quoting(
        &self,
        id: &SessionId,
        input: PromptInput,
        quoted: Vec<Range<usize>>,
    ) -> Result<MessageId> {
        let prompt = Prompt {
            quoted,
            ..Prompt::by(Author::Person, input)
        };
        self.submit(id, prompt).await
    }

    pub async fn prompt_by(
        &self,
        author: Author,
        id: &SessionId,
        input: PromptInput,
    ) -> Result<MessageId> {
        self.submit(id, Prompt::by(author, input)).await
    }

    /// The prompt of a client, with ids and instructions that it chose.
    pub async fn prompt_as(
        &self,
        id: &SessionId,
        input: PromptInput,
        chosen: Chosen,
    ) -> Result<MessageId> {
        let prompt = Prompt {
            chosen,
            ..Prompt::by(Author::Client, input)
        };
        self.submit(id, prompt).await
    }

    /// Creates a session with its first prompt. If the prompt is refused, no session is left.
    pub async fn create_with_prompt(
        &self,
        project: &Project,
        directory: &str,
        author: Author,
        input: PromptInput,
    ) -> Result<(Session, MessageId)> {
        let core = &self.core;
        let session = NewSession::in_directory(directory).draft(&core.records, project);
        ensure_folder(&session)?;
        let message = prompt::build_message(core, &session, Prompt::by(author, input)).await?;
        let session = core.records.create_session(session).await?;
        match self.runner.send(session.clone(), message).await {
            Ok(prompt) => Ok((session, prompt)),
            Err(error) => {
                if let Err(error) = self.remove(&session.id).await {
                    tracing::warn!(%error, "a session without a prompt is left");
                }
                Err(error)
            }
        }
    }

    pub(super) async fn submit(&self, id: &SessionId, prompt: Prompt) -> Result<MessageId> {
        let active = &self.core.active;
        // First of all: what a person sends keeps its order, however long its files take to be read.
        let _order = match prompt.author {
            Author::Person => Some(active.lock_sending(id).await),
            Author::Client | Author::Agent => None,
        };
        let session = self.get(id).await?;
        ensure_folder(&session)?;
        let consent = prompt.input.discard_reverted;
        let chosen = prompt.chosen.message.clone();
        // Others can work with the session meanwhile: a program's prompt may wait for a person.
        let message = self.build(&session, prompt).await?;
        let _prompt = active.lock_prompt(id).await;
        // It may have been changed or removed since.
        let session = self.get(id).await?;
        ensure_folder(&session)?;
        if let Some(chosen) = &chosen {
            prompt::unused(&self.core.records, chosen).await?;
        }
        // Only now: a refused prompt must not remove what a revert hides.
        let session = self.finalize_revert(session, consent).await?;
        self.runner.send(session, message).await
    }

    /// Builds the message, unless the session is stopped meanwhile.
    async fn build(&self, session: &Session, prompt: Prompt) -> Result<MessageWithParts> {
        if prompt.author == Author::Person {
            return prompt::build_message(&self.core, session, prompt).await;
        }
        let preparation = self.core.active.prepare(&session.id);
        tokio::select! {
            built = prompt::build_message(&self.core, session, prompt) => built,
            () = preparation.cancel.cancelled() => Err(Failed::refused(
                "The prompt was not sent, because the session was stopped",
            )),
        }
    }

    /// Compacts the session now.
    pub async fn compact(&self, id: &SessionId) -> Result<MessageId> {
        self.compact_with(id, None).await
    }

    /// The same with a model, or else that of the newest prompt.
    pub async fn compact_with(&self, id: &SessionId, model: Option<ModelRef>) -> Result<MessageId> {
        let _prompt = self.core.active.lock_prompt(id).await;
        let session = self.get(id).await?;
        let session = self.finalize_revert(session, false).await?;
        let records = &self.core.records;
        let page = records.messages(id, None, RECOVERED_TAIL).await?;
        let newest = page
            .messages
            .iter()
            .rev()
            .find_map(|one| one.info.as_user());
        let Some((user, last)) = newest.zip(page.messages.last()) else {
            return Err(Failed::refused("Nothing to compact yet"));
        };
        let draft = Draft::like(records, user, Some(&last.info));
        let mut request = draft.requesting_summary(false, Extra::default());
        if let (Some(model), Message::User(info)) = (model, &mut request.info) {
            info.model = Some(model);
        }
        let started = self
            .runner
            .begin(session, &request, ActiveSession::for_person());
        started.await?;
        Ok(request.info.id().clone())
    }

    /// The request that would be sent next in this session.
    pub async fn next_request(&self, id: &SessionId) -> Result<NextRequest> {
        let session = self.get(id).await?;
        turn::preview(self.core.clone(), self.runner.clone(), session).await
    }

    /// Stops the turn and waits until all its calls and messages are settled. What is done for a
    /// prompt that is not sent yet is stopped as well.
    pub async fn abort(&self, id: &SessionId) {
        self.core.active.stop_preparing(id);
        self.runner.abort(id).await;
    }

    /// The sessions that other processes work on. They can only be stopped there.
    pub async fn busy_elsewhere(&self) -> Vec<SessionId> {
        self.core.records.store().worked_on_elsewhere().await
    }

    pub async fn is_busy_elsewhere(&self, id: &SessionId) -> bool {
        self.core.records.store().is_worked_on_elsewhere(id).await
    }

    /// Ends the pause before the next attempt.
    pub fn retry_now(&self, id: &SessionId) {
        self.core.active.retry_now(id);
    }

    /// Settles what a crash left open: running calls and tasks, unfinished messages. A session
    /// that another process works on is left alone.
    pub async fn recover(&self, id: &SessionId) {
        self.runner.recover(id).await;
    }
}

/// A session whose folder was removed must not go on in another one, nor make it again.
fn ensure_folder(session: &Session) -> Result<()> {
    match Path::new(&session.directory).is_dir() {
        true => Ok(()),
        false => Err(Failed::refused(format!(
            "The folder of this session, {}, is no longer there. Continue in a new session",
            session.directory
        ))),
    }
}
