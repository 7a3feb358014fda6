//! What a project offers to a prompt: agents, commands, files to mention.

use lathe_protocol::ipc::{AgentView, CommandView, ConfigProblem, Mention};
use tauri::State;

use super::session::{project, session};
use crate::error::{Answer, OrUi};
use crate::state::Shell;

/// What is wrong in the config files of a project, and in the person's own.
#[tauri::command]
pub async fn config_problems(
    shell: State<'_, Shell>,
    project_id: String,
) -> Answer<Vec<ConfigProblem>> {
    let project = project(&shell, &project_id).await?;
    shell.sessions.config_problems(&project).await.or_ui()
}

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
    session_id: Option<String>,
    query: String,
    limit: usize,
) -> Answer<Vec<Mention>> {
    let sessions = &shell.sessions;
    let found = match session_id {
        Some(id) => {
            let id = session(&id)?;
            sessions.find_mentions_in(&id, &query, limit).await
        }
        None => {
            let project = project(&shell, &project_id).await?;
            sessions.find_mentions(&project, &query, limit).await
        }
    };
    found.or_ui()
}
