//! Permissions and questions that wait for a person.

use std::sync::Arc;

use axum::extract::State;
use lathe_protocol::PermissionReply;
use lathe_session::Answer as Reply;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{
    Input, OldPermissionPath, PermissionPath, Place, QuestionPath, SessionPath, Shared,
};
use crate::reply::{self, Answer, Refusal};

pub async fn permissions(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let mut own = Vec::new();
    for request in shared.sessions.permissions() {
        if shared.is_in(&request.session_id, &place).await {
            own.push(request);
        }
    }
    reply::json(&own)
}

#[derive(Deserialize, JsonSchema)]
pub struct PermissionAnswer {
    reply: PermissionReply,
    message: Option<String>,
}

pub async fn answer_permission(
    State(shared): State<Arc<Shared>>,
    PermissionPath(id): PermissionPath,
    Input(answer): Input<PermissionAnswer>,
) -> Answer {
    let answer = to_reply(answer.reply, answer.message);
    shared.sessions.answer_permission(&id, answer).await?;
    reply::yes()
}

#[derive(Deserialize, JsonSchema)]
pub struct OldPermissionAnswer {
    response: PermissionReply,
}

/// The address that older clients use.
pub async fn answer_permission_of(
    State(shared): State<Arc<Shared>>,
    SessionPath(session): SessionPath,
    OldPermissionPath(id): OldPermissionPath,
    Input(answer): Input<OldPermissionAnswer>,
) -> Answer {
    let requests = shared.sessions.permissions();
    let mut requests = requests.iter();
    if !requests.any(|request| request.id == id && request.session_id == session) {
        return Err(Refusal::NotFound(format!("There is no permission {id}")));
    }
    let answer = to_reply(answer.response, None);
    shared.sessions.answer_permission(&id, answer).await?;
    reply::yes()
}

fn to_reply(reply: PermissionReply, message: Option<String>) -> Reply {
    match reply {
        PermissionReply::Once => Reply::Once,
        PermissionReply::Session => Reply::Session,
        PermissionReply::Always => Reply::Always,
        PermissionReply::Reject => Reply::Reject {
            message: message.filter(|message| !message.trim().is_empty()),
        },
    }
}

pub async fn questions(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let mut own = Vec::new();
    for request in shared.sessions.questions() {
        if shared.is_in(&request.session_id, &place).await {
            own.push(request);
        }
    }
    reply::json(&own)
}

#[derive(Deserialize, JsonSchema)]
pub struct QuestionAnswers {
    /// For each question the chosen labels, or the person's own words.
    answers: Vec<Vec<String>>,
}

pub async fn answer_question(
    State(shared): State<Arc<Shared>>,
    QuestionPath(id): QuestionPath,
    Input(answers): Input<QuestionAnswers>,
) -> Answer {
    shared.sessions.answer_question(&id, answers.answers)?;
    reply::yes()
}

pub async fn reject_question(
    State(shared): State<Arc<Shared>>,
    QuestionPath(id): QuestionPath,
) -> Answer {
    shared.sessions.dismiss_question(&id)?;
    reply::yes()
}
