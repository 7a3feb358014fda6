//! What a project's config asks for, and whether the user trusts it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustView {
    pub state: TrustState,
    /// What is ignored while the project is not trusted.
    pub wants: Vec<TrustWant>,
    /// The hash of the config files as they were shown. It is sent back with the answer, so
    /// that exactly what was shown is trusted.
    pub hash: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    Trusted,
    Untrusted,
    /// The project was trusted, but a config file has changed since: ask again.
    Changed,
    /// The project's config asks for nothing that needs trust.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustWant {
    pub kind: WantKind,
    /// One line to show to the user.
    pub text: String,
    /// Relative to the project's root.
    pub file: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum WantKind {
    /// Start an MCP server.
    Mcp,
    /// Choose where prompts are sent.
    Provider,
    /// Choose the model.
    Model,
    /// Run a shell command as part of a `/` command.
    Command,
    /// Allow actions that would otherwise need permission.
    Permission,
    /// Add files to the model's instructions.
    Instructions,
    /// Read values from environment variables or files.
    Substitution,
    /// Let git run programs, or use settings that may.
    Git,
    /// Any other setting.
    Setting,
}

/// A setting in a config file that could not be used.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ConfigProblem {
    pub file: String,
    /// The line of the setting, from 1, if it is known.
    pub line: Option<u32>,
    /// The path of keys to the setting, joined by dots; empty for the whole file.
    pub key: String,
    pub message: String,
}

/// `file:line: key: message`, as compilers print it.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}
