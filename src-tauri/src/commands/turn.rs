//! Prompts and what stops them.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::PromptInput;
use tauri::{AppHandle, State};

use super::attachments::resolve;
use super::session::session;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

#[tauri::command]
pub async fn prompt(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    mut input: PromptInput,
) -> Answer<MessageId> {
    let id = session(&session_id)?;
    let staged = resolve(&app, &mut input.files).await?;
    let message = shell.sessions.prompt(&id, input).await.or_ui()?;
    forget(&shell, &staged);
    Ok(message)
}

/// A `/` command; the input's text is what was typed besides.
#[tauri::command]
pub async fn run_command(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    name: String,
    args: String,
    mut input: PromptInput,
) -> Answer<MessageId> {
    let id = session(&session_id)?;
    let staged = resolve(&app, &mut input.files).await?;
    let command = shell.sessions.run_command(&id, &name, &args, input);
    let message = command.await.or_ui()?;
    forget(&shell, &staged);
    Ok(message)
}

/// What was sent is stored with its message.
fn forget(shell: &Shell, staged: &[String]) {
    for id in staged {
        shell.attachments.remove(id);
    }
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
