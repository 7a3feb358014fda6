//! Agents, mentions, config and trust of a project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{AgentMode, AgentView, ConfigProblem, Mention, TrustView};
use lathe_protocol::{Count, Project, SessionId};

use super::Sessions;
use lathe_records::{Failed, Result};
use lathe_workspace::agents::{Agent, Mode};
use lathe_workspace::config::{McpServer, Settings};
use lathe_workspace::git::{Git, Programs, in_repository};
use lathe_workspace::models::Models;
use lathe_workspace::setup::Setup;
use lathe_workspace::trust;

/// More than a list on screen can show.
const MOST_MENTIONS: usize = 200;

impl Sessions {
    /// The agents that a person can prompt or mention.
    pub async fn agents(&self, project: &Project) -> Result<Vec<AgentView>> {
        let setup = self.core.workspace.setup_of(project).await;
        let default = setup.agents.default_name();
        let view = |agent| agent_view(agent, default);
        Ok(setup.agents.all().iter().filter_map(view).collect())
    }

    /// Completions for `@` and these letters, best first.
    pub async fn find_mentions(
        &self,
        project: &Project,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Mention>> {
        let setup = self.core.workspace.setup_of(project).await;
        Ok(self.mentions(project, &setup, query, limit).await)
    }

    /// The same for a session: a fork may have a worktree of its own.
    pub async fn find_mentions_in(
        &self,
        id: &SessionId,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Mention>> {
        let session = self.get(id).await?;
        let project = self.core.workspace.project_of(&session).await?;
        let setup = self.core.workspace.setup(&session, &project).await;
        Ok(self.mentions(&project, &setup, query, limit).await)
    }

    async fn mentions(
        &self,
        project: &Project,
        setup: &Setup,
        query: &str,
        limit: usize,
    ) -> Vec<Mention> {
        let (root, agents) = (Path::new(&project.worktree), setup.agents.all());
        let limit = limit.min(MOST_MENTIONS);
        self.core
            .workspace
            .finder()
            .find(root, agents, query, limit)
            .await
    }

    /// Whether the project's config, and what its repository makes git run, are trusted in the
    /// checkout that is open.
    pub async fn trust(&self, project: &Project) -> Result<TrustView> {
        let config = self.core.workspace.setup_of(project).await.trust.clone();
        let (worktree, programs) = self.git_programs(project).await;
        let decided = self.core.workspace.setups().decided(&worktree);
        Ok(trust::combined(config, programs, &decided))
    }

    async fn git_programs(&self, project: &Project) -> (PathBuf, Programs) {
        let worktree = PathBuf::from(&project.worktree);
        let programs = match in_repository(&worktree) {
            true => Git::programs(&worktree).await,
            false => Ok(Programs::default()),
        };
        let programs = programs.unwrap_or_else(|error| {
            // It runs nothing then.
            tracing::info!(%error, "git could not be asked what it would run");
            Programs::default()
        });
        (worktree, programs)
    }

    /// Trusts the project's files as they were shown, by the hash of [`TrustView`]; after any
    /// change the person is asked again. `None` removes the trust.
    pub async fn set_trust(&self, project: &Project, shown: Option<&str>) -> Result<TrustView> {
        let now = self.trust(project).await?.hash;
        if shown.is_some_and(|shown| shown != now) {
            return Err(Failed::refused(
                "The project’s settings have changed. Review them again.",
            ));
        }
        let worktree = Path::new(&project.worktree);
        let setups = self.core.workspace.setups();
        // Of the config and of git.
        let (config, git) = shown.and_then(|shown| shown.split_once('.')).unzip();
        let set = setups.set_trust(worktree, config.map(str::to_owned));
        let set = set.and_then(|()| setups.set_git_trust(worktree, git.map(str::to_owned)));
        set.map_err(unwritable)?;
        let trust = self.trust(project).await;
        self.core.workspace.mcp().start(&project.id);
        trust
    }

    /// Whether the agent may edit files of this project without asking.
    pub async fn set_project_edits(&self, project: &Project, allow: bool) -> Result<()> {
        let worktree = Path::new(&project.worktree);
        let set = self.core.workspace.setups().set_edits(worktree, allow);
        set.map_err(unwritable)
    }

    pub async fn project_edits(&self, project: &Project) -> bool {
        let worktree = Path::new(&project.worktree);
        self.core.workspace.setups().decided(worktree).edits
    }

    /// The problems in the config files.
    pub async fn config_problems(&self, project: &Project) -> Result<Vec<ConfigProblem>> {
        Ok(self.core.workspace.setup_of(project).await.problems.clone())
    }

    /// The same for a session: a folder of the project may have config files of its own.
    pub async fn config_problems_in(
        &self,
        project: &Project,
        directory: &Path,
    ) -> Vec<ConfigProblem> {
        self.core
            .workspace
            .setup_in(project, directory)
            .await
            .problems
            .clone()
    }

    /// The MCP servers of this project: the person's, and the project's own if it is trusted.
    pub async fn mcp_servers(&self, project: &Project) -> Vec<McpServer> {
        self.core.workspace.setup_of(project).await.mcp.clone()
    }

    pub async fn settings(&self, project: &Project) -> Settings {
        self.core.workspace.setup_of(project).await.settings.clone()
    }

    /// The models of a project, including its own if it is trusted.
    pub async fn models_of(&self, project: &Project) -> Arc<Models> {
        self.core.workspace.setup_of(project).await.models.clone()
    }

    /// The same for a session's folder.
    pub async fn models_in(&self, project: &Project, directory: &Path) -> Arc<Models> {
        self.core
            .workspace
            .setup_in(project, directory)
            .await
            .models
            .clone()
    }
}

pub(super) fn unwritable(error: std::io::Error) -> Failed {
    Failed::refused(format!("Couldn’t save the decision: {error}"))
}

fn agent_view(agent: &Agent, default: &str) -> Option<AgentView> {
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
        color: agent.color.clone(),
        model: agent.model.clone(),
        steps: agent.steps.map(|steps| Count(steps.into())),
        built_in: agent.is_built_in,
        default: agent.name == default,
    })
}
