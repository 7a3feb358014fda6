//! The host of tools that run for a prompt instead of a call of the model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{MessageId, Project, Question, Session, Todo};
use lathe_tools::context::{AgentSwitch, MayRead};
use lathe_tools::{
    CallIds, CommandAsk, Host, PermissionAsk, Progress, Refusal, RunPermit, TaskRequest,
    TaskResult, ToolContext, ToolFailure,
};
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::core::ToolClock;
use lathe_permission::{Authority, Gate, needs_of, unless_denied};

pub enum PromptHost {
    /// The person named the file themselves: everything but a denial is allowed.
    Granted {
        core: Arc<Core>,
        authority: Arc<Authority>,
    },
    Asking(Gate),
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
        match self {
            PromptHost::Asking(gate) => gate.ask(ask).await,
            PromptHost::Granted { core, authority } => {
                let root = authority.checkout.folder();
                let needs = needs_of(&ask, root, core.tools.environment.home());
                unless_denied(authority, &needs)
            }
        }
    }

    async fn ask_to_run(&self, command: CommandAsk) -> Result<RunPermit, ToolFailure> {
        match self {
            PromptHost::Asking(gate) => gate.ask_to_run(command).await,
            PromptHost::Granted { .. } => Err(not_here()),
        }
    }

    async fn ask_to_leave_sandbox(
        &self,
        command: CommandAsk,
        refusal: Refusal,
    ) -> Result<RunPermit, ToolFailure> {
        match self {
            PromptHost::Asking(gate) => gate.ask_to_leave_sandbox(command, refusal).await,
            PromptHost::Granted { .. } => Err(not_here()),
        }
    }

    async fn may_read(&self) -> Result<MayRead, ToolFailure> {
        match self {
            PromptHost::Asking(gate) => gate.may_read().await,
            PromptHost::Granted { .. } => Err(not_here()),
        }
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
    ToolFailure::failed("This can’t be done before the prompt is sent.")
}
