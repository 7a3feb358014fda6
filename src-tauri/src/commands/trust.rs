//! What a project's own files may do.

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

/// `hash` is that of what was shown; without one the trust is taken back.
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

/// Edits of the agent's in this project need no question any more.
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
