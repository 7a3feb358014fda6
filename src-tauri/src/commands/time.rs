//! Differences, taking back, forks and snapshots by hand.

use lathe_protocol::ipc::{RevertOutcome, RevertPreview, RevertTarget, SessionDiffView};
use lathe_protocol::view::FileDiffView;
use lathe_protocol::{MessageId, Session, SessionId, SnapshotPart};
use lathe_render::diff;
use tauri::State;

use super::session::session;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;

#[tauri::command]
pub async fn session_diff(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: Option<String>,
) -> Answer<SessionDiffView> {
    let (session_id, message_id) = (session(&session_id)?, message(message_id)?);
    let diffs = shell.sessions.diff(&session_id, message_id.as_ref());
    let diffs = diffs.await.or_ui()?;
    let draw = move || diffs.iter().map(|one| diff::stored(one, false)).collect();
    let files: Vec<FileDiffView> = beside(draw).await?;
    Ok(SessionDiffView {
        session_id,
        message_id,
        additions: files.iter().map(|file| file.additions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
        files,
    })
}

/// One file with every line around its changes, drawn though it is usually folded.
#[tauri::command]
pub async fn file_diff(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: Option<String>,
    path: String,
) -> Answer<FileDiffView> {
    let (session_id, message_id) = (session(&session_id)?, message(message_id)?);
    let whole = shell
        .sessions
        .file_diff(&session_id, message_id.as_ref(), &path);
    let whole = whole.await.or_ui()?;
    beside(move || diff::stored(&whole, true)).await
}

#[tauri::command]
pub async fn preview_revert(
    shell: State<'_, Shell>,
    session_id: String,
    target: RevertTarget,
) -> Answer<RevertPreview> {
    let (id, target) = (session(&session_id)?, checked(target)?);
    shell.sessions.preview_revert(&id, &target).await.or_ui()
}

#[tauri::command]
pub async fn revert(
    shell: State<'_, Shell>,
    session_id: String,
    target: RevertTarget,
) -> Answer<RevertOutcome> {
    let (id, target) = (session(&session_id)?, checked(target)?);
    shell.sessions.revert(&id, &target).await.or_ui()
}

#[tauri::command]
pub async fn unrevert(shell: State<'_, Shell>, session_id: String) -> Answer<RevertOutcome> {
    shell
        .sessions
        .unrevert(&session(&session_id)?)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn fork(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: Option<String>,
    worktree: bool,
) -> Answer<Session> {
    let (id, before) = (session(&session_id)?, message(message_id)?);
    let fork = shell.sessions.fork(&id, before.as_ref(), worktree);
    fork.await.or_ui()
}

#[tauri::command]
pub async fn checkpoint(
    shell: State<'_, Shell>,
    session_id: String,
    name: String,
) -> Answer<SnapshotPart> {
    let id: SessionId = session(&session_id)?;
    shell.sessions.checkpoint(&id, &name).await.or_ui()
}

/// Drawing takes a while: not on the thread that answers.
async fn beside<T: Send + 'static>(draw: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(draw).await.map_err(failed)
}

fn message(id: Option<String>) -> Answer<Option<MessageId>> {
    let parse = |id: String| MessageId::parse(&id).map_err(Into::into).or_ui();
    id.map(parse).transpose()
}

/// Ids inside a target come from the page as text, too.
fn checked(target: RevertTarget) -> Answer<RevertTarget> {
    let id = match &target {
        RevertTarget::Message { message_id, .. }
        | RevertTarget::Part { message_id, .. }
        | RevertTarget::Snapshot { message_id, .. } => Some(message_id),
        RevertTarget::File { message_id, .. } | RevertTarget::Hunk { message_id, .. } => {
            message_id.as_ref()
        }
    };
    message(id.map(ToString::to_string))?;
    Ok(target)
}
