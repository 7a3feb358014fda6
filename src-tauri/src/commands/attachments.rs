//! Attachments: stage, show, copy and save them. The window names them by address, never by path.

use std::path::PathBuf;

use lathe_protocol::FilePart;
use lathe_protocol::ipc::{Attached, AttachmentView, PromptFile, SessionImage, SessionUsage};
use lathe_render::escape::is_hidden;
use lathe_render::picture;
use lathe_session::data_url;
use tauri::ipc::{InvokeBody, Request};
use tauri::{AppHandle, Manager, State};
use tauri_plugin_dialog::{DialogExt, FilePath};
use tokio::sync::oneshot;

use super::session::session;
use crate::assets::{self, Asset};
use crate::clipboard::Copied;
use crate::error::{Answer, OrUi, failed};
use crate::staged_attachments::gather;
use crate::state::Shell;
use crate::texts;

/// Opens the native dialog. No platform has one dialog for both files and folders.
#[tauri::command]
pub async fn pick_attachments(app: AppHandle, folders: bool) -> Answer<Attached> {
    let (answer, picked) = oneshot::channel::<Option<Vec<FilePath>>>();
    let dialog = app.dialog().file();
    // If the window closes first, nothing receives the answer.
    let done = move |paths| drop(answer.send(paths));
    match folders {
        true => dialog.set_title(texts::ATTACH_FOLDERS).pick_folders(done),
        false => dialog.set_title(texts::ATTACH_FILES).pick_files(done),
    }
    let Ok(Some(paths)) = picked.await else {
        return Ok(Attached::default());
    };
    let paths = paths.into_iter().filter_map(|path| path.into_path().ok());
    stage(app, paths.collect()).await
}

/// Files and pictures on the system's clipboard.
#[tauri::command]
pub async fn paste_clipboard(app: AppHandle) -> Answer<Attached> {
    blocking(app, |shell| {
        match shell.clipboard.read().map_err(failed)? {
            Copied::Files(paths) => Ok(shell.attachments.stage_paths(&paths)),
            Copied::Picture(pixels) => {
                let png = picture::encode_png(pixels).map_err(failed)?;
                let staged = shell
                    .attachments
                    .stage_bytes(texts::PASTED_IMAGE, &png.bytes);
                Ok(gather(std::iter::once(staged)))
            }
            Copied::Nothing => Ok(Attached::default()),
        }
    })
    .await
}

/// The body is the raw bytes; the name is percent-encoded in a header.
#[tauri::command]
pub async fn attach_bytes(app: AppHandle, request: Request<'_>) -> Answer<Attached> {
    let InvokeBody::Raw(bytes) = request.body() else {
        return Err(failed(texts::NOT_BYTES));
    };
    let name = request.headers().get("x-name");
    let name = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    let name = String::from_utf8_lossy(&data_url::percent_decode(name)).into_owned();
    let bytes = bytes.clone();
    blocking(app, move |shell| {
        let staged = shell.attachments.stage_bytes(&name, &bytes);
        Ok(gather(std::iter::once(staged)))
    })
    .await
}

/// Fetches a remote picture that the person clicked, and returns its `attachment://` address. The
/// webview itself may not connect to any host.
#[tauri::command]
pub async fn load_remote_image(app: AppHandle, url: String) -> Answer<String> {
    let sessions = app.state::<Shell>().sessions.clone();
    let bytes = sessions.fetch_picture(&url).await.or_ui()?;
    blocking(app, move |shell| {
        let picture = lathe_protocol::media::sniff_picture(&bytes)
            .and_then(|_| shell.attachments.stage_bytes(texts::IMAGE, &bytes).ok());
        let picture = picture.ok_or_else(|| failed(texts::NO_IMAGE))?;
        Ok(picture.url)
    })
    .await
}

/// The staged attachments with these ids that still exist.
#[tauri::command]
pub async fn find_attachments(app: AppHandle, ids: Vec<String>) -> Answer<Vec<AttachmentView>> {
    blocking(app, move |shell| {
        Ok(ids
            .iter()
            .filter_map(|id| shell.attachments.find(id))
            .collect())
    })
    .await
}

#[tauri::command]
pub async fn remove_attachment(app: AppHandle, id: String) -> Answer<()> {
    blocking(app, move |shell| {
        shell.attachments.remove(&id);
        Ok(())
    })
    .await
}

