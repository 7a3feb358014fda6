//! A prompt that is a command of the person: it is run, and the model is not asked.
//!
//! One that the person typed into the window runs without a question. One that another program sent
//! asks like the agent's own call. Which of them it is, is never read from the disk.

use std::collections::HashMap;

use lathe_protocol::{
    AssistantMessage, Finish, MessageError, MessageWithParts, Part, TextPart, ToolPart,
};
use lathe_provider::{FinishReason, Usage};
use lathe_records::Result;
use serde_json::{Value, json};

use super::finish::StepEnd;
use super::step::Call;
use super::{Asking, Next, ResolvedPrompt, Turn, TurnEnd};

/// Read by the model together with the command and its output.
pub const NOTE: &str = "I ran this command myself, outside of your task. Its output follows.";
const TOOL: &str = "bash";
/// A person waits for their own command for as long as they like, or stops it.
const LONGEST_MILLIS: u64 = 60 * 60 * 1000;

/// The command of a prompt that is one. The mark counts only if the text shows the same command:
/// what is on the disk may come from anyone.
pub fn command_of(prompt: &MessageWithParts) -> Option<&str> {
    prompt.parts.iter().find_map(|part| match part {
        Part::Text(part) if part.synthetic != Some(true) => {
            let mark = part.metadata.as_ref()?.get(TextPart::SHELL_COMMAND)?;
            let shown = part.text.strip_prefix('!')?;
            mark.as_str().filter(|command| *command == shown)
        }
        _ => None,
    })
}

impl Turn {
    /// Stores one message that calls the shell, as if the model had called it.
    pub(super) async fn run_shell_command(
        &mut self,
        resolved: &ResolvedPrompt,
        command: &str,
    ) -> Result<Next> {
        // A crash may have left the call without an end; nothing is run a second time.
        if self.history.has_answer(&resolved.user.id) {
            return Ok(Next::End(TurnEnd::Done));
        }
        let message = self.begin_message(resolved).await?;
        let active = &self.core.active;
        if active.is_own_command(&self.session.id, &resolved.user.id) {
            return self.run_own(resolved, message, command).await;
        }
        let tools = self.step_tools_now(&resolved.agent);
        let opened = self.open_step(&message).await?;
        let input = json!({ "command": command, "description": "" });
        let end = StepEnd {
            reason: FinishReason::ToolCalls,
            usage: Usage::default(),
            cost: 0.0,
            calls: vec![self.shell_call(&message, &input).await?],
            ends_turn: true,
        };
        self.finish_with(message, resolved, tools, opened, end, HashMap::new())
            .await
    }

    /// What it changes is the person's, so that no step is opened for it.
    async fn run_own(
        &mut self,
        resolved: &ResolvedPrompt,
        mut message: AssistantMessage,
        command: &str,
    ) -> Result<Next> {
        let input = json!({ "command": command, "description": "", "timeout": LONGEST_MILLIS });
        let call = self.shell_call(&message, &input).await?;
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

    async fn shell_call(&self, message: &AssistantMessage, input: &Value) -> Result<Call> {
        let records = &self.core.records;
        let raw = input.to_string();
        let id = records.ids().part(records.now());
        let call_id = id.to_string();
        let mut part = ToolPart::pending(
            id,
            self.session.id.clone(),
            message.id.clone(),
            &call_id,
            TOOL,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str, synthetic: bool) -> MessageWithParts {
        let message = json!({
            "info": { "id": "msg_1", "sessionID": "ses_1", "role": "user", "time": { "created": 1 } },
            "parts": [{
                "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text",
                "text": text, "synthetic": synthetic, "metadata": { "shellCommand": "make" },
            }],
        });
        serde_json::from_value(message).unwrap()
    }

    #[test]
    fn a_prompt_is_only_the_command_that_its_text_shows() {
        assert_eq!(command_of(&prompt("!make", false)), Some("make"));
        assert_eq!(command_of(&prompt("Please go on", false)), None);
        assert_eq!(command_of(&prompt("!make test", false)), None);
        assert_eq!(command_of(&prompt("!make", true)), None);
    }
}
