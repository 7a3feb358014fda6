//! A command that a person runs themselves: a call that no model made and that nobody is asked about.

use std::collections::HashMap;

use lathe_protocol::{
    AssistantMessage, Extra, Finish, Map, MessageError, MessageWithParts, Part, TextPart, ToolPart,
};
use lathe_records::{Records, Result};
use serde_json::{Value, json};

use super::step::Call;
use super::{Asking, Next, ResolvedPrompt, Turn, TurnEnd};

/// The key of the command in the metadata of the prompt's text.
const COMMAND: &str = "shell";

/// Read by the model together with the command and its output.
const NOTE: &str = "I ran this command myself, outside of your task. Its output follows.";

/// A person waits for their own command for as long as they like, or stops it.
const LONGEST_MILLIS: u64 = 60 * 60 * 1000;

/// Makes a prompt one that is answered by running the command.
pub fn mark_as_shell(records: &Records, prompt: &mut MessageWithParts, command: &str) {
    let Some(Part::Text(text)) = prompt.parts.first_mut() else {
        return;
    };
    let mark = Map::from_iter([(COMMAND.to_owned(), Value::from(command))]);
    text.metadata = Some(mark);
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

/// The command of such a prompt.
pub(super) fn shell_command(prompt: &MessageWithParts) -> Option<&str> {
    prompt.parts.iter().find_map(|part| match part {
        Part::Text(text) => text.metadata.as_ref()?.get(COMMAND)?.as_str(),
        _ => None,
    })
}

impl Turn {
    /// Stores one message with the call of the command, and asks no model.
    pub(super) async fn run_shell(
        &mut self,
        resolved: &ResolvedPrompt,
        command: &str,
    ) -> Result<Next> {
        let mut message = self.begin_message(resolved).await?;
        let call = self.shell_call(&message, command).await?;
        let tools = self.core.tools.built_in.clone();
        self.run_calls(resolved, tools, vec![call], HashMap::new(), Asking::Never)
            .await?;
        message.finish = Some(Finish::Stop);
        let stopped = self.cancel.is_cancelled();
        if stopped {
            message.error = Some(MessageError::aborted("The command was stopped"));
        }
        self.put_finished(message).await?;
        Ok(Next::End(if stopped {
            TurnEnd::Aborted
        } else {
            TurnEnd::Done
        }))
    }

    async fn shell_call(&self, message: &AssistantMessage, command: &str) -> Result<Call> {
        let records = &self.core.records;
        let id = records.ids().part(records.now());
        let input = json!({
            "command": command,
            "description": "",
            "timeout": LONGEST_MILLIS,
        });
        let raw = input.to_string();
        let call_id = id.to_string();
        let mut part = ToolPart::pending(
            id,
            self.session.id.clone(),
            message.id.clone(),
            &call_id,
            "bash",
        );
        // A pending part always takes more of its arguments.
        let _ = part.receive(&raw);
        records.put_part(Part::Tool(part.clone())).await?;
        Ok(Call {
            part,
            raw,
            answered: None,
        })
    }
}
