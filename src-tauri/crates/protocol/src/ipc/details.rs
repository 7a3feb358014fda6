//! What a card shows once it is opened: too much to push, so the window asks for it.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::view::{FileDiffView, Span};

/// A tool call in full. Drawn and thrown away, like everything rendered.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ToolDetails {
    /// The arguments, as indented JSON; as they came where they are not JSON.
    pub input: String,
    /// The output as plain text, to be read as it is or copied. Of a command that was broken off,
    /// what it had printed.
    pub output: String,
    /// Why it failed, in full.
    pub error: Option<String>,
    /// The output, drawn as suits the tool; before there is one, what the call would do.
    pub body: Option<ToolBody>,
    /// What the tool says of its own output: that it is cut, where the rest is.
    pub note: Option<String>,
    /// A file that holds all of an output that was cut.
    #[serde(rename = "wholeOutput")]
    pub whole_output: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ToolBody {
    /// Lines of one file, the first of them number `first`.
    Code {
        path: String,
        first: usize,
        lines: Vec<Vec<Span>>,
    },
    /// Found lines, by file.
    Matches { files: Vec<MatchedFile> },
    /// Paths of files.
    Paths { paths: Vec<String> },
    /// What lies below a directory.
    Tree {
        root: String,
        entries: Vec<TreeEntry>,
    },
    /// Sanitised HTML, one string per block.
    Markdown { blocks: Vec<String> },
    /// Sanitised HTML of what a command printed, to be put inside a `pre`.
    /// Of much output it is the end; `cut` says that something came before.
    Terminal { html: String, cut: bool },
    /// What was changed, file by file.
    Diffs { files: Vec<FileDiffView> },
    /// What a person was asked and said.
    Answers { questions: Vec<AnsweredQuestion> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AnsweredQuestion {
    pub question: String,
    /// Chosen or typed; none where the person passed over it.
    pub answers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MatchedFile {
    pub path: String,
    pub lines: Vec<MatchedLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MatchedLine {
    pub number: usize,
    /// What was looked for is marked.
    pub spans: Vec<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TreeEntry {
    pub depth: usize,
    pub name: String,
    /// From the root of the tree.
    pub path: String,
    pub directory: bool,
}
