//! MCP servers.

use lathe_protocol::ProjectId;
use lathe_protocol::ipc::{McpResourceView, McpServerInput, McpServerView};
use tauri::State;

use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn list_mcp(shell: State<'_, Shell>) -> Answer<Vec<McpServerView>> {
    Ok(shell.sessions.mcp().list())
}

#[tauri::command]
pub async fn set_mcp_enabled(
    shell: State<'_, Shell>,
    name: String,
    on: bool,
) -> Answer<Vec<McpServerView>> {
    let mcp = shell.sessions.mcp();
    mcp.set_enabled(&name, on).await.or_ui()?;
    Ok(mcp.list())
}

#[tauri::command]
pub async fn restart_mcp(shell: State<'_, Shell>, name: String) -> Answer<Vec<McpServerView>> {
    let mcp = shell.sessions.mcp();
    mcp.restart(&name).await.or_ui()?;
    Ok(mcp.list())
}

#[tauri::command]
pub async fn accept_mcp(shell: State<'_, Shell>, name: String) -> Answer<Vec<McpServerView>> {
    let mcp = shell.sessions.mcp();
    mcp.accept(&name).or_ui()?;
    Ok(mcp.list())
}

#[tauri::command]
pub async fn read_mcp(shell: State<'_, Shell>, name: String) -> Answer<McpServerInput> {
    shell.sessions.read_mcp(&name).await.or_ui()
}

#[tauri::command]
pub async fn save_mcp(
    shell: State<'_, Shell>,
    name: String,
    server: McpServerInput,
) -> Answer<Vec<McpServerView>> {
    shell.sessions.save_mcp(&name, server).await.or_ui()?;
    Ok(shell.sessions.mcp().list())
}

#[tauri::command]
pub async fn remove_mcp(shell: State<'_, Shell>, name: String) -> Answer<Vec<McpServerView>> {
    shell.sessions.remove_mcp(&name).await.or_ui()?;
    Ok(shell.sessions.mcp().list())
}

#[tauri::command]
pub async fn list_mcp_resources(
    shell: State<'_, Shell>,
    project_id: ProjectId,
) -> Answer<Vec<McpResourceView>> {
    Ok(shell.sessions.mcp().resources(&project_id).await)
}
