//! Importing the sessions of other programs.

use std::path::Path;

use lathe_protocol::ipc::{ImportProgress, ImportReport, ImportSource};
use lathe_session::ImportControl;
use tauri::State;
use tauri::ipc::Channel;

use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn find_imports(shell: State<'_, Shell>) -> Answer<Vec<ImportSource>> {
    Ok(shell.sessions.find_imports().await)
}

#[tauri::command]
pub async fn import_from(
    shell: State<'_, Shell>,
    path: String,
    progress: Channel<ImportProgress>,
) -> Answer<ImportReport> {
    let control = ImportControl::new(move |now| {
        // A page that is gone does not need it.
        let _ = progress.send(ImportProgress {
            files: now.files,
            done: now.done,
            sessions: now.sessions,
            messages: now.messages,
        });
    });
    *shell.import.lock() = Some(control.clone());
    let imported = shell
        .sessions
        .import_watched(Path::new(&path), None, control)
        .await;
    *shell.import.lock() = None;
    imported.or_ui()
}

/// Ends the import that is running. What was imported by then stays.
#[tauri::command]
pub async fn stop_import(shell: State<'_, Shell>) -> Answer<()> {
    if let Some(control) = &*shell.import.lock() {
        control.stop();
    }
    Ok(())
}
