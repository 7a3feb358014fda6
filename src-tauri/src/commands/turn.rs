//! Prompts: send, queue, retry, stop.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{ContextUse, PromptInput};
use lathe_session::OutlineEntry;
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
    remove_staged(&shell, &staged);
    Ok(message)
}

/// Runs a `/` command. `input` holds the attachments and the model.
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
    remove_staged(&shell, &staged);
    Ok(message)
}

/// Attachments that were sent are stored with the message.
fn remove_staged(shell: &Shell, staged: &[String]) {
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

/// Compacts the session now.
#[tauri::command]
pub async fn compact(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    let id = session(&session_id)?;
    shell.sessions.compact(&id).await.or_ui().map(drop)
}

#[tauri::command]
pub async fn context_use(shell: State<'_, Shell>, session_id: String) -> Answer<ContextUse> {
    shell
        .sessions
        .context_use(&session(&session_id)?)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn edit_queued(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    text: String,
) -> Answer<()> {
    let (id, message) = (session(&session_id)?, message(&message_id)?);
    shell
        .sessions
        .edit_queued(&id, &message, &text)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn remove_queued(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
) -> Answer<()> {
    let (id, message) = (session(&session_id)?, message(&message_id)?);
    shell.sessions.remove_queued(&id, &message).await.or_ui()
}

/// Moves a queued prompt before the one above it.
#[tauri::command]
pub async fn move_queued_up(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
) -> Answer<()> {
    let (id, message) = (session(&session_id)?, message(&message_id)?);
    shell.sessions.move_queued_up(&id, &message).await.or_ui()
}

/// Stops the turn for a queued prompt.
#[tauri::command]
pub async fn send_queued_now(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
) -> Answer<()> {
    let (id, message) = (session(&session_id)?, message(&message_id)?);
    shell.sessions.send_queued_now(&id, &message).await.or_ui()
}

/// Runs a command of the person. The text of `input` is the command.
#[tauri::command]
pub async fn run_shell(
    shell: State<'_, Shell>,
    session_id: String,
    input: PromptInput,
) -> Answer<MessageId> {
    let id = session(&session_id)?;
    shell.sessions.run_own_command(&id, input).await.or_ui()
}

/// What the person wrote in a session, oldest first.
#[tauri::command]
pub async fn outline(shell: State<'_, Shell>, session_id: String) -> Answer<Vec<OutlineEntry>> {
    shell.sessions.outline(&session(&session_id)?).await.or_ui()
}

/// Sends a prompt that waited for a turn which ended without it.
#[tauri::command]
pub async fn send_unsent(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
) -> Answer<MessageId> {
    let (id, message) = (session(&session_id)?, message(&message_id)?);
    shell.sessions.send_unsent(&id, &message).await.or_ui()
}

fn message(id: &str) -> Answer<MessageId> {
    MessageId::parse(id).map_err(Into::into).or_ui()
}
