//! What an opened card shows. It is too much to send with every part, so the window asks for it.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::view::{FileDiffView, Span};

/// A tool call in full, rendered.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ToolDetails {
    /// The arguments as indented JSON, or unchanged if they are not JSON.
    pub input: String,
    /// The output as plain text, for reading and copying. For a command that was stopped, what
    /// it had printed until then.
    pub output: String,
    /// The full error message.
    pub error: Option<String>,
    /// The output in the form that suits the tool; before there is an output, what the call
    /// would do.
    pub body: Option<ToolBody>,
    /// The tool's remark on its own output, for example that it was truncated.
    pub note: Option<String>,
    /// The file with the full output, if that was truncated.
    #[serde(rename = "wholeOutput")]
    pub whole_output: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ToolBody {
    /// Lines of one file; the first has the number `first`.
    Code {
        path: String,
        first: usize,
        lines: Vec<Vec<Span>>,
    },
    /// Search matches, grouped by file.
    Matches { files: Vec<MatchedFile> },
    /// Paths of files.
    Paths { paths: Vec<String> },
    /// A directory listing.
    Tree {
        root: String,
        entries: Vec<TreeEntry>,
    },
    /// Sanitised HTML, one string per block.
    Markdown { blocks: Vec<String> },
    /// Sanitised HTML of what a command printed, to be put inside a `pre`. `cut` means that only
    /// the end of a long output is here.
    Terminal { html: String, cut: bool },
    /// Changes, file by file.
    Diffs { files: Vec<FileDiffView> },
    /// Questions to the user, with the answers.
    Answers { questions: Vec<AnsweredQuestion> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AnsweredQuestion {
    pub question: String,
    /// Chosen or typed; empty if the user skipped the question.
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
    /// Matches of the pattern are marked.
    pub spans: Vec<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TreeEntry {
    pub depth: usize,
    pub name: String,
    /// Relative to the root of the tree.
    pub path: String,
    pub directory: bool,
}
