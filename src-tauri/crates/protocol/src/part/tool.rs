//! A tool call and its life.

mod light;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use super::FilePart;
use crate::id::{MessageId, PartId, SessionId};
use crate::json::{Extra, Map, Millis};

/// The state is private: it changes only through the moves below.
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
    /// When the output was taken out of the model's sight; the text stays for the person.
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

/// A move that would take a tool call backwards, or twice through its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tool call cannot go from {from} to {to}")]
pub struct BackwardMove {
    pub from: &'static str,
    pub to: &'static str,
}

/// How a call that got no answer of its own is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    Aborted,
}

impl Unanswered {
    pub fn text(self) -> &'static str {
        match self {
            Unanswered::Aborted => "Tool execution aborted",
        }
    }
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

    /// What a completed call brought along.
    pub fn attachments(&self) -> &[FilePart] {
        match &self.state {
            ToolState::Completed(done) => done.attachments.as_deref().unwrap_or_default(),
            _ => &[],
        }
    }

    /// More of the arguments arrived.
    pub fn receive(&mut self, raw: &str) -> Result<(), BackwardMove> {
        match &mut self.state {
            ToolState::Pending(pending) => {
                pending.raw.push_str(raw);
                Ok(())
            }
            other => Err(BackwardMove {
                from: other.name(),
                to: "pending",
            }),
        }
    }

    pub fn start(&mut self, input: Map, now: Millis) -> Result<(), BackwardMove> {
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

    /// Progress of a running call, for its card.
    pub fn progress(&mut self, title: Option<String>, metadata: Map) -> Result<(), BackwardMove> {
        match &mut self.state {
            ToolState::Running(running) => {
                running.title = title.or(running.title.take());
                running.metadata.get_or_insert_default().extend(metadata);
                Ok(())
            }
            other => Err(BackwardMove {
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
    ) -> Result<(), BackwardMove> {
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

    /// A call may fail before it ran: its arguments were bad, or the turn ended.
    pub fn fail(
        &mut self,
        error: String,
        metadata: Option<Map>,
        now: Millis,
    ) -> Result<(), BackwardMove> {
        self.require(&["pending", "running"], "error")?;
        let start = self.started(now);
        let kept = match &mut self.state {
            ToolState::Running(running) => running.metadata.take(),
            _ => None,
        };
        let metadata = match (kept, metadata) {
            (Some(mut kept), Some(new)) => {
                kept.extend(new);
                Some(kept)
            }
            (kept, new) => new.or(kept),
        };
        let (input, raw) = match &mut self.state {
            ToolState::Pending(pending) => (
                std::mem::take(&mut pending.input),
                std::mem::take(&mut pending.raw),
            ),
            other => (other.input().clone(), String::new()),
        };
        let mut extra = Extra::default();
        // What the model sent must stay readable even if it was not JSON.
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

    /// Ends a call that nothing will answer any more; a settled one stays as it is.
    pub fn settle(&mut self, why: Unanswered, now: Millis) -> bool {
        self.fail(why.text().to_owned(), None, now).is_ok()
    }

    /// Takes the output out of the model's sight. Only a completed call has one.
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

    fn require(&self, from: &[&str], to: &'static str) -> Result<(), BackwardMove> {
        let name = self.state.name();
        if from.contains(&name) {
            Ok(())
        } else {
            Err(BackwardMove { from: name, to })
        }
    }
}
