//! The system prompt: what every request tells the model about itself and its project.

use lathe_protocol::{Millis, Project, Session, UserMessage};

use lathe_workspace::agents::Agent;
use lathe_workspace::instructions::{Instruction, Instructions};
use lathe_workspace::project::branch;
use lathe_workspace::setup::Setup;

const GENERAL: &str = include_str!("system_prompt.txt");

/// What the system prompt is built from.
#[derive(Clone, Copy)]
pub struct PromptContext<'a> {
    pub instructions: &'a Instructions,
    pub now: Millis,
    pub setup: &'a Setup,
    pub session: &'a Session,
    pub project: &'a Project,
}

/// The blocks of the prompt, the most stable first, so that providers can cache them.
pub async fn build(context: PromptContext<'_>, agent: &Agent, user: &UserMessage) -> Vec<String> {
    let mut blocks = vec![GENERAL.trim_end().to_owned()];
    blocks.extend(agent.prompt.clone());
    blocks.push(context.environment().await);
    let Setup {
        locations,
        instructions,
        ..
    } = context.setup;
    let instructions = context
        .instructions
        .load(locations.clone(), instructions.clone());
    blocks.extend(instructions.await.iter().map(instruction_block));
    blocks.extend(user.system.clone());
    blocks
}

fn instruction_block(instruction: &Instruction) -> String {
    format!(
        "Instructions from {}:\n{}",
        instruction.path,
        instruction.text.trim_end()
    )
}

impl PromptContext<'_> {
    /// Facts about the project, found without running a command.
    async fn environment(&self) -> String {
        let git = match self.project.vcs.as_deref() {
            Some("git") => {
                let worktree = self.project.worktree.clone();
                let head = tokio::task::spawn_blocking(move || branch(worktree.as_ref()));
                match head.await.ok().flatten() {
                    Some(branch) => format!("yes, on {branch}"),
                    None => "yes".to_owned(),
                }
            }
            _ => "no".to_owned(),
        };
        format!(
            "Working directory: {}\nProject root: {}\nGit repository: {git}\nPlatform: {}\nToday: {}",
            self.session.directory,
            self.project.worktree,
            std::env::consts::OS,
            self.now.date(),
        )
    }
}
