//! The handles that turns and the public handle share.
//!
//! Code that needs only one of them is given only that one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_records::Records;
use lathe_records::clock::Clock;
use lathe_review::Review;
use lathe_tools::{Environment, FileReads, Registry};
use lathe_workspace::Workspace;
use parking_lot::Mutex;

use crate::active_sessions::ActiveSessions;
use crate::permission::Permissions;
use crate::pictures::Pictures;
use crate::question::QuestionBroker;
use crate::title::Titles;

pub struct Core {
    pub records: Records,
    pub workspace: Workspace,
    pub review: Arc<Review>,
    pub active: ActiveSessions,
    pub permissions: Permissions,
    pub questions: QuestionBroker,
    pub tools: ToolBox,
    pub pictures: Pictures,
    pub titles: Titles,
    pub data_dir: PathBuf,
}

/// What tool calls run with.
pub struct ToolBox {
    pub built_in: Registry,
    pub environment: Arc<Environment>,
    /// The files that each session has read.
    reads: Mutex<HashMap<SessionId, Arc<FileReads>>>,
    output_dir: PathBuf,
}

impl ToolBox {
    pub fn new(built_in: Registry, environment: Arc<Environment>, output_dir: PathBuf) -> Self {
        ToolBox {
            built_in,
            environment,
            reads: Mutex::default(),
            output_dir,
        }
    }

    pub fn reads_of(&self, session: &SessionId) -> Arc<FileReads> {
        self.reads
            .lock()
            .entry(session.clone())
            .or_default()
            .clone()
    }

    /// The folder for complete results that were too long for the model.
    pub fn output_dir(&self) -> PathBuf {
        self.output_dir.clone()
    }
}

/// The session's clock for tools.
pub struct ToolClock(pub Arc<dyn Clock>);

impl lathe_tools::context::Clock for ToolClock {
    fn now_ms(&self) -> i64 {
        self.0.now().0
    }
}
