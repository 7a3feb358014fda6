//! The projects, and opening a folder as one.

use std::path::Path;

use lathe_protocol::Project;
use lathe_protocol::ipc::ProjectOpened;
use tauri::{AppHandle, State};
use tauri_plugin_dialog::DialogExt;
use tokio::sync::oneshot;

use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

/// The known projects, also those that another process has added.
#[tauri::command]
pub async fn list_projects(shell: State<'_, Shell>) -> Answer<Vec<Project>> {
    shell.first_projects().await.or_ui()
}

/// Opens the native dialog. None if it was dismissed.
#[tauri::command]
pub async fn pick_project(
    app: AppHandle,
    shell: State<'_, Shell>,
) -> Answer<Option<ProjectOpened>> {
    let (answer, picked) = oneshot::channel();
    app.dialog()
        .file()
        .set_title(texts::OPEN_FOLDER)
        .pick_folder(move |folder| {
            // If the window closes first, nothing receives the answer.
            let _ = answer.send(folder);
        });
    let Ok(Some(folder)) = picked.await else {
        return Ok(None);
    };
    let folder = folder.into_path().map_err(failed)?;
    open(&shell, &folder).await.map(Some)
}

async fn open(shell: &Shell, folder: &Path) -> Answer<ProjectOpened> {
    let project = shell.sessions.open_project(folder).await.or_ui()?;
    let sessions = shell.sessions.list(&project).await.or_ui()?;
    Ok(ProjectOpened { project, sessions })
}
