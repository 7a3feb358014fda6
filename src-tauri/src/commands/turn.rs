//! Prompts and what stops them.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::PromptInput;
use tauri::State;

use super::session::session;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn prompt(
    shell: State<'_, Shell>,
    session_id: String,
    input: PromptInput,
) -> Answer<MessageId> {
    shell
        .sessions
        .prompt(&session(&session_id)?, input)
        .await
        .or_ui()
}

/// A `/` command; the input's text is what was typed besides.
#[tauri::command]
pub async fn run_command(
    shell: State<'_, Shell>,
    session_id: String,
    name: String,
    args: String,
    input: PromptInput,
) -> Answer<MessageId> {
    let id = session(&session_id)?;
    shell
        .sessions
        .run_command(&id, &name, &args, input)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn abort(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell.sessions.abort(&session(&session_id)?).await;
    Ok(())
}

#[tauri::command]
pub async fn retry_now(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell.sessions.retry_now(&session(&session_id)?);
    Ok(())
}
