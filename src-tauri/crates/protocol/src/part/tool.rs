//! A tool call and the states it goes through.

mod shorten;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::FilePart;
use crate::id::{MessageId, PartId, SessionId};
use crate::json::{Extra, Map, Millis};

/// The state is private: it changes only through the methods below.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ToolPart {
    pub id: PartId,
    #[serde(rename = "sessionID")]
    pub session_id: SessionId,
    #[serde(rename = "messageID")]
    pub message_id: MessageId,
    #[serde(rename = "callID")]
    pub call_id: String,
    pub tool: String,
    state: ToolState,
    #[ts(type = "Record<string, unknown>", optional)]
    pub metadata: Option<Map>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// A tool call only moves forward: pending → running → completed | error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolState {
    Pending(ToolPending),
    Running(ToolRunning),
    Completed(ToolCompleted),
    Error(ToolError),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolPending {
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub input: Map,
    /// The arguments as they stream in.
    #[serde(default)]
    pub raw: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ToolRunning {
    #[ts(type = "Record<string, unknown>")]
    pub input: Map,
    pub title: Option<String>,
    #[ts(type = "Record<string, unknown>", optional)]
    pub metadata: Option<Map>,
    pub time: ToolRunningTime,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolRunningTime {
    pub start: Millis,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ToolCompleted {
    #[ts(type = "Record<string, unknown>")]
    pub input: Map,
    pub output: String,
    pub title: String,
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub metadata: Map,
    pub time: ToolCompletedTime,
    pub attachments: Option<Vec<FilePart>>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ToolCompletedTime {
    pub start: Millis,
    pub end: Millis,
    /// When the output was removed from the model's context; the user still sees it.
    pub compacted: Option<Millis>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct ToolError {
    #[ts(type = "Record<string, unknown>")]
    pub input: Map,
    pub error: String,
    #[ts(type = "Record<string, unknown>", optional)]
    pub metadata: Option<Map>,
    pub time: ToolErrorTime,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ToolErrorTime {
    pub start: Millis,
    pub end: Millis,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// A state change that would move a tool call backwards or end it twice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tool call cannot go from {from} to {to}")]
pub struct InvalidTransition {
    pub from: &'static str,
    pub to: &'static str,
}

impl ToolState {
    pub fn name(&self) -> &'static str {
        match self {
            ToolState::Pending(_) => "pending",
            ToolState::Running(_) => "running",
            ToolState::Completed(_) => "completed",
            ToolState::Error(_) => "error",
        }
    }

    pub fn input(&self) -> &Map {
        match self {
            ToolState::Pending(state) => &state.input,
            ToolState::Running(state) => &state.input,
            ToolState::Completed(state) => &state.input,
            ToolState::Error(state) => &state.input,
        }
    }

    pub fn is_settled(&self) -> bool {
        matches!(self, ToolState::Completed(_) | ToolState::Error(_))
    }
}

impl ToolPart {
    /// The error of a call that was aborted.
    pub const ABORTED: &str = "Tool execution aborted";

    pub fn pending(
        id: PartId,
        session_id: SessionId,
        message_id: MessageId,
        call_id: impl Into<String>,
        tool: impl Into<String>,
    ) -> Self {
        ToolPart {
            id,
            session_id,
            message_id,
            call_id: call_id.into(),
            tool: tool.into(),
            state: ToolState::Pending(ToolPending::default()),
            metadata: None,
            extra: Extra::default(),
        }
    }

    pub fn state(&self) -> &ToolState {
        &self.state
    }

    /// The files that a completed call returned.
    pub fn attachments(&self) -> &[FilePart] {
        match &self.state {
            ToolState::Completed(done) => done.attachments.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// Appends arguments that have streamed in.
    pub fn receive(&mut self, raw: &str) -> Result<(), InvalidTransition> {
        match &mut self.state {
            ToolState::Pending(pending) => {
                pending.raw.push_str(raw);
                Ok(())
            }
            other => Err(InvalidTransition {
                from: other.name(),
                to: "pending",
            }),
        }
    }

    pub fn start(&mut self, input: Map, now: Millis) -> Result<(), InvalidTransition> {
        self.require(&["pending"], "running")?;
        self.state = ToolState::Running(ToolRunning {
            input,
            title: None,
            metadata: None,
            time: ToolRunningTime {
                start: now,
                extra: Extra::default(),
            },
            extra: Extra::default(),
        });
        Ok(())
    }

    /// Updates what the card of a running call shows.
    pub fn progress(
        &mut self,
        title: Option<String>,
        metadata: Map,
    ) -> Result<(), InvalidTransition> {
        match &mut self.state {
            ToolState::Running(running) => {
                running.title = title.or(running.title.take());
                running.metadata.get_or_insert_default().extend(metadata);
                Ok(())
            }
            other => Err(InvalidTransition {
                from: other.name(),
                to: "running",
            }),
        }
    }

    pub fn complete(
        &mut self,
        output: String,
        title: String,
        metadata: Map,
        attachments: Vec<FilePart>,
        now: Millis,
    ) -> Result<(), InvalidTransition> {
        self.require(&["running"], "completed")?;
        let start = self.started(now);
        self.state = ToolState::Completed(ToolCompleted {
            input: self.state.input().clone(),
            output,
            title,
            metadata,
            time: ToolCompletedTime {
                start,
                end: now.max(start),
                compacted: None,
                extra: Extra::default(),
            },
            attachments: (!attachments.is_empty()).then_some(attachments),
            extra: Extra::default(),
        });
        Ok(())
    }

    /// A call may also fail before it ran: because of its arguments, or because the turn ended.
    pub fn fail(
        &mut self,
        error: String,
        metadata: Option<Map>,
        now: Millis,
    ) -> Result<(), InvalidTransition> {
        self.require(&["pending", "running"], "error")?;
        let start = self.started(now);
        let progress = match &mut self.state {
            ToolState::Running(running) => running.metadata.take(),
            _ => None,
        };
        let metadata = match (progress, metadata) {
            (Some(mut progress), Some(new)) => {
                progress.extend(new);
                Some(progress)
            }
            (progress, new) => new.or(progress),
        };
        let (input, raw) = match &mut self.state {
            ToolState::Pending(pending) => (
                std::mem::take(&mut pending.input),
                std::mem::take(&mut pending.raw),
            ),
            other => (other.input().clone(), String::new()),
        };
        let mut extra = Extra::default();
        // What the model sent must stay readable even if it is not JSON.
        if input.is_empty() && !raw.is_empty() {
            extra.0.insert("raw".into(), raw.into());
        }
        self.state = ToolState::Error(ToolError {
            input,
            error,
            metadata,
            time: ToolErrorTime {
                start,
                end: now.max(start),
                extra: Extra::default(),
            },
            extra,
        });
        Ok(())
    }

    /// Ends a call that will get no answer. A call that has ended already stays as it is, and
    /// the result is false.
    pub fn abort(&mut self, now: Millis) -> bool {
        self.fail(Self::ABORTED.to_owned(), None, now).is_ok()
    }

    /// Marks the output as removed from the model's context. Only a completed call has one.
    pub fn compact(&mut self, now: Millis) -> bool {
        match &mut self.state {
            ToolState::Completed(done) if done.time.compacted.is_none() => {
                done.time.compacted = Some(now);
                true
            }
            _ => false,
        }
    }

    fn started(&self, now: Millis) -> Millis {
        match &self.state {
            ToolState::Running(running) => running.time.start,
            _ => now,
        }
    }

    fn require(&self, from: &[&str], to: &'static str) -> Result<(), InvalidTransition> {
        let name = self.state.name();
        if from.contains(&name) {
            Ok(())
        } else {
            Err(InvalidTransition { from: name, to })
        }
    }
}
