//! The person's answers to permission requests and questions, and how much is asked.

use lathe_protocol::ipc::{DiffComment, ModeView};
use lathe_protocol::{PermissionId, PermissionMode, PermissionReply, QuestionId};
use lathe_session::Answer as PermissionAnswer;
use tauri::State;

use super::session::project;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn answer_permission(
    shell: State<'_, Shell>,
    request_id: String,
    reply: PermissionReply,
    message: Option<String>,
    comments: Option<Vec<DiffComment>>,
) -> Answer<()> {
    let id = PermissionId::parse(&request_id)
        .map_err(Into::into)
        .or_ui()?;
    let answer = match reply {
        PermissionReply::Once => PermissionAnswer::Once,
        PermissionReply::Session => PermissionAnswer::Session,
        PermissionReply::Always => PermissionAnswer::Always,
        PermissionReply::Reject => PermissionAnswer::Reject {
            message: lathe_changes::refusal(message.as_deref(), &comments.unwrap_or_default()),
        },
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

/// How much the agent may do in a project without a question, and what this machine can confine.
#[tauri::command]
pub async fn permission_mode(shell: State<'_, Shell>, project_id: String) -> Answer<ModeView> {
    let project = project(&shell, &project_id).await?;
    Ok(shell.sessions.mode(&project).await)
}

#[tauri::command]
pub async fn set_permission_mode(
    shell: State<'_, Shell>,
    project_id: String,
    mode: PermissionMode,
) -> Answer<ModeView> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.set_mode(&project, mode).await.or_ui()?;
    Ok(shell.sessions.mode(&project).await)
}
