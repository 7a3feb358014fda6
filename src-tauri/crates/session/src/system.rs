//! What every request tells the model about itself and where it works.

use lathe_protocol::{Millis, Project, Session, UserMessage};

use lathe_workspace::agents::Agent;
use lathe_workspace::instructions::{Instruction, Instructions};
use lathe_workspace::project::branch;
use lathe_workspace::setup::Setup;

const GENERAL: &str = include_str!("system.txt");

/// Where the model works.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub instructions: &'a Instructions,
    pub now: Millis,
    pub setup: &'a Setup,
    pub session: &'a Session,
    pub project: &'a Project,
}

/// The most stable text first, so that providers can cache it.
pub async fn prompt(scene: Scene<'_>, agent: &Agent, user: &UserMessage) -> Vec<String> {
    let mut blocks = vec![GENERAL.trim_end().to_owned()];
    blocks.extend(agent.prompt.clone());
    blocks.push(scene.environment().await);
    let Setup {
        locations,
        instructions,
        ..
    } = scene.setup;
    let instructions = scene
        .instructions
        .load(locations.clone(), instructions.clone());
    blocks.extend(instructions.await.iter().map(block));
    blocks.extend(user.system.clone());
    blocks
}

fn block(instruction: &Instruction) -> String {
    format!(
        "Instructions from {}:\n{}",
        instruction.path,
        instruction.text.trim_end()
    )
}

impl Scene<'_> {
    /// Facts only, found out without running anything.
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
