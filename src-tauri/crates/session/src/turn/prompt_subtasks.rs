//! Subtasks of the prompt itself, which run before the model is asked.

use lathe_protocol::{Part, SubtaskPart, ToolPart};
use lathe_provider::{FinishReason, Usage};
use serde_json::json;

use super::finish::StepEnd;
use super::step::Call;
use super::{Next, ResolvedPrompt, Turn};
use lathe_records::Result;

impl Turn {
    /// Stores one message that calls every subtask, as if the model had called them.
    pub(super) async fn run_subtasks(
        &mut self,
        resolved: &ResolvedPrompt,
        subtasks: Vec<SubtaskPart>,
    ) -> Result<Next> {
        let message = self.begin_message(resolved).await?;
        let records = self.core.records.clone();
        let tools = self.step_tools_now(&resolved.agent);
        let opened = self.open_step(&message).await?;
        let mut calls = Vec::new();
        let mut models = std::collections::HashMap::new();
        for subtask in subtasks {
            let raw = call_arguments(&subtask);
            let mut part = ToolPart::pending(
                records.ids().part(records.now()),
                self.session.id.clone(),
                message.id.clone(),
                subtask.id.as_str(),
                "task",
            );
            // A pending part always takes more of its arguments.
            let _ = part.receive(&raw);
            records.put_part(Part::Tool(part.clone())).await?;
            if let Some(model) = subtask.model {
                models.insert(subtask.id.to_string(), model);
            }
            calls.push(Call {
                part,
                raw,
                answered: None,
            });
        }
        let end = StepEnd {
            reason: FinishReason::ToolCalls,
            usage: Usage::default(),
            cost: 0.0,
            calls,
            ends_turn: false,
        };
        self.finish_with(message, resolved, tools, opened, end, models)
            .await
    }
}

/// The arguments that the model would have written.
fn call_arguments(subtask: &SubtaskPart) -> String {
    let mut input = json!({
        "description": subtask.description,
        "prompt": subtask.prompt,
        "subagent_type": subtask.agent,
    });
    if let Some(command) = &subtask.command {
        input["command"] = command.as_str().into();
    }
    input.to_string()
}
