//! `/` commands: prompt templates with placeholders for arguments.

mod template;

use lathe_protocol::ModelRef;
use lathe_protocol::ipc::CommandView;

use crate::config::CommandBlock;
pub use template::{Piece, Template};

#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub name: String,
    pub description: String,
    pub hint: Option<String>,
    pub template: Template,
    pub agent: Option<String>,
    pub model: Option<ModelRef>,
    /// Whether the command runs in a child session. `None` leaves it to the agent's mode.
    pub subtask: Option<bool>,
    pub is_built_in: bool,
    /// From a project that is not trusted: its shell commands must not run.
    pub is_untrusted: bool,
}

impl Command {
    pub fn new(name: &str, block: CommandBlock) -> Self {
        let template = Template::parse(&block.template);
        let takes = template.takes_arguments();
        Command {
            name: name.to_owned(),
            description: block.description.unwrap_or_default(),
            hint: block
                .hint
                .or_else(|| takes.then(|| "[arguments]".to_owned())),
            template,
            agent: block.agent,
            model: block.model,
            subtask: block.subtask,
            is_built_in: false,
            is_untrusted: false,
        }
    }

    /// It cannot choose a model, and its shell commands do not run.
    pub fn untrusted(name: &str, block: CommandBlock) -> Self {
        Command {
            model: None,
            is_untrusted: true,
            ..Command::new(name, block)
        }
    }

    pub fn view(&self) -> CommandView {
        CommandView {
            name: self.name.clone(),
            description: self.description.clone(),
            hint: self.hint.clone(),
            built_in: self.is_built_in,
        }
    }
}

pub fn built_in() -> Vec<Command> {
    let command = |name: &str, description: &str, hint: &str, template: &str| Command {
        description: description.to_owned(),
        hint: Some(hint.to_owned()),
        is_built_in: true,
        ..Command::new(
            name,
            CommandBlock {
                template: template.trim().to_owned(),
                ..CommandBlock::default()
            },
        )
    };
    vec![
        command(
            "init",
            "Write AGENTS.md: what an agent must know of this project",
            "[what matters]",
            include_str!("commands/init.txt"),
        ),
        command(
            "review",
            "Look over what changed, without changing anything",
            "[what to review]",
            include_str!("commands/review.txt"),
        ),
    ]
}
