//! A prompt that is a command of the person: it is run, and the model is not asked.

use std::collections::HashMap;

use lathe_protocol::{MessageWithParts, Part, ToolPart};
use lathe_provider::{FinishReason, Usage};
use lathe_records::Result;
use serde_json::json;

use super::finish::StepEnd;
use super::step::Call;
use super::{Next, ResolvedPrompt, Turn, TurnEnd};

/// The mark of such a prompt, in the metadata of its text.
pub const SHELL_COMMAND: &str = "shellCommand";
const TOOL: &str = "bash";

/// The command of a prompt that is one.
pub fn command_of(prompt: &MessageWithParts) -> Option<&str> {
    prompt.parts.iter().find_map(|part| match part {
        Part::Text(part) => part.metadata.as_ref()?.get(SHELL_COMMAND)?.as_str(),
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
        let records = self.core.records.clone();
        let tools = self.step_tools_now(&resolved.agent);
        let opened = self.open_step(&message).await?;
        let input = json!({ "command": command, "description": "" });
        let raw = input.to_string();
        let mut part = ToolPart::pending(
            records.ids().part(records.now()),
            self.session.id.clone(),
            message.id.clone(),
            resolved.user.id.as_str(),
            TOOL,
        );
        // A pending part always takes more of its arguments.
        let _ = part.receive(&raw);
        records.put_part(Part::Tool(part.clone())).await?;
        let end = StepEnd {
            reason: FinishReason::ToolCalls,
            usage: Usage::default(),
            cost: 0.0,
            calls: vec![Call {
                part,
                raw,
                answered: None,
            }],
            ends_turn: true,
        };
        self.finish_with(message, resolved, tools, opened, end, HashMap::new())
            .await
    }
}
