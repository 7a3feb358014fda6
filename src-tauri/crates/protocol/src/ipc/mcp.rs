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
    /// The trusted project whose config names it; nothing for the person's own.
    #[serde(rename = "projectID")]
    pub project_id: Option<ProjectId>,
    /// The command it is started with, or its address.
    pub address: String,
    pub status: McpStatus,
    pub tools: Vec<McpToolView>,
    pub error: Option<String>,
    /// What it said last, oldest first.
    pub log: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum McpStatus {
    Off,
    Starting,
    Ready,
    Failed,
    /// Ready, but some tools are not what they were and wait to be looked at.
    Changed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct McpToolView {
    pub name: String,
    pub description: String,
    pub changed: bool,
}

/// A server of the person's own, as the settings page hands it over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum McpServerInput {
    /// A program that is started and spoken to over its pipes.
    Local {
        command: Vec<String>,
        environment: BTreeMap<String, String>,
    },
    Remote {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// Something a server lets one attach to a prompt.
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
