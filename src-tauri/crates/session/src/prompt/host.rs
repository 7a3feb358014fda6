//! Whom a tool asks when it runs for a prompt instead of a call of the model's.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use lathe_protocol::{Question, Todo};
use lathe_tools::{Host, PermissionAsk, Progress, TaskRequest, TaskResult, ToolFailure};

/// The person named the file themselves: that is the permission.
pub struct Granted;

impl Granted {
    pub fn host() -> Arc<dyn Host> {
        Arc::new(Granted)
    }
}

#[async_trait]
impl Host for Granted {
    async fn ask(&self, _: PermissionAsk) -> Result<(), ToolFailure> {
        Ok(())
    }

    fn progress(&self, _: Progress) {}

    async fn question(&self, _: Vec<Question>) -> Result<Vec<Vec<String>>, ToolFailure> {
        Err(only_reads())
    }

    async fn todos(&self) -> Result<Vec<Todo>, ToolFailure> {
        Err(only_reads())
    }

    async fn set_todos(&self, _: Vec<Todo>) -> Result<(), ToolFailure> {
        Err(only_reads())
    }

    async fn spawn_task(&self, _: TaskRequest) -> Result<TaskResult, ToolFailure> {
        Err(only_reads())
    }

    async fn ensure_writable(&self) -> Result<(), ToolFailure> {
        Err(only_reads())
    }

    async fn file_edited(&self, _: &Path) {}
}

fn only_reads() -> ToolFailure {
    ToolFailure::failed("A prompt only reads.")
}
