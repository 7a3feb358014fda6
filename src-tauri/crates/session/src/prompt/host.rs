//! The host of tools that run for a prompt instead of a call of the model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{
    Extra, MessageId, PermissionRequest, Project, ProjectId, Question, Ruleset, Session, SessionId,
    Todo,
};
use lathe_tools::context::{AgentSwitch, MayRead};
use lathe_tools::{
    CallIds, CommandAsk, Environment, Host, PermissionAsk, Progress, TaskRequest, TaskResult,
    ToolContext, ToolFailure,
};
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::core::ToolClock;
use crate::permission::{Inquiry, asks_for_command, disk_paths, unless_denied};

pub struct PromptHost {
    rules: Ruleset,
    root: PathBuf,
    environment: Arc<Environment>,
    /// `None` when the person named the file themselves: everything but a denial is allowed.
    asking: Option<Asking>,
}

struct Asking {
    core: Arc<Core>,
    session: SessionId,
    project: ProjectId,
}

impl PromptHost {
    pub fn granted(core: &Core, project: &Project, rules: Ruleset) -> Self {
        PromptHost {
            rules,
            root: PathBuf::from(&project.worktree),
            environment: core.tools.environment.clone(),
            asking: None,
        }
    }

    pub fn asking(core: &Arc<Core>, session: &Session, project: &Project, rules: Ruleset) -> Self {
        let asking = Some(Asking {
            core: core.clone(),
            session: session.id.clone(),
            project: project.id.clone(),
        });
        PromptHost {
            asking,
            ..PromptHost::granted(core, project, rules)
        }
    }
}

/// The context of a tool that runs before there is a turn.
pub fn tool_context(
    core: &Arc<Core>,
    session: &Session,
    project: &Project,
    message: MessageId,
    host: PromptHost,
) -> ToolContext {
    ToolContext {
        root: PathBuf::from(&project.worktree),
        cwd: PathBuf::from(&session.directory),
        call: CallIds {
            session: session.id.clone(),
            message,
            call: "prompt".to_owned(),
        },
        cancel: CancellationToken::new(),
        reads: core.tools.reads_of(&session.id),
        output_dir: core.tools.output_dir(),
        environment: core.tools.environment.clone(),
        clock: Arc::new(ToolClock(core.records.clock().clone())),
        host: Arc::new(host),
    }
}

#[async_trait]
impl Host for PromptHost {
    async fn ask(&self, ask: PermissionAsk) -> Result<(), ToolFailure> {
        let Some(asking) = &self.asking else {
            return unless_denied(&self.rules, &ask.permission, &ask.patterns);
        };
        let records = &asking.core.records;
        let request = PermissionRequest {
            id: records.ids().permission(records.now()),
            session_id: asking.session.clone(),
            permission: ask.permission,
            patterns: ask.patterns,
            metadata: ask.metadata,
            always: if ask.opaque { Vec::new() } else { ask.always },
            tool: None,
            extra: Extra::default(),
        };
        let inquiry = Inquiry {
            project: &asking.project,
            rules: &self.rules,
            request,
            opaque: ask.opaque,
        };
        asking.core.permissions.broker.ask(inquiry).await
    }

    async fn ask_to_run(&self, command: CommandAsk) -> Result<(), ToolFailure> {
        let paths = disk_paths(&self.root, &self.environment);
        for ask in asks_for_command(&command, &paths) {
            self.ask(ask).await?;
        }
        Ok(())
    }

    /// Only calls of the model search.
    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        Err(not_here())
    }

    fn progress(&self, _: Progress) {}

    async fn question(&self, _: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure> {
        Err(not_here())
    }

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure> {
        Err(not_here())
    }

    async fn set_todos(&self, _: Vec<Todo>) -> Result<(), ToolFailure> {
        Err(not_here())
    }

    async fn spawn_task(&self, _: TaskRequest) -> Result<TaskResult, ToolFailure> {
        Err(not_here())
    }

    async fn switch_agent(&self, _: AgentSwitch) -> Result<(), ToolFailure> {
        Err(not_here())
    }

    async fn ensure_writable(&self) -> Result<(), ToolFailure> {
        Ok(())
    }

    async fn file_edited(&self, _: &Path) {}
}

fn not_here() -> ToolFailure {
    ToolFailure::failed("This cannot be done before the prompt is sent.")
}
