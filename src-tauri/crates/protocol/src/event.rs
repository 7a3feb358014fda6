//! Events: what the core publishes to its subscribers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::diff::FileDiff;
use crate::error::MessageError;
use crate::id::{MessageId, PartId, PermissionId, QuestionId, SessionId};
use crate::json::{Count, Millis};
use crate::message::Message;
use crate::part::Part;
use crate::permission::{PermissionReply, PermissionRequest};
use crate::question::QuestionRequest;
use crate::session::Session;
use crate::todo::Todo;

/// `{ "type": …, "properties": … }`. A change is stored before its event is published, except
/// for the deltas of a streaming part.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", content = "properties")]
#[ts(optional_fields)]
pub enum Event {
    #[serde(rename = "session.created")]
    SessionCreated { info: Session },
    #[serde(rename = "session.updated")]
    SessionUpdated { info: Session },
    #[serde(rename = "session.deleted")]
    SessionDeleted { info: Session },
    #[serde(rename = "session.diff")]
    SessionDiff {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        diff: Vec<FileDiff>,
    },
    #[serde(rename = "session.error")]
    SessionError {
        #[serde(rename = "sessionID")]
        session_id: Option<SessionId>,
        error: Option<MessageError>,
    },
    #[serde(rename = "session.status")]
    SessionStatus {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        status: SessionStatus,
    },
    #[serde(rename = "session.idle")]
    SessionIdle {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
    },
    #[serde(rename = "session.compacted")]
    SessionCompacted {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
    },
    #[serde(rename = "message.updated")]
    MessageUpdated { info: Message },
    #[serde(rename = "message.removed")]
    MessageRemoved {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "messageID")]
        message_id: MessageId,
    },
    #[serde(rename = "message.part.updated")]
    MessagePartUpdated(MessagePartUpdated),
    #[serde(rename = "message.part.removed")]
    MessagePartRemoved {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "messageID")]
        message_id: MessageId,
        #[serde(rename = "partID")]
        part_id: PartId,
    },
    #[serde(rename = "permission.asked")]
    PermissionAsked(PermissionRequest),
    #[serde(rename = "permission.replied")]
    PermissionReplied {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "requestID")]
        request_id: PermissionId,
        reply: PermissionReply,
    },
    #[serde(rename = "question.asked")]
    QuestionAsked(QuestionRequest),
    #[serde(rename = "question.replied")]
    QuestionReplied {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "requestID")]
        request_id: QuestionId,
        answers: Vec<Vec<String>>,
    },
    #[serde(rename = "question.rejected")]
    QuestionRejected {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        #[serde(rename = "requestID")]
        request_id: QuestionId,
    },
    #[serde(rename = "todo.updated")]
    TodoUpdated {
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        todos: Vec<Todo>,
    },
    #[serde(rename = "file.edited")]
    FileEdited { file: String },
    #[serde(rename = "command.executed")]
    CommandExecuted {
        name: String,
        #[serde(rename = "sessionID")]
        session_id: SessionId,
        arguments: String,
        #[serde(rename = "messageID")]
        message_id: MessageId,
    },
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(optional_fields)]
pub struct MessagePartUpdated {
    pub part: Part,
    /// Text appended since the last event about this part.
    pub delta: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SessionStatus {
    Idle,
    Busy,
    /// The request failed and is sent again at `next`.
    Retry {
        attempt: Count,
        message: String,
        next: Millis,
    },
}

impl Event {
    /// The session an event is about; an event without one concerns every subscriber.
    pub fn session_id(&self) -> Option<&SessionId> {
        match self {
            Event::SessionCreated { info }
            | Event::SessionUpdated { info }
            | Event::SessionDeleted { info } => Some(&info.id),
            Event::SessionDiff { session_id, .. }
            | Event::SessionStatus { session_id, .. }
            | Event::SessionIdle { session_id }
            | Event::SessionCompacted { session_id }
            | Event::MessageRemoved { session_id, .. }
            | Event::MessagePartRemoved { session_id, .. }
            | Event::PermissionReplied { session_id, .. }
            | Event::QuestionReplied { session_id, .. }
            | Event::QuestionRejected { session_id, .. }
            | Event::TodoUpdated { session_id, .. }
            | Event::CommandExecuted { session_id, .. } => Some(session_id),
            Event::SessionError { session_id, .. } => session_id.as_ref(),
            Event::MessageUpdated { info } => Some(info.session_id()),
            Event::MessagePartUpdated(updated) => Some(updated.part.session_id()),
            Event::PermissionAsked(request) => Some(&request.session_id),
            Event::QuestionAsked(request) => Some(&request.session_id),
            Event::FileEdited { .. } => None,
        }
    }
}
