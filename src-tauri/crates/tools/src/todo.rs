//! The session's to-do list: one tool replaces it, one reads it.

use lathe_protocol::Todo;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{PermissionAsk, ToolContext};
use crate::tool::{Tool, ToolFailure, ToolOutput};

/// What we ask of the model is stricter than what the store reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// What is to be done, in a few words.
    content: String,
    status: Status,
    priority: Priority,
    /// Any name that stays the same while the item does.
    id: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Priority {
    High,
    Medium,
    Low,
}

impl From<Item> for Todo {
    fn from(item: Item) -> Self {
        let status = match item.status {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
        };
        let priority = match item.priority {
            Priority::High => "high",
            Priority::Medium => "medium",
            Priority::Low => "low",
        };
        Self {
            content: item.content,
            status: status.to_owned(),
            priority: Some(priority.to_owned()),
            id: Some(item.id),
            extra: Default::default(),
        }
    }
}

pub struct TodoWrite;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteInput {
    /// The whole list as it shall be from now on.
    todos: Vec<Item>,
}

impl Tool for TodoWrite {
    const NAME: &'static str = "todowrite";
    const PROMPT: &'static str = include_str!("todowrite.txt");
    type Input = TodoWriteInput;

    async fn run(&self, input: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        cx.host
            .ask(PermissionAsk::new(Self::NAME, "*").always("*"))
            .await?;
        let todos: Vec<Todo> = input.todos.into_iter().map(Todo::from).collect();
        cx.host.set_todos(todos.clone()).await?;
        Ok(listed(&todos))
    }
}

pub struct TodoRead;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoReadInput {}

impl Tool for TodoRead {
    const NAME: &'static str = "todoread";
    const PROMPT: &'static str = include_str!("todoread.txt");
    type Input = TodoReadInput;

    async fn run(&self, _: Self::Input, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        cx.host
            .ask(PermissionAsk::new(Self::NAME, "*").always("*"))
            .await?;
        Ok(listed(&cx.host.todos().await?))
    }
}

fn listed(todos: &[Todo]) -> ToolOutput {
    let done = ["completed", "cancelled"];
    let open = todos
        .iter()
        .filter(|todo| !done.contains(&todo.status.as_str()))
        .count();
    let value = serde_json::to_value(todos).unwrap_or_default();
    let text = serde_json::to_string_pretty(todos).unwrap_or_default();
    let title = if open == 1 {
        "1 todo".to_owned()
    } else {
        format!("{open} todos")
    };
    ToolOutput::new(title, text).with("todos", value)
}
