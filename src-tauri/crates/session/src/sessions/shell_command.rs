//! A command that a client runs in a session, in the place of a prompt.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{Map, MessageId, ModelRef, Part, SessionId};
use lathe_records::{Failed, Result};

use super::Sessions;
use crate::active_sessions::ActiveSession;
use crate::prompt::{self, Chosen, Prompt};
use crate::turn::SHELL_COMMAND;

impl Sessions {
    /// Starts a command with the permission that the agent's own call of it would need, and
    /// stores it with its output for the model to read. Refused while a turn is running.
    pub async fn run_shell(
        &self,
        id: &SessionId,
        command: &str,
        agent: Option<String>,
        model: Option<ModelRef>,
        message: Option<MessageId>,
    ) -> Result<MessageId> {
        if command.trim().is_empty() {
            return Err(Failed::refused("The command is empty"));
        }
        let _prompt = self.core.active.lock_prompt(id).await;
        let session = self.get(id).await?;
        let prompt = Prompt {
            input: PromptInput {
                text: format!("!{command}"),
                agent,
                model,
                ..PromptInput::default()
            },
            // An `@` of a command is no mention.
            by_agent: true,
            subtask: None,
            chosen: Chosen {
                message,
                ..Chosen::default()
            },
        };
        let mut message = prompt::build_message(&self.core, &session, prompt).await?;
        for part in &mut message.parts {
            if let Part::Text(text) = part {
                let mark = (SHELL_COMMAND.to_owned(), command.into());
                text.metadata.get_or_insert_with(Map::new).extend([mark]);
            }
        }
        let session = self.finalize_revert(session, false).await?;
        let started = self
            .runner
            .begin(session, &message, ActiveSession::for_person());
        started.await?;
        Ok(message.info.id().clone())
    }
}
