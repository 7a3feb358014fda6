//! Opens files where the person edits them.
//!
//! A file's name comes from a model: it is handed over as one argument, never through a shell,
//! and what the system would run instead of showing it is shown in its folder.

mod launch;

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{EditorChoice, EditorKind};
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use super::session::session;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;

/// `path` is absolute, or seen from the session's folder.
#[tauri::command]
pub async fn open_in_editor(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    path: String,
    line: Option<u32>,
) -> Answer<()> {
    let root = shell.sessions.get(&session(&session_id)?).await.or_ui()?;
    let file = existing(Path::new(&root.directory), &path)?;
    let choice = shell.settings.settings().editor;
    match launch::command(&choice, &file, line.unwrap_or(1)) {
        Some(mut command) => command
            .spawn()
            .map(drop)
            .map_err(|error| failed(not_started(&choice, &error))),
        None if launch::is_program(&file) => app.opener().reveal_item_in_dir(&file).map_err(failed),
        None => app
            .opener()
            .open_path(file.display().to_string(), None::<&str>)
            .map_err(failed),
    }
}

fn existing(root: &Path, path: &str) -> Answer<PathBuf> {
    let file = root.join(path);
    // The real place: a link must not make a program look like a text.
    file.canonicalize()
        .map_err(|error| failed(format!("{} cannot be opened: {error}", file.display())))
}

fn not_started(choice: &EditorChoice, error: &std::io::Error) -> String {
    let name = match choice.kind {
        EditorKind::System => "The system’s editor",
        EditorKind::VsCode => "VS Code (`code`)",
        EditorKind::Zed => "Zed (`zed`)",
        EditorKind::Neovim => "A terminal with Neovim",
        EditorKind::Custom => "The editor of your settings",
    };
    format!("{name} could not be started: {error}. Choose another one in the settings.")
}
