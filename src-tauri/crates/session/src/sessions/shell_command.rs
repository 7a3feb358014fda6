//! Commands that are run in a session, in the place of a prompt.

use lathe_protocol::ipc::PromptInput;
use lathe_protocol::{
    Extra, Map, MessageId, MessageWithParts, ModelRef, Part, SessionId, TextPart,
};
use lathe_records::{Failed, Result};

use super::Sessions;
use crate::active_sessions::ActiveSession;
use crate::prompt::{self, Author, Chosen, Prompt};
use crate::turn::NOTE;

impl Sessions {
    /// Runs a command of the person, with all their rights and without a question. The agent reads
    /// the command and its output with the next prompt. Refused while a turn is running.
    ///
    /// The text of `input` is the command; its agent and model are those of the session.
    pub async fn run_own_command(&self, id: &SessionId, input: PromptInput) -> Result<MessageId> {
        let command = input.text.trim().to_owned();
        let input = PromptInput {
            files: Vec::new(),
            ..input
        };
        self.begin_command(id, &command, input, Chosen::default(), true)
            .await
    }

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
        let input = PromptInput {
            agent,
            model,
            ..PromptInput::default()
        };
        let chosen = Chosen {
            message,
            ..Chosen::default()
        };
        self.begin_command(id, command.trim(), input, chosen, false)
            .await
    }

    async fn begin_command(
        &self,
        id: &SessionId,
        command: &str,
        input: PromptInput,
        chosen: Chosen,
        own: bool,
    ) -> Result<MessageId> {
        if command.is_empty() {
            return Err(Failed::refused("The command is empty"));
        }
        let _prompt = self.core.active.lock_prompt(id).await;
        let session = self.get(id).await?;
        let consent = input.discard_reverted;
        let input = PromptInput {
            text: format!("!{command}"),
            ..input
        };
        // An `@` of a command is no mention.
        let prompt = Prompt {
            chosen,
            ..Prompt::by(Author::Agent, input)
        };
        let mut message = prompt::build_message(&self.core, &session, prompt).await?;
        for part in &mut message.parts {
            if let Part::Text(text) = part {
                let mark = (TextPart::SHELL_COMMAND.to_owned(), command.into());
                text.metadata.get_or_insert_with(Map::new).extend([mark]);
            }
        }
        let prompt = message.info.id().clone();
        let active = match own {
            true => {
                self.add_note(&mut message);
                ActiveSession::for_own_command(prompt.clone())
            }
            false => ActiveSession::for_person(),
        };
        let session = self.finalize_revert(session, consent).await?;
        let started = self.runner.begin(session, &message, active);
        started.await?;
        Ok(prompt)
    }

    /// The model reads who ran the command.
    fn add_note(&self, prompt: &mut MessageWithParts) {
        let records = &self.core.records;
        if let Some(Part::Text(text)) = prompt.parts.first() {
            let note = TextPart {
                id: records.ids().part(records.now()),
                text: NOTE.to_owned(),
                synthetic: Some(true),
                metadata: None,
                extra: Extra::default(),
                ..text.clone()
            };
            prompt.parts.push(Part::Text(note));
        }
    }
}
