//! The way from what a tool asks for to a decision: needs are worked out, rules and modes decide,
//! and a person answers what they leave open.

use std::path::PathBuf;
use std::sync::Arc;

use lathe_policy::decision::{Mode, Need};
use lathe_policy::names::EXTERNAL_DIRECTORY;
use lathe_protocol::{CommandDanger, Map, Project, Session, SessionId, ToolRef};
use lathe_tools::context::MayRead;
use lathe_tools::{CommandAsk, PermissionAsk, Refusal, Refused, RunPermit, ToolFailure, text};
use lathe_workspace::confinement::SandboxGrants;
use lathe_workspace::paths::DiskPaths;

use super::needs::{
    CommandNeeds, grants, needs_of, needs_of_command, needs_to_leave_sandbox, standing_grants,
};
use super::{Allowed, Authority, Inquiry, Permissions};

/// The key of what a revert will not cover, in the metadata of requests and calls.
pub const NOT_COVERED: &str = "notCovered";
const OUTSIDE_IS_NOT_COVERED: &str = "What it changes outside of the project can’t be reverted";

/// Asks in the name of one session.
#[derive(Clone)]
pub struct Gate {
    permissions: Arc<Permissions>,
    authority: Arc<Authority>,
    session: SessionId,
    root: PathBuf,
    tool: Option<ToolRef>,
}

impl Gate {
    pub fn new(
        permissions: &Arc<Permissions>,
        authority: Arc<Authority>,
        session: &Session,
        project: &Project,
        tool: Option<ToolRef>,
    ) -> Self {
        Gate {
            permissions: permissions.clone(),
            authority,
            session: session.id.clone(),
            root: PathBuf::from(&project.worktree),
            tool,
        }
    }

    /// Returns when everything in the list is allowed.
    pub async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        let needs = needs_of(&ask, &self.root, self.permissions.environment.home());
        self.inquire(needs, Vec::new(), ask.metadata)
            .await
            .map(drop)
    }

    /// Returns when a command may run, and how.
    pub async fn ask_to_run(&self, command: CommandAsk) -> Result<RunPermit, ToolFailure> {
        let mode = self.authority.mode;
        let CommandNeeds {
            needs,
            dangers,
            grants,
        } = self.analyse(&command).await?;
        let mut metadata = command.metadata;
        if needs
            .iter()
            .any(|need| need.permission == EXTERNAL_DIRECTORY)
        {
            let none = || Vec::<String>::new().into();
            let listed = metadata.entry(NOT_COVERED).or_insert_with(none);
            if let Some(sentences) = listed.as_array_mut() {
                sentences.push(OUTSIDE_IS_NOT_COVERED.into());
            }
        }
        let allowed = self.inquire(needs, dangers, metadata).await?;
        match (mode, allowed) {
            // A rule says that it need not be asked about. In Auto, the files that it runs were
            // changed without a question, so only a yes to this very call takes it out.
            (Mode::Auto { .. }, Allowed::Rules | Allowed::Mode) => self.confine(grants).await,
            _ => Ok(RunPermit::Free),
        }
    }

    /// Returns when a command that the sandbox stopped may run again, and how.
    pub async fn ask_to_leave_sandbox(
        &self,
        command: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure> {
        let home = self.permissions.environment.home();
        let needs = needs_to_leave_sandbox(&command, &refusal, &self.root, home);
        // What it was granted at first, it still needs.
        let first = self.analyse(&command).await?.grants;
        let mut metadata = command.metadata;
        metadata.insert("refused".to_owned(), refusal.text.clone().into());
        metadata.insert("hosts".to_owned(), hosts(&refusal).into());
        self.inquire(needs, Vec::new(), metadata).await?;
        match grants(&refusal.refused, &self.root, home) {
            Some(more) => self.confine(first.and(more)).await,
            None => Ok(RunPermit::Free),
        }
    }

    /// Which files may be read without a question.
    pub async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        let may_read = self.permissions.broker.may_read(&self.authority).await;
        may_read.map_err(failed)
    }

    async fn inquire(
        &self,
        needs: Vec<Need>,
        dangers: Vec<CommandDanger>,
        metadata: Map,
    ) -> Result<Allowed, ToolFailure> {
        let inquiry = Inquiry {
            authority: self.authority.clone(),
            session: self.session.clone(),
            tool: self.tool.clone(),
            needs,
            dangers,
            metadata,
        };
        self.permissions.broker.ask(inquiry).await
    }

    /// On a thread that may block, because the analysis looks at files of the project.
    async fn analyse(&self, command: &CommandAsk) -> Result<CommandNeeds, ToolFailure> {
        let may_read = self.may_read().await?;
        let environment = self.permissions.environment.clone();
        let (root, ask) = (self.root.clone(), command.clone());
        let analysed = tokio::task::spawn_blocking(move || {
            let paths = DiskPaths {
                root: &root,
                home: environment.home(),
                may_read: &*may_read,
            };
            needs_of_command(&ask, &paths)
        });
        let analysed = analysed.await;
        analysed.map_err(|_| ToolFailure::failed("The command couldn’t be analysed."))
    }

    /// A sandbox that is open for these grants and for what the person allowed before.
    async fn confine(&self, grants: SandboxGrants) -> Result<RunPermit, ToolFailure> {
        let broker = &self.permissions.broker;
        let approved = broker.approved_for(&self.authority).await.map_err(failed)?;
        let open = standing_grants(&approved).and(grants);
        let sandbox = self.permissions.workspace.sandbox();
        let may_read = self.authority.may_be_read_by_any(&approved);
        let variables = self.permissions.environment.variables().await;
        let confined = sandbox.confine(&self.root, open, may_read, variables).await;
        confined.map(RunPermit::Confined).map_err(|why| {
            ToolFailure::failed(format!("The command couldn’t be put in a sandbox: {why}"))
        })
    }
}

/// The hosts that it wanted to reach, as far as its output has their names.
fn hosts(refusal: &Refusal) -> Vec<String> {
    let named = refusal.refused.iter().filter_map(|one| match one {
        Refused::Network(host) => host.as_deref(),
        _ => None,
    });
    named.map(text::visible).collect()
}

fn failed(error: lathe_records::Failed) -> ToolFailure {
    ToolFailure::failed(error.to_string())
}
