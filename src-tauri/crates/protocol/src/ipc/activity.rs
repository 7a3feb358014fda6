//! What all sessions are doing, for a window that has seen none of the events before.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::event::SessionStatus;
use crate::id::SessionId;
use crate::permission::PermissionRequest;
use crate::question::QuestionRequest;
use crate::session::Session;

/// The state of all sessions at one moment. It replaces what a window knew of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Activity {
    /// Sessions that are worked on; all others are idle.
    pub statuses: HashMap<SessionId, SessionStatus>,
    /// Requests that wait for an answer, oldest first.
    pub permissions: Vec<PermissionRequest>,
    pub questions: Vec<QuestionRequest>,
    /// Sessions whose last turn failed, of those that worked since the program was started.
    pub failed: Vec<SessionId>,
    /// The sessions named above and their parents, in no order. The window may not have listed
    /// their projects yet, and a request of a task is answered in the session at the top.
    pub sessions: Vec<Session>,
}
