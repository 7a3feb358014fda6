//! Whether a project's own config, agents and commands are trusted.

use lathe_protocol::ipc::TrustView;
use tauri::State;

use super::session::project;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn trust(shell: State<'_, Shell>, project_id: String) -> Answer<TrustView> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.trust(&project).await.or_ui()
}

/// `hash` identifies what was shown to the person. Without one, the trust is revoked.
#[tauri::command]
pub async fn set_trust(
    shell: State<'_, Shell>,
    project_id: String,
    hash: Option<String>,
) -> Answer<TrustView> {
    let project = project(&shell, &project_id).await?;
    let set = shell.sessions.set_trust(&project, hash.as_deref());
    set.await.or_ui()
}

/// Allows the agent to edit this project's files without asking.
#[tauri::command]
pub async fn set_project_edits(
    shell: State<'_, Shell>,
    project_id: String,
    allow: bool,
) -> Answer<()> {
    let project = project(&shell, &project_id).await?;
    shell
        .sessions
        .set_project_edits(&project, allow)
        .await
        .or_ui()
}
