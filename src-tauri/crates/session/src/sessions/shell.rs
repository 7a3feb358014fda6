//! Commands that a person runs in a session.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{MessageId, SessionId};
use lathe_records::{Failed, Result};

use super::Sessions;
use crate::active_sessions::ActiveSession;
use crate::prompt::{self, Prompt};
use crate::turn;

impl Sessions {
    /// Runs a command of the person, with all their rights and without a question. The agent reads
    /// the command and its output with the next prompt. Refused while a turn is running.
    ///
    /// The text of `input` is the command; its agent and model are those of the session.
    pub async fn run_shell(&self, id: &SessionId, input: PromptInput) -> Result<MessageId> {
        let command = input.text.trim().to_owned();
        if command.is_empty() {
            return Err(Failed::refused("The command is empty"));
        }
        let _prompt = self.core.active.lock_prompt(id).await;
        let session = self.get(id).await?;
        let consent = input.discard_reverted;
        let prompt = Prompt {
            // An `@` in a command mentions nothing.
            by_agent: true,
            ..Prompt::by_person(PromptInput {
                text: format!("!{command}"),
                files: Vec::new(),
                ..input
            })
        };
        let mut message = prompt::build_message(&self.core, &session, prompt).await?;
        turn::mark_as_shell(&self.core.records, &mut message, &command);
        let session = self.finalize_revert(session, consent).await?;
        let prompt = message.info.id().clone();
        let started = self
            .runner
            .begin(session, &message, ActiveSession::for_person());
        started.await?;
        Ok(prompt)
    }
}
