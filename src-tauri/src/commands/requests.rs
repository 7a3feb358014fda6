//! The person's answers to permission requests and questions.

use lathe_protocol::{PermissionId, PermissionReply, QuestionId};
use lathe_session::Answer as PermissionAnswer;
use tauri::State;

use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn answer_permission(
    shell: State<'_, Shell>,
    request_id: String,
    reply: PermissionReply,
    message: Option<String>,
) -> Answer<()> {
    let id = PermissionId::parse(&request_id)
        .map_err(Into::into)
        .or_ui()?;
    let answer = match reply {
        PermissionReply::Once => PermissionAnswer::Once,
        PermissionReply::Always => PermissionAnswer::Always,
        PermissionReply::Reject => PermissionAnswer::Reject { message },
    };
    shell.sessions.answer_permission(&id, answer).await.or_ui()
}

#[tauri::command]
pub async fn answer_question(
    shell: State<'_, Shell>,
    request_id: String,
    answers: Vec<Vec<String>>,
) -> Answer<()> {
    let id = QuestionId::parse(&request_id).map_err(Into::into).or_ui()?;
    shell.sessions.answer_question(&id, answers).or_ui()
}

#[tauri::command]
pub async fn dismiss_question(shell: State<'_, Shell>, request_id: String) -> Answer<()> {
    let id = QuestionId::parse(&request_id).map_err(Into::into).or_ui()?;
    shell.sessions.dismiss_question(&id).or_ui()
}
