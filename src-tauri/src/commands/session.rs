//! Sessions: list, open, change, fork and remove them.

use lathe_protocol::ipc::{MessagePage, SessionView};
use lathe_protocol::{MessageId, Project, ProjectId, Session, SessionId};
use tauri::State;

use super::review;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

/// The window asks for more when it scrolls.
const LARGEST_PAGE: usize = 200;

#[tauri::command]
pub async fn list_sessions(shell: State<'_, Shell>, project_id: String) -> Answer<Vec<Session>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.list(&project).await.or_ui()
}

#[tauri::command]
pub async fn create_session(shell: State<'_, Shell>, project_id: String) -> Answer<Session> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.create(&project, None).await.or_ui()
}

#[tauri::command]
pub async fn rename_session(
    shell: State<'_, Shell>,
    session_id: String,
    title: String,
) -> Answer<()> {
    shell
        .sessions
        .rename(&session(&session_id)?, &title)
        .await
        .or_ui()
        .map(drop)
}

#[tauri::command]
pub async fn archive_session(
    shell: State<'_, Shell>,
    session_id: String,
    archived: bool,
) -> Answer<()> {
    shell
        .sessions
        .archive(&session(&session_id)?, archived)
        .await
        .or_ui()
        .map(drop)
}

#[tauri::command]
pub async fn delete_session(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell.sessions.remove(&session(&session_id)?).await.or_ui()
}

#[tauri::command]
pub async fn restore_session(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell
        .sessions
        .restore(&session(&session_id)?)
        .await
        .or_ui()
        .map(drop)
}

#[tauri::command]
pub async fn open_session(
    shell: State<'_, Shell>,
    session_id: String,
    limit: usize,
) -> Answer<SessionView> {
    shell
        .bridge
        .open(&session(&session_id)?, limit.min(LARGEST_PAGE))
        .await
        .or_ui()
}

#[tauri::command]
pub async fn older_messages(
    shell: State<'_, Shell>,
    session_id: String,
    before: String,
    limit: usize,
) -> Answer<MessagePage> {
    let before = MessageId::parse(&before).map_err(Into::into).or_ui()?;
    let id = session(&session_id)?;
    shell
        .bridge
        .older(&id, &before, limit.min(LARGEST_PAGE))
        .await
        .or_ui()
}

#[tauri::command]
pub async fn close_session(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell.bridge.close(&session(&session_id)?);
    Ok(())
}

#[tauri::command]
pub async fn fork(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: Option<String>,
    worktree: bool,
) -> Answer<Session> {
    let (id, before) = (session(&session_id)?, review::message(message_id)?);
    let fork = shell.sessions.fork(&id, before.as_ref(), worktree);
    fork.await.or_ui()
}

pub fn session(id: &str) -> Answer<SessionId> {
    SessionId::parse(id).map_err(Into::into).or_ui()
}

pub async fn project(shell: &Shell, id: &str) -> Answer<Project> {
    let id = ProjectId::parse(id).map_err(Into::into).or_ui()?;
    shell.sessions.project(&id).await.or_ui()
}
