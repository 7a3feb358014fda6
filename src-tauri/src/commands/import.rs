//! Importing the sessions of other programs.

use std::path::Path;

use lathe_protocol::ipc::{ImportReport, ImportSource};
use tauri::State;

use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn find_imports(shell: State<'_, Shell>) -> Answer<Vec<ImportSource>> {
    Ok(shell.sessions.find_imports().await)
}

#[tauri::command]
pub async fn import_from(shell: State<'_, Shell>, path: String) -> Answer<ImportReport> {
    shell.sessions.import_from(Path::new(&path)).await.or_ui()
}
