//! The content of a tool card and of a long text. It is fetched when a person wants to see it, never
//! pushed.

use std::path::{Path, PathBuf};

use lathe_protocol::ipc::ToolDetails;
use lathe_protocol::{FilePart, MessageId, Part, PartId, SessionId};
use lathe_render::details::{self, DetailsOptions};
use lathe_render::diagram;
use lathe_session::data_url;
use tauri::{AppHandle, Manager, State};
use tauri_plugin_opener::OpenerExt;

use super::session::session;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

#[tauri::command]
pub async fn tool_details(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    part_id: String,
    whole: bool,
) -> Answer<ToolDetails> {
    let Part::Tool(call) = find(&shell, &session_id, &message_id, &part_id).await? else {
        return Err(failed(texts::NOT_A_TOOL_CALL));
    };
    let root = shell.sessions.get(&session(&session_id)?).await.or_ui()?;
    let options = DetailsOptions {
        root: Some(root.directory),
        whole,
    };
    tauri::async_runtime::spawn_blocking(move || details::render_tool_call(&call, &options))
        .await
        .map_err(failed)
}

/// Draws a Mermaid diagram as SVG. One on which the renderer fails is one that is not drawn, and no
/// fault of the program.
#[tauri::command]
pub async fn draw_diagram(source: String, dark: bool) -> Answer<String> {
    tauri::async_runtime::spawn_blocking(move || {
        lathe_log::hold_panics(|| diagram::draw(&source, dark))
    })
    .await
    .map_err(failed)?
    .map_err(failed)
}

/// The whole text of a part of which the page was sent the beginning.
#[tauri::command]
pub async fn part_text(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    part_id: String,
) -> Answer<String> {
    match find(&shell, &session_id, &message_id, &part_id).await? {
        Part::Text(part) => Ok(part.text),
        Part::Reasoning(part) => Ok(part.text),
        _ => Err(failed("This part has no text")),
    }
}

/// Copies the whole text of such a part.
#[tauri::command]
pub async fn copy_part_text(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    part_id: String,
) -> Answer<()> {
    let text = part_text(shell, session_id, message_id, part_id).await?;
    copy_text(app, text).await
}

/// Copies a text that the page had to load first: by then a webview no longer lets the page copy.
///
/// On a thread that may block: the clipboard belongs to another program until it is taken over.
#[tauri::command]
pub async fn copy_text(app: AppHandle, text: String) -> Answer<()> {
    let copy = move || app.state::<Shell>().clipboard.set_text(text);
    let copied = tauri::async_runtime::spawn_blocking(copy).await;
    copied.map_err(failed)?.map_err(failed)
}

/// Opens a PDF in the system's reader: the window cannot show one.
#[tauri::command]
pub async fn open_attachment(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    part_id: String,
) -> Answer<()> {
    let (session, message, part) = ids(&session_id, &message_id, &part_id)?;
    let found = shell.sessions.attachment(&session, &message, &part).await;
    let file = (found.or_ui()?).ok_or_else(|| failed(texts::ATTACHMENT_GONE))?;
    let folder = shell.opened_dir();
    let path = tauri::async_runtime::spawn_blocking(move || as_pdf(&file, &folder))
        .await
        .map_err(failed)??;
    app.opener()
        .open_path(path.display().to_string(), None::<&str>)
        .map_err(failed)
}

async fn find(shell: &Shell, session_id: &str, message_id: &str, part_id: &str) -> Answer<Part> {
    let (session, message, part) = ids(session_id, message_id, part_id)?;
    let found = shell.sessions.part(&session, &message, &part).await;
    found.or_ui()?.ok_or_else(|| failed(texts::PART_GONE))
}

fn ids(
    session_id: &str,
    message_id: &str,
    part_id: &str,
) -> Answer<(SessionId, MessageId, PartId)> {
    let message = MessageId::parse(message_id).map_err(Into::into).or_ui()?;
    let part = PartId::parse(part_id).map_err(Into::into).or_ui()?;
    Ok((session(session_id)?, message, part))
}

/// Writes a copy for the reader. The name is ours, and the content is checked, so that it is not a
/// program.
fn as_pdf(file: &FilePart, folder: &Path) -> Answer<PathBuf> {
    let data = data_url::decode(&file.url).ok_or_else(|| failed(texts::ATTACHMENT_EMPTY))?;
    if !data.bytes.starts_with(b"%PDF-") {
        return Err(failed(texts::NOT_A_PDF));
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    let path = folder.join(format!("{}.pdf", file.id));
    std::fs::write(&path, &data.bytes).map_err(failed)?;
    Ok(path)
}
