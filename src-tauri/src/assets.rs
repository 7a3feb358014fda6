//! `attachment://`: the bytes of attachments, which never cross as JSON.
//!
//! `attachment://localhost/{session}/{message}/{part}` is the file itself; `?thumb=PX` a
//! picture at most that large, scaled here so that the webview decodes it once.

use lathe_protocol::{MessageId, Part, PartId, SessionId};
use lathe_session::{Sessions, data_url};
use tauri::http::{Request, Response, StatusCode, header};
use tauri::{Manager, UriSchemeContext, UriSchemeResponder, Wry};

use crate::state::Shell;

pub const SCHEME: &str = "attachment";

/// Only these are shown; everything else is handed to the system as a file.
const SHOWN: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
];

pub fn serve(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    out: UriSchemeResponder,
) {
    let sessions = context.app_handle().state::<Shell>().sessions.clone();
    tauri::async_runtime::spawn(async move {
        let uri = request.uri();
        let answer = find(&sessions, uri.path(), uri.query().unwrap_or_default()).await;
        out.respond(answer.unwrap_or_else(empty));
    });
}

async fn find(
    sessions: &Sessions,
    path: &str,
    query: &str,
) -> Result<Response<Vec<u8>>, StatusCode> {
    let mut ids = path.trim_matches('/').split('/');
    let mut next = || ids.next().unwrap_or_default();
    let session = SessionId::parse(next()).map_err(|_| StatusCode::BAD_REQUEST)?;
    let message = MessageId::parse(next()).map_err(|_| StatusCode::BAD_REQUEST)?;
    let part = PartId::parse(next()).map_err(|_| StatusCode::BAD_REQUEST)?;
    let found = sessions.part(&session, &message, &part).await;
    let Ok(Some(Part::File(file))) = found else {
        return Err(StatusCode::NOT_FOUND);
    };
    let data = data_url::decode(&file.url).ok_or(StatusCode::NOT_FOUND)?;
    if !SHOWN.contains(&data.mime.as_str()) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    match query.strip_prefix("thumb=").and_then(|px| px.parse().ok()) {
        None => respond(&data.mime, data.bytes),
        Some(px) => {
            let scaled = tauri::async_runtime::spawn_blocking(move || {
                lathe_render::image_view::thumbnail(&data.bytes, px)
            });
            let scaled = scaled
                .await
                .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
            let scaled = scaled.map_err(|_| StatusCode::UNSUPPORTED_MEDIA_TYPE)?;
            respond(scaled.mime, scaled.bytes)
        }
    }
}

fn respond(mime: &str, bytes: Vec<u8>) -> Result<Response<Vec<u8>>, StatusCode> {
    Response::builder()
        .header(header::CONTENT_TYPE, mime)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        // A part's bytes never change.
        .header(
            header::CACHE_CONTROL,
            "private, max-age=31536000, immutable",
        )
        .body(bytes)
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

fn empty(status: StatusCode) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = status;
    response
}
