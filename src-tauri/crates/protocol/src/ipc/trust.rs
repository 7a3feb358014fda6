//! What a project's own files would like to do, and whether the person lets them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustView {
    pub state: TrustState,
    /// What is held back, or would be if the project were not trusted.
    pub wants: Vec<TrustWant>,
    /// Of the files that say so, as they were looked at: what is trusted is what was shown.
    pub hash: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TrustState {
    Trusted,
    Untrusted,
    /// It was trusted, and then one of the files changed: ask again.
    Changed,
    /// There is nothing that would need trust.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustWant {
    pub kind: WantKind,
    /// One line for a person.
    pub text: String,
    /// Relative to the project's root.
    pub file: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum WantKind {
    /// Run a program of its own beside us.
    Mcp,
    /// Say where prompts are sent.
    Provider,
    /// Choose the model.
    Model,
    /// Run a shell command as part of a `/` command.
    Command,
    /// Allow what would be asked for.
    Permission,
    /// Put more files before the model.
    Instructions,
    /// Take values from the environment or from files.
    Substitution,
    /// Any other setting.
    Setting,
}

/// Something in a config file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConfigProblem {
    pub file: String,
    /// Keys down to the place, joined by dots; empty where the whole file is meant.
    pub key: String,
    pub message: String,
}
