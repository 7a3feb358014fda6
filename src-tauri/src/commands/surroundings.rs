//! What a prompt can draw on: agents, commands, files.

use lathe_protocol::ipc::{AgentView, CommandView, Mention};
use tauri::State;

use super::session::project;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn list_agents(shell: State<'_, Shell>, project_id: String) -> Answer<Vec<AgentView>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.agents(&project).await.or_ui()
}

#[tauri::command]
pub async fn list_commands(
    shell: State<'_, Shell>,
    project_id: String,
) -> Answer<Vec<CommandView>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.commands(&project).await.or_ui()
}

#[tauri::command]
pub async fn find_mentions(
    shell: State<'_, Shell>,
    project_id: String,
    query: String,
    limit: usize,
) -> Answer<Vec<Mention>> {
    let project = project(&shell, &project_id).await?;
    shell
        .sessions
        .find_mentions(&project, &query, limit)
        .await
        .or_ui()
}
