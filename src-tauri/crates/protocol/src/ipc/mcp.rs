//! MCP servers, as the settings page shows them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::id::ProjectId;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct McpServerView {
    pub name: String,
    /// The trusted project that configures it; absent for a server of the user's own config.
    #[serde(rename = "projectID")]
    pub project_id: Option<ProjectId>,
    /// The command that starts it, or its URL.
    pub address: String,
    pub status: McpStatus,
    pub tools: Vec<McpToolView>,
    pub error: Option<String>,
    /// The last lines of its log, oldest first.
    pub log: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum McpStatus {
    Off,
    Starting,
    Ready,
    Failed,
    /// Ready, but the definition of some tools has changed and the user must accept it.
    Changed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct McpToolView {
    pub name: String,
    pub description: String,
    pub changed: bool,
}

/// A server of the user's own config, as the settings page sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum McpServerInput {
    /// A program that we start and talk to over stdin and stdout.
    Local {
        command: Vec<String>,
        environment: BTreeMap<String, String>,
        /// Runs once for each project, in its sandbox and without network.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        sandbox: Option<bool>,
    },
    Remote {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// A resource of a server that can be attached to a prompt.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct McpResourceView {
    pub server: String,
    pub uri: String,
    pub name: String,
    pub description: Option<String>,
    pub mime: Option<String>,
}
