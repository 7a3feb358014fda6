//! What a person hands over with a prompt, and what `@` offers while they type it.

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
    /// Attachments, in the order in which the person gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PromptFile>>", optional)]
    pub files: Vec<PromptFile>,
}

/// Something attached: `data:` with its bytes, or `file://`, where `?start=&end=` names lines.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct PromptFile {
    pub url: String,
    pub mime: Option<String>,
    pub filename: Option<String>,
    /// Which words of the prompt name it, where any do.
    pub source: Option<FilePartSource>,
}

/// What could be meant by what stands after an `@`. Paths are relative to the project's root.
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
    /// Lines count from 1; the last one belongs to it.
    Symbol {
        name: String,
        symbol_kind: SymbolKind,
        /// The same as a number of the Language Server Protocol, as a part's source has it.
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
