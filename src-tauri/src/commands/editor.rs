//! Opens files in the person's editor.
//!
//! A file name comes from a model: it is passed as one argument, never through a shell. A file that
//! the system would run instead of showing is revealed in its folder.

mod launch;

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::{EditorChoice, EditorKind};
use tauri::{AppHandle, State};
use tauri_plugin_opener::OpenerExt;

use super::session::{project, session};
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

/// `path` is absolute, or relative to the session's folder, or to the project's, as in the review.
#[tauri::command]
pub async fn open_in_editor(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    path: String,
    line: Option<u32>,
) -> Answer<()> {
    let root = shell.sessions.get(&session(&session_id)?).await.or_ui()?;
    let above = shell.sessions.worktree(&root).await.or_ui()?;
    let file = existing([Path::new(&root.directory), &above], &path)?;
    open(&app, &shell, &file, line)
}

/// Opens a config file that has a problem; the page can name no other file here.
#[tauri::command]
pub async fn open_config_file(
    app: AppHandle,
    shell: State<'_, Shell>,
    project_id: String,
    file: String,
    line: Option<u32>,
) -> Answer<()> {
    let project = project(&shell, &project_id).await?;
    let problems = shell.sessions.config_problems(&project).await.or_ui()?;
    if !problems.iter().any(|problem| problem.file == file) {
        return Err(failed(texts::no_problem(&file)));
    }
    let root = Path::new(&project.worktree);
    open(&app, &shell, &existing([root, root], &file)?, line)
}

fn open(app: &AppHandle, shell: &Shell, file: &Path, line: Option<u32>) -> Answer<()> {
    // A folder has no lines.
    let line = line.filter(|_| !file.is_dir());
    let choice = shell.settings.settings().editor;
    match launch::command(&choice, file, line) {
        Some(mut command) => command
            .spawn()
            .map(drop)
            .map_err(|error| failed(not_started(&choice, &error))),
        None if launch::is_program(file) => app.opener().reveal_item_in_dir(file).map_err(failed),
        None => app
            .opener()
            .open_path(file.display().to_string(), None::<&str>)
            .map_err(failed),
    }
}

/// Looks in the folders in order. Returns the canonical path: a link must not make a program look
/// like a text file.
fn existing(roots: [&Path; 2], path: &str) -> Answer<PathBuf> {
    let [file, other] = roots.map(|root| root.join(path));
    let found = file.canonicalize();
    found
        .or_else(|error| other.canonicalize().map_err(|_| error))
        .map_err(|error| failed(texts::cannot_open(file.display(), error)))
}

fn not_started(choice: &EditorChoice, error: &std::io::Error) -> String {
    let name = match choice.kind {
        EditorKind::System => "the system editor",
        EditorKind::VsCode => "VS Code (`code`)",
        EditorKind::Zed => "Zed (`zed`)",
        EditorKind::Neovim => "a terminal with Neovim",
        EditorKind::Custom => "your editor",
    };
    texts::editor_not_started(name, error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_relative_name_is_looked_for_in_the_sessions_folder_and_then_in_the_projects() {
        let project = tempfile::tempdir().unwrap();
        let root = project.path().canonicalize().unwrap();
        let below = root.join("web");
        fs::create_dir(&below).unwrap();
        fs::write(root.join("a.rs"), "").unwrap();
        fs::write(root.join("both.rs"), "").unwrap();
        fs::write(below.join("both.rs"), "").unwrap();
        let open = |path: &str| existing([&below, &root], path).ok();
        assert_eq!(open("both.rs"), Some(below.join("both.rs")));
        assert_eq!(open("a.rs"), Some(root.join("a.rs")));
        assert_eq!(open("web/both.rs"), Some(below.join("both.rs")));
        assert_eq!(open("gone.rs"), None);
    }
}
