//! What the agent changed: diffs, reverts and named snapshots.

use lathe_protocol::ipc::{
    PendingRevert, RevertOptions, RevertOutcome, RevertPreview, RevertTarget, RevertedItem,
    SessionDiffView,
};
use lathe_protocol::view::FileDiffView;
use lathe_protocol::{MessageId, Session, SessionId, SnapshotPart};
use lathe_render::diff::{self, Extent};
use lathe_session::Sessions;
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
    let render = move || {
        diffs
            .iter()
            .map(|one| diff::render_stored(one, Extent::Folded))
            .collect()
    };
    let files: Vec<FileDiffView> = blocking(render).await?;
    Ok(SessionDiffView {
        session_id,
        message_id,
        additions: files.iter().map(|file| file.additions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
        files,
    })
}

/// One file, also if the review folds it. `whole` includes every unchanged line.
#[tauri::command]
pub async fn file_diff(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: Option<String>,
    path: String,
    whole: bool,
) -> Answer<FileDiffView> {
    let (session_id, message_id) = (session(&session_id)?, message(message_id)?);
    let extent = match whole {
        true => Extent::Whole,
        false => Extent::Unfolded,
    };
    render_file(
        &shell.sessions,
        &session_id,
        message_id.as_ref(),
        &path,
        extent,
    )
    .await
}

async fn render_file(
    sessions: &Sessions,
    id: &SessionId,
    turn: Option<&MessageId>,
    path: &str,
    extent: Extent,
) -> Answer<FileDiffView> {
    let stored = sessions.file_diff(id, turn, path).await.or_ui()?;
    blocking(move || diff::render_stored(&stored, extent)).await
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
    options: Option<RevertOptions>,
) -> Answer<RevertOutcome> {
    let (id, target) = (session(&session_id)?, checked(target)?);
    let options = options.unwrap_or_default();
    let done = shell.sessions.revert_with(&id, &target, &options);
    done.await.or_ui()
}

#[tauri::command]
pub async fn unrevert(shell: State<'_, Shell>, session_id: String) -> Answer<RevertOutcome> {
    shell
        .sessions
        .unrevert(&session(&session_id)?)
        .await
        .or_ui()
}

/// Reverts the newest turn that is not reverted yet.
#[tauri::command]
pub async fn undo_last_turn(
    shell: State<'_, Shell>,
    session_id: String,
    keep_files: bool,
) -> Answer<RevertOutcome> {
    let id = session(&session_id)?;
    shell.sessions.undo_last_turn(&id, keep_files).await.or_ui()
}

/// The prompt of that turn.
#[tauri::command]
pub async fn last_turn(shell: State<'_, Shell>, session_id: String) -> Answer<Option<MessageId>> {
    let id = session(&session_id)?;
    shell.sessions.last_turn(&id).await.or_ui()
}

/// What reverts removed and can still be restored.
#[tauri::command]
pub async fn reverted(shell: State<'_, Shell>, session_id: String) -> Answer<Vec<RevertedItem>> {
    let id = session(&session_id)?;
    shell.sessions.reverted(&id).await.or_ui()
}

#[tauri::command]
pub async fn restore_reverted(
    shell: State<'_, Shell>,
    session_id: String,
    item: String,
    options: Option<RevertOptions>,
) -> Answer<RevertOutcome> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    let restored = shell.sessions.restore_reverted(&id, &item, &options);
    restored.await.or_ui()
}

/// Deletes what a pending revert hides, after the person agreed to it.
#[tauri::command]
pub async fn discard_reverted(shell: State<'_, Shell>, session_id: String) -> Answer<Session> {
    let id = session(&session_id)?;
    shell.sessions.discard_reverted(&id).await.or_ui()
}

/// The revert that the next prompt would make final.
#[tauri::command]
pub async fn pending_revert(
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<Option<PendingRevert>> {
    let id = session(&session_id)?;
    shell.sessions.pending_revert(&id).await.or_ui()
}

#[tauri::command]
pub async fn checkpoint(
    shell: State<'_, Shell>,
    session_id: String,
    name: String,
) -> Answer<SnapshotPart> {
    let id: SessionId = session(&session_id)?;
    shell.sessions.take_snapshot(&id, &name).await.or_ui()
}

/// Rendering takes a while, so it must not block the async runtime.
async fn blocking<T: Send + 'static>(render: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(render).await.map_err(failed)
}

pub fn message(id: Option<String>) -> Answer<Option<MessageId>> {
    let parse = |id: String| MessageId::parse(&id).map_err(Into::into).or_ui();
    id.map(parse).transpose()
}

/// The ids inside a target are text from the page and must be checked, too.
fn checked(target: RevertTarget) -> Answer<RevertTarget> {
    let id = match &target {
        RevertTarget::Message { message_id, .. }
        | RevertTarget::Part { message_id, .. }
        | RevertTarget::Snapshot { message_id, .. } => Some(message_id),
        RevertTarget::File { message_id, .. } => message_id.as_ref(),
    };
    message(id.map(ToString::to_string))?;
    Ok(target)
}
