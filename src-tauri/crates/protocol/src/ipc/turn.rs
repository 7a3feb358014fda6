//! What the window is told about the turn under way.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How full the model's context is, in tokens. Zero limits mean that nobody knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    /// What the newest step took.
    pub used: u64,
    /// What may be taken before the session is summed up.
    pub usable: u64,
    /// The model's whole context.
    pub limit: u64,
    /// The next step sums the session up first.
    pub will_compact: bool,
}
