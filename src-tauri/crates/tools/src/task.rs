//! Delegates a task to another agent in a child session.
//!
//! The host runs the child session; this is only the interface to the model.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{PermissionAsk, TaskRequest, ToolContext};
use crate::text;
use crate::tool::{Tool, ToolFailure, ToolOutput};

pub struct Task;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskInput {
    /// Three to five words that say what the task is.
    description: String,
    /// All the agent needs to know.
    prompt: String,
    /// The agent that does it.
    subagent_type: String,
    /// An earlier task to go on with.
    session_id: Option<String>,
    /// The command that led to this task, if one did.
    command: Option<String>,
}

impl Tool for Task {
    const NAME: &'static str = "task";
    const PROMPT: &'static str = include_str!("task.txt");
    type Input = TaskInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let ask = PermissionAsk::new(Self::NAME, &input.subagent_type)
            .always(&input.subagent_type)
            .with("description", text::visible(&input.description));
        cx.host.ask(ask).await?;
        let title = input.description.clone();
        // Does not select on the abort: the host must finish the child before we return.
        let result = cx
            .host
            .spawn_task(TaskRequest {
                description: input.description,
                prompt: input.prompt,
                agent: input.subagent_type,
                session_id: input.session_id,
                command: input.command,
            })
            .await?;
        let text = format!("{}\n\n(session_id: {})", result.text, result.session_id);
        let mut output = ToolOutput::new(title, text);
        output.metadata = result.metadata;
        Ok(output.with("sessionId", result.session_id))
    }
}
