//! What a tool is: a typed input, an answer for the model, and a card for the person.
//!
//! Nothing here knows a particular tool, nor who calls it.

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
    /// What the model is told about it.
    const PROMPT: &'static str;
    const EFFECT: Effect = Effect::Independent;
    /// Whether its answer is cut already, in a way that suits it better than the common one.
    const CUTS_ITSELF: bool = false;
    type Input: DeserializeOwned + JsonSchema + Send;

    fn run(
        &self,
        input: Self::Input,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolFailure>> + Send;
}

/// Whether calls of one step may overlap, and whether the project is the same afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only looks at the project; runs beside any other call of the step.
    Looks,
    /// Runs beside any other call of the step.
    Independent,
    /// Changes files or runs commands: ordered calls run one after the other, as called.
    Ordered,
}

/// What a finished call gives: text for the model, the rest for its card.
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

/// A file that goes to the model as such (an image, a PDF). The caller gives it its ids.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    pub mime: String,
    pub filename: Option<String>,
    pub bytes: Vec<u8>,
    /// Where it comes from, if that is not a file.
    pub source: Option<FilePartSource>,
}

/// Why a call did not succeed, as the loop must tell the cases apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The model reads the text and the turn goes on. Also a rejection with a message.
    Failed,
    /// A rule denies it; the model reads so and the turn goes on.
    Denied,
    /// The user said no without a word: the turn stops.
    Rejected,
    /// The user closed the question without an answer.
    Dismissed,
    /// The turn was aborted while the call ran.
    Aborted,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct ToolFailure {
    pub kind: FailureKind,
    /// What the model reads.
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

/// A tool with its input type erased: what the registry holds and the loop calls. Tools whose
/// schema is only known at run time (MCP) implement this directly.
#[async_trait]
pub trait DynTool: Send + Sync {
    fn name(&self) -> &str;
    fn prompt(&self) -> &str;
    fn schema(&self) -> Value;
    fn effect(&self) -> Effect;
    /// Whether `input` fits the schema; the failure quotes what does not.
    fn check(&self, input: &Value) -> Result<(), ToolFailure>;
    /// The answer is cut to what a model may be given.
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
        Ok(if T::CUTS_ITSELF {
            output
        } else {
            truncate::bound(output, cx)
        })
    }
}
