//! What a prompt can draw on in a project: agents, commands, files to mention, trust.

use std::path::Path;

use lathe_protocol::ipc::{
    AgentMode, AgentView, CommandView, ConfigProblem, Mention, PromptInput, TrustState, TrustView,
};
use lathe_protocol::{Count, MessageId, Project, SessionId};

use super::Sessions;
use crate::agents::{Agent, Mode};
use crate::error::{Failed, Result};

/// More than a list on screen can show.
const MOST_MENTIONS: usize = 200;

impl Sessions {
    /// Those a person can talk to or hand work to.
    pub async fn agents(&self, _project: &Project) -> Result<Vec<AgentView>> {
        let agents = self.core.agents.all().iter();
        Ok(agents.filter_map(agent_view).collect())
    }

    pub async fn commands(&self, _project: &Project) -> Result<Vec<CommandView>> {
        Ok(Vec::new())
    }

    pub async fn run_command(
        &self,
        _id: &SessionId,
        name: &str,
        _args: &str,
        _input: PromptInput,
    ) -> Result<MessageId> {
        Err(Failed::missing("command", name))
    }

    /// Nothing of a project's own is read yet, so nothing needs trust.
    pub async fn trust(&self, _project: &Project) -> Result<TrustView> {
        let (state, wants) = (TrustState::Nothing, Vec::new());
        Ok(TrustView { state, wants })
    }

    pub async fn set_trust(&self, project: &Project, _trusted: bool) -> Result<TrustView> {
        self.trust(project).await
    }

    pub async fn set_project_edits(&self, _project: &Project, _allow: bool) -> Result<()> {
        Err(Failed::refused("Edits are asked for one by one here"))
    }

    pub async fn config_problems(&self, _project: &Project) -> Result<Vec<ConfigProblem>> {
        Ok(Vec::new())
    }

    /// What `@` and these letters could mean, best first.
    pub async fn find_mentions(
        &self,
        project: &Project,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Mention>> {
        let (root, agents) = (Path::new(&project.worktree), self.core.agents.all());
        let limit = limit.min(MOST_MENTIONS);
        Ok(self.core.finder.find(root, agents, query, limit).await)
    }
}

fn agent_view(agent: &Agent) -> Option<AgentView> {
    let mode = match agent.mode {
        Mode::Primary => AgentMode::Primary,
        Mode::Subagent => AgentMode::Subagent,
        Mode::All => AgentMode::All,
        Mode::Hidden => return None,
    };
    Some(AgentView {
        name: agent.name.clone(),
        description: agent.description.clone(),
        mode,
        color: None,
        model: agent.model.clone(),
        steps: agent.steps.map(|steps| Count(steps.into())),
        built_in: true,
    })
}
