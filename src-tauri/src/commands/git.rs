//! Git for a session: its branch, commits of what is kept, patches, and its worktree.

use std::collections::BTreeMap;

use lathe_protocol::Session;
use lathe_protocol::ipc::{
    BringBack, BringBackChoice, BringBackPreview, CommitDone, CommitInput, ComparedWorktree,
    GitFolder, GitStatus, RemovedWorktree, ReviewScope,
};
use lathe_render::diff;
use tauri::{AppHandle, State};

use super::session::{project, session};
use super::share::ask_where_to_save;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;

#[tauri::command]
pub async fn git_folders(shell: State<'_, Shell>, project_id: String) -> Answer<Vec<GitFolder>> {
    let project = project(&shell, &project_id).await?;
    shell.changes.git_folders(&project).await.or_ui()
}

#[tauri::command]
pub async fn git_status(shell: State<'_, Shell>, session_id: String) -> Answer<Option<GitStatus>> {
    let id = session(&session_id)?;
    shell.changes.git_status(&id).await.or_ui()
}

#[tauri::command]
pub async fn stage_kept(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
) -> Answer<GitStatus> {
    let id = session(&session_id)?;
    shell.changes.stage_kept(&id, &scope).await.or_ui()
}

#[tauri::command]
pub async fn unstage_all(shell: State<'_, Shell>, session_id: String) -> Answer<GitStatus> {
    let id = session(&session_id)?;
    shell.changes.unstage_all(&id).await.or_ui()
}

#[tauri::command]
pub async fn draft_commit_message(shell: State<'_, Shell>, session_id: String) -> Answer<String> {
    let id = session(&session_id)?;
    shell.changes.draft_commit_message(&id).await.or_ui()
}

#[tauri::command]
pub async fn commit(
    shell: State<'_, Shell>,
    session_id: String,
    input: CommitInput,
) -> Answer<CommitDone> {
    let id = session(&session_id)?;
    shell.changes.commit(&id, &input).await.or_ui()
}

#[tauri::command]
pub async fn last_commit_message(shell: State<'_, Shell>, session_id: String) -> Answer<String> {
    let id = session(&session_id)?;
    shell.changes.last_commit_message(&id).await.or_ui()
}

#[tauri::command]
pub async fn stash(
    shell: State<'_, Shell>,
    session_id: String,
    message: String,
) -> Answer<GitStatus> {
    let id = session(&session_id)?;
    shell.changes.stash(&id, &message).await.or_ui()
}

#[tauri::command]
pub async fn unstash(shell: State<'_, Shell>, session_id: String) -> Answer<GitStatus> {
    let id = session(&session_id)?;
    shell.changes.unstash(&id).await.or_ui()
}

#[tauri::command]
pub async fn patch_text(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    kept_only: bool,
) -> Answer<String> {
    let id = session(&session_id)?;
    let text = shell.changes.patch_text(&id, &scope, kept_only);
    text.await.or_ui()
}

/// Saves the patch where a dialog says; `None` if it was dismissed.
#[tauri::command]
pub async fn save_patch(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    kept_only: bool,
) -> Answer<Option<String>> {
    let id = session(&session_id)?;
    let text = shell.changes.patch_text(&id, &scope, kept_only);
    let text = text.await.or_ui()?;
    let Some(path) = ask_where_to_save(&app, "changes.patch").await? else {
        return Ok(None);
    };
    tokio::fs::write(&path, text).await.map_err(failed)?;
    Ok(Some(path.display().to_string()))
}

#[tauri::command]
pub async fn create_session_in_worktree(
    shell: State<'_, Shell>,
    project_id: String,
    name: Option<String>,
) -> Answer<Session> {
    let project = project(&shell, &project_id).await?;
    let created = shell.changes.create_in_worktree(&project, name.as_deref());
    created.await.or_ui()
}

#[tauri::command]
pub async fn worktree_files(
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<ComparedWorktree> {
    let id = session(&session_id)?;
    let files = shell.changes.worktree_files(&id, diff::fold_reason);
    files.await.or_ui()
}

#[tauri::command]
pub async fn preview_bring_back(
    shell: State<'_, Shell>,
    session_id: String,
    how: BringBack,
) -> Answer<BringBackPreview> {
    let id = session(&session_id)?;
    shell.changes.preview_bring_back(&id, how).await.or_ui()
}

#[tauri::command]
pub async fn bring_back(
    shell: State<'_, Shell>,
    session_id: String,
    how: BringBack,
    choices: BTreeMap<String, BringBackChoice>,
) -> Answer<BringBackPreview> {
    let id = session(&session_id)?;
    shell.changes.bring_back(&id, how, choices).await.or_ui()
}

#[tauri::command]
pub async fn remove_worktree(
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<RemovedWorktree> {
    let id = session(&session_id)?;
    shell.changes.remove_worktree(&id).await.or_ui()
}
