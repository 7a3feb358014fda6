//! Sharing, exporting and importing sessions.

use std::path::PathBuf;

use lathe_protocol::Session;
use lathe_protocol::ipc::{ImportReport, SharePreview};
use tauri::{AppHandle, State, Url};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};
use tauri_plugin_opener::OpenerExt;
use tokio::sync::oneshot;

use super::app::open_external;
use super::session::session;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

#[tauri::command]
pub async fn share_preview(shell: State<'_, Shell>, session_id: String) -> Answer<SharePreview> {
    let id = session(&session_id)?;
    shell.sessions.share_preview(&id).await.or_ui()
}

/// Shares to the configured server, or to a file that a dialog asks for. None if the dialog was
/// dismissed.
#[tauri::command]
pub async fn share_session(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<Option<Session>> {
    let id = session(&session_id)?;
    let preview = shell.sessions.share_preview(&id).await.or_ui()?;
    if preview.endpoint.is_some() {
        return shell.sessions.share(&id, None).await.or_ui().map(Some);
    }
    let name = file_name(&shell, &id, "html").await?;
    let dialog = app.dialog().file().set_title(texts::SAVE_PAGE);
    let Some(file) = save(dialog.set_file_name(name)).await? else {
        return Ok(None);
    };
    shell
        .sessions
        .share(&id, Some(&file))
        .await
        .or_ui()
        .map(Some)
}

#[tauri::command]
pub async fn unshare_session(shell: State<'_, Shell>, session_id: String) -> Answer<Session> {
    let id = session(&session_id)?;
    shell.sessions.unshare(&id).await.or_ui()
}

/// Opens the shared page in the browser, whether it is a file or a web address.
#[tauri::command]
pub async fn open_shared(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<()> {
    let share = shell.sessions.get(&session(&session_id)?).await.or_ui()?;
    let share = share.share.ok_or_else(|| failed(texts::NOT_SHARED))?;
    match page_of(&share.url) {
        Some(page) => app.opener().open_path(page, None::<&str>).map_err(failed),
        None => open_external(app, share.url).await,
    }
}

/// Only an HTML file: the system might run anything else.
fn page_of(url: &str) -> Option<String> {
    let file = Url::parse(url).ok()?.to_file_path().ok()?;
    let is_page = file.extension()?.eq_ignore_ascii_case("html");
    is_page.then(|| file.to_str().map(str::to_owned))?
}

/// Returns the path of the file. None if the dialog was dismissed.
#[tauri::command]
pub async fn export_session(
    app: AppHandle,
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<Option<String>> {
    let id = session(&session_id)?;
    let name = file_name(&shell, &id, "json").await?;
    let dialog = app.dialog().file().set_title(texts::EXPORT_SESSION);
    let Some(file) = save(dialog.set_file_name(name)).await? else {
        return Ok(None);
    };
    let export = shell.sessions.export(&id).await.or_ui()?;
    let text = serde_json::to_string_pretty(&export).map_err(failed)?;
    tokio::fs::write(&file, text).await.map_err(failed)?;
    Ok(Some(file.display().to_string()))
}

/// None if the dialog was dismissed.
#[tauri::command]
pub async fn import_session(
    app: AppHandle,
    shell: State<'_, Shell>,
) -> Answer<Option<ImportReport>> {
    let (answer, picked) = oneshot::channel();
    let dialog = app.dialog().file().set_title(texts::IMPORT_SESSION);
    dialog
        .add_filter("Session", &["json"])
        .pick_file(move |file| {
            // If the window closes first, nothing receives the answer.
            let _ = answer.send(file);
        });
    let Some(file) = path(picked.await.ok().flatten())? else {
        return Ok(None);
    };
    shell.sessions.import_from(&file).await.or_ui().map(Some)
}

/// Asks with the native dialog; `None` if it was dismissed.
pub async fn ask_where_to_save(app: &AppHandle, name: &str) -> Answer<Option<PathBuf>> {
    save(app.dialog().file().set_file_name(name)).await
}

async fn save(dialog: FileDialogBuilder<tauri::Wry>) -> Answer<Option<PathBuf>> {
    let (answer, picked) = oneshot::channel();
    dialog.save_file(move |file| {
        let _ = answer.send(file);
    });
    path(picked.await.ok().flatten())
}

fn path(file: Option<FilePath>) -> Answer<Option<PathBuf>> {
    file.map(|file| file.into_path().map_err(failed))
        .transpose()
}

/// The session's title as a file name.
async fn file_name(shell: &Shell, id: &lathe_protocol::SessionId, ending: &str) -> Answer<String> {
    let title = shell.sessions.get(id).await.or_ui()?.title;
    let safe = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = title.chars().map(safe).take(60).collect();
    Ok(format!("{}.{ending}", name.trim_matches('-')))
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn only_a_page_is_opened_from_the_disk() {
        assert_eq!(
            page_of("file:///a/b%20c.html").as_deref(),
            Some("/a/b c.html")
        );
        for other in ["file:///a/run.sh", "file:///a", "https://a.b/c.html", "x"] {
            assert_eq!(page_of(other), None, "{other}");
        }
    }
}