#[tauri::command]
pub async fn session_images(
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<Vec<SessionImage>> {
    shell
        .sessions
        .attachments(&session(&session_id)?, image)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn session_usage(shell: State<'_, Shell>, session_id: String) -> Answer<SessionUsage> {
    shell.sessions.usage(&session(&session_id)?).await.or_ui()
}

#[tauri::command]
pub async fn copy_image(app: AppHandle, url: String) -> Answer<()> {
    let asset = asset(&app, &url).await?;
    blocking(app, move |shell| {
        let pixels = picture::decode_pixels(&bytes(shell, &asset)?).map_err(failed)?;
        shell.clipboard.set_picture(pixels).map_err(failed)
    })
    .await
}

/// False when the dialog was dismissed.
#[tauri::command]
pub async fn save_attachment(app: AppHandle, url: String) -> Answer<bool> {
    let asset = asset(&app, &url).await?;
    let (answer, picked) = oneshot::channel::<Option<FilePath>>();
    app.dialog()
        .file()
        .set_title(texts::SAVE_ATTACHMENT)
        .set_file_name(plain_name(asset.name().unwrap_or_default()))
        .save_file(move |path| drop(answer.send(path)));
    let Ok(Some(path)) = picked.await else {
        return Ok(false);
    };
    let path = path.into_path().map_err(failed)?;
    blocking(app, move |shell| {
        std::fs::write(path, bytes(shell, &asset)?).map_err(failed)?;
        Ok(true)
    })
    .await
}

/// Replaces the window's addresses by URLs that the core can read. Returns the ids of staged
/// attachments, so that they can be removed once the prompt is stored.
pub async fn resolve(app: &AppHandle, files: &mut [PromptFile]) -> Answer<Vec<String>> {
    let mut staged = Vec::new();
    for file in files.iter_mut().filter(|file| assets::is_ours(&file.url)) {
        let found = match asset(app, &file.url).await? {
            Asset::Stored(stored) => stored.url,
            Asset::Staged(view) => {
                staged.push(view.id.clone());
                let gone = format!("{} couldn’t be read", view.name);
                let url = move |shell: &Shell| shell.attachments.url_for_core(&view);
                blocking(app.clone(), move |shell| {
                    url(shell).map_err(|_| failed(gone))
                })
                .await?
            }
        };
        file.url = found;
    }
    Ok(staged)
}

pub async fn stage(app: AppHandle, paths: Vec<PathBuf>) -> Answer<Attached> {
    blocking(app, move |shell| Ok(shell.attachments.stage_paths(&paths))).await
}

fn image(file: &FilePart) -> Option<SessionImage> {
    // Only pictures stored with the session: a file elsewhere may have changed since.
    let shown = file.url.starts_with("data:") && file.mime.starts_with("image/");
    shown.then(|| SessionImage {
        message_id: file.message_id.clone(),
        part_id: file.id.clone(),
        url: assets::url_of(file),
        name: file.filename.clone().unwrap_or_default(),
        mime: file.mime.clone(),
    })
}

/// A safe suggestion for a save dialog. The name may come from a model, so it must not contain a
/// folder or characters that hide its extension.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut previous = None;
    let mut plain = String::new();
    for c in last.chars() {
        let dropped = c.is_control() || is_hidden(previous, c) || "<>:\"|?*".contains(c);
        if !dropped {
            plain.push(c);
        }
        previous = Some(c);
    }
    // A leading dot would hide the file; Windows drops trailing dots and spaces.
    let plain = plain.trim().trim_matches('.').trim();
    match plain {
        "" => "attachment".to_owned(),
        plain => plain.to_owned(),
    }
}

async fn asset(app: &AppHandle, url: &str) -> Answer<Asset> {
    let found = assets::find(&app.state::<Shell>(), url).await;
    found.ok_or_else(|| failed(texts::ATTACHMENT_GONE))
}

fn bytes(shell: &Shell, asset: &Asset) -> Answer<Vec<u8>> {
    let bytes = asset.bytes(shell);
    bytes.ok_or_else(|| failed(texts::ATTACHMENT_UNREADABLE))
}

async fn blocking<T: Send + 'static>(
    app: AppHandle,
    work: impl FnOnce(&Shell) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    tauri::async_runtime::spawn_blocking(move || work(&app.state::<Shell>()))
        .await
        .map_err(failed)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_is_one_plain_name() {
        for (name, plain) in [
            ("lamp.png", "lamp.png"),
            ("../../.bashrc", "bashrc"),
            ("C:\\Windows\\notes.txt", "notes.txt"),
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            ("a\nb\u{7}.txt", "ab.txt"),
            ("été à la mer 🏖️.jpg", "été à la mer 🏖️.jpg"),
            ("..", "attachment"),
            ("", "attachment"),
        ] {
            assert_eq!(plain_name(name), plain, "{name:?}");
        }
    }
}
