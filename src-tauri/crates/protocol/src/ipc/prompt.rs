//! A prompt as the window sends it, and the suggestions for `@` mentions.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::Count;
use crate::message::ModelRef;
use crate::part::FilePartSource;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct PromptInput {
    pub text: String,
    pub agent: Option<String>,
    pub model: Option<ModelRef>,
    pub variant: Option<String>,
    /// Attachments, in the order in which the user added them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PromptFile>>", optional)]
    pub files: Vec<PromptFile>,
    /// The person agrees that everything a pending revert hides is deleted, also if that is more
    /// than the last turn.
    #[serde(rename = "discardReverted", default)]
    #[ts(as = "Option<bool>", optional)]
    pub discard_reverted: bool,
}

/// An attached file: a `data:` URL with its bytes, or a `file://` URL, where `?start=&end=`
/// selects lines.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct PromptFile {
    pub url: String,
    pub mime: Option<String>,
    pub filename: Option<String>,
    /// The place in the prompt that mentions it, if any.
    pub source: Option<FilePartSource>,
}

/// A suggestion for the text after an `@`. Paths are relative to the project's root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum Mention {
    File {
        path: String,
    },
    Directory {
        path: String,
    },
    /// Lines count from 1; `end_line` is inclusive.
    Symbol {
        name: String,
        symbol_kind: SymbolKind,
        /// `symbol_kind` as a number of the Language Server Protocol, as a part's source stores
        /// it.
        lsp_kind: Count,
        path: String,
        line: Count,
        end_line: Count,
    },
    Agent {
        name: String,
        description: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SymbolKind {
    Class,
    Constant,
    Enum,
    Function,
    Interface,
    Macro,
    Method,
    Module,
    Struct,
    Type,
}
