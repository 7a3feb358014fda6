//! How much the agent may do without a question, and what it may spend.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::PermissionMode;

/// The mode of a project, and whether this machine can hold the promise of each mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModeView {
    pub mode: PermissionMode,
    pub sandbox: SandboxView,
}

/// What confines commands on this machine.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SandboxView {
    /// Its name; none where no sandbox works.
    pub engine: Option<String>,
    /// Why there is none, as a sentence.
    pub unavailable: Option<String>,
    /// What this sandbox cannot promise, each as a sentence.
    pub not_covered: Vec<String>,
}

/// Where a turn pauses and asks. None is no limit.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct Limits {
    /// In dollars, for one session and the tasks it started.
    pub session_cost: Option<f64>,
    /// In dollars, for all sessions of one day.
    pub day_cost: Option<f64>,
    /// API calls in one turn.
    pub turn_steps: Option<u32>,
    pub turn_minutes: Option<u32>,
}
