//! The tool interface: a typed input, a result for the model, and a card for the person.
//!
//! Nothing here depends on a particular tool or on the caller.

use std::future::Future;

use async_trait::async_trait;
use lathe_protocol::FilePartSource;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::context::ToolContext;
use crate::schema;
use crate::truncate;

/// Something the model may ask us to do.
///
/// A tool never touches the session: progress, permission and files all go through
/// [`ToolContext`]. A failure is text for the model to read, not our caller's error.
pub trait Tool: Send + Sync + 'static {
    const NAME: &'static str;
    /// The description for the model.
    const PROMPT: &'static str;
    const EFFECT: Effect = Effect::Independent;
    /// Whether the tool truncates its result itself, instead of the common truncation.
    const TRUNCATES_ITSELF: bool = false;
    type Input: DeserializeOwned + JsonSchema + Send;

    fn run(
        &self,
        input: Self::Input,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolFailure>> + Send;
}

/// Whether calls of one step may run in parallel, and whether they may change the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads the project; runs in parallel with any other call of the step.
    ReadOnly,
    /// Runs in parallel with any other call of the step.
    Independent,
    /// Changes files or runs commands: ordered calls run one after the other.
    Ordered,
}

/// The result of a call: text for the model, and data for its card.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    pub title: String,
    pub output: String,
    pub metadata: Map<String, Value>,
    pub attachments: Vec<Attachment>,
}

impl ToolOutput {
    pub fn new(title: impl Into<String>, output: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            output: output.into(),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

/// A file that is sent to the model (an image, a PDF). The caller assigns its ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    pub mime: String,
    pub filename: Option<String>,
    pub bytes: Vec<u8>,
    /// The source, if it is not a file.
    pub source: Option<FilePartSource>,
}

/// Why a call failed. The turn handles each case differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The text goes to the model and the turn continues.
    Failed,
    /// Denied by a rule, or rejected by the user with a message: the model gets the text and the
    /// turn continues.
    Denied,
    /// The user rejected it without a message: the turn stops.
    Rejected,
    /// It was never started, because the user rejected another call of the same step.
    NotRun,
    /// The user dismissed the question without an answer.
    Dismissed,
    /// The turn was aborted while the call ran.
    Aborted,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ToolFailure {
    pub kind: FailureKind,
    /// The text for the model.
    pub text: String,
    pub metadata: Map<String, Value>,
}

impl ToolFailure {
    pub fn failed(text: impl Into<String>) -> Self {
        Self::of(FailureKind::Failed, text)
    }

    pub fn denied(text: impl Into<String>) -> Self {
        Self::of(FailureKind::Denied, text)
    }

    pub fn rejected() -> Self {
        Self::of(FailureKind::Rejected, "The user rejected this tool call.")
    }

    pub fn not_run() -> Self {
        Self::of(
            FailureKind::NotRun,
            "This call was not run, because the user rejected another call of the same step.",
        )
    }

    pub fn dismissed() -> Self {
        Self::of(
            FailureKind::Dismissed,
            "The user dismissed the question without an answer.",
        )
    }

    pub fn aborted() -> Self {
        Self::of(FailureKind::Aborted, "Tool execution aborted")
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    fn of(kind: FailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            metadata: Map::new(),
        }
    }
}

/// A tool with its input type erased, as the registry stores it. Tools whose schema is only known
/// at run time (MCP) implement this directly.
#[async_trait]
pub trait DynTool: Send + Sync {
    fn name(&self) -> &str;
    fn prompt(&self) -> &str;
    fn schema(&self) -> Value;
    fn effect(&self) -> Effect;
    /// Checks `input` against the schema; the failure quotes the wrong part.
    fn check(&self, input: &Value) -> Result<(), ToolFailure>;
    /// Runs the call. The result is truncated for the model.
    async fn call(&self, input: Value, cx: &ToolContext) -> Result<ToolOutput, ToolFailure>;
}

#[async_trait]
impl<T: Tool> DynTool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn prompt(&self) -> &str {
        T::PROMPT
    }

    fn schema(&self) -> Value {
        schema::for_model::<T::Input>()
    }

    fn effect(&self) -> Effect {
        T::EFFECT
    }

    fn check(&self, input: &Value) -> Result<(), ToolFailure> {
        schema::parse::<T::Input>(T::NAME, input.clone()).map(|_| ())
    }

    async fn call(&self, input: Value, cx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let input = schema::parse::<T::Input>(T::NAME, input)?;
        let output = self.run(input, cx).await?;
        Ok(if T::TRUNCATES_ITSELF {
            output
        } else {
            truncate::bound(output, cx)
        })
    }
}
