//! Serves `attachment://`: the bytes of attachments, which are never sent as JSON.
//!
//! `attachment://localhost/{session}/{message}/{part}` is a stored file. One that a tool call
//! returned may also be named by the call and its index there: `…/{part}/{index}`.
//! `attachment://localhost/staged/{id}` is an attachment that is not sent yet. `?thumb=PX` scales a
//! picture down to that size, so that the webview has less to decode.

use lathe_protocol::ipc::AttachmentView;
use lathe_protocol::{FilePart, MessageId, Part, PartId, SessionId};
use lathe_render::picture;
use lathe_session::data_url;
use tauri::http::{Request, Response, StatusCode, header};
use tauri::{Manager, UriSchemeContext, UriSchemeResponder, Wry};

use crate::staged_attachments::STAGED;
use crate::state::Shell;

pub const SCHEME: &str = "attachment";
const ROOT: &str = "attachment://localhost/";

/// The address of a stored file.
pub fn url_of(file: &FilePart) -> String {
    file.address()
}

pub fn is_ours(url: &str) -> bool {
    url.starts_with(ROOT)
}

/// What an `attachment://` address points to.
pub enum Asset {
    Staged(AttachmentView),
    Stored(Box<FilePart>),
}

impl Asset {
    pub fn name(&self) -> Option<&str> {
        match self {
            Asset::Staged(staged) => Some(&staged.name),
            Asset::Stored(file) => file.filename.as_deref(),
        }
    }

    /// Blocks. None if the bytes cannot be read.
    pub fn bytes(&self, shell: &Shell) -> Option<Vec<u8>> {
        match self {
            Asset::Staged(staged) => shell.attachments.read(staged).ok(),
            Asset::Stored(file) => Some(data_url::decode(&file.url)?.bytes),
        }
    }
}

/// Resolves an `attachment://localhost/…` address.
pub async fn find(shell: &Shell, url: &str) -> Option<Asset> {
    let path = url.strip_prefix(ROOT)?;
    let mut names = path.split('/');
    let mut next = || names.next().unwrap_or_default();
    let first = next();
    if first == STAGED {
        return shell.attachments.find(next()).map(Asset::Staged);
    }
    let session = SessionId::parse(first).ok()?;
    let message = MessageId::parse(next()).ok()?;
    let part = PartId::parse(next()).ok()?;
    let index = names.next().and_then(|index| index.parse().ok());
    let file = match index {
        None => shell.sessions.attachment(&session, &message, &part).await,
        Some(index) => {
            let call = shell.sessions.part(&session, &message, &part).await;
            call.map(|call| attached(call?, index))
        }
    };
    file.ok()?.map(|file| Asset::Stored(Box::new(file)))
}

fn attached(call: Part, index: usize) -> Option<FilePart> {
    match call {
        Part::Tool(call) => call.attachments().get(index).cloned(),
        _ => None,
    }
}

pub fn serve(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    out: UriSchemeResponder,
) {
    let app = context.app_handle().clone();
    tauri::async_runtime::spawn(async move {
        let path = request.uri().path().trim_matches('/').to_owned();
        let side = request.uri().query().and_then(thumb);
        let answer = match find(&app.state::<Shell>(), &format!("{ROOT}{path}")).await {
            None => Err(StatusCode::NOT_FOUND),
            Some(asset) => tauri::async_runtime::spawn_blocking(move || {
                picture(&app.state::<Shell>(), &asset, side)
            })
            .await
            .unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR)),
        };
        out.respond(answer.unwrap_or_else(empty));
    });
}

fn thumb(query: &str) -> Option<u32> {
    query.strip_prefix("thumb=")?.parse().ok()
}

/// Only pictures are served, recognised by their content. Other files are opened by the system.
fn picture(
    shell: &Shell,
    asset: &Asset,
    side: Option<u32>,
) -> Result<Response<Vec<u8>>, StatusCode> {
    let bytes = asset.bytes(shell).ok_or(StatusCode::NOT_FOUND)?;
    let mime =
        lathe_protocol::media::sniff_picture(&bytes).ok_or(StatusCode::UNSUPPORTED_MEDIA_TYPE)?;
    match side {
        None => respond(mime, bytes),
        Some(side) => {
            let scaled =
                picture::thumbnail(&bytes, side).map_err(|_| StatusCode::UNSUPPORTED_MEDIA_TYPE)?;
            respond(scaled.mime, scaled.bytes)
        }
    }
}

fn respond(mime: &str, bytes: Vec<u8>) -> Result<Response<Vec<u8>>, StatusCode> {
    Response::builder()
        .header(header::CONTENT_TYPE, mime)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        // The content behind an address never changes.
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
