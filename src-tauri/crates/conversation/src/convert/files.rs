//! Converts attachments to what the model accepts, or to a sentence that says why it cannot.

use lathe_protocol::FilePart;
use lathe_provider::{FileContent, FileData, UserContent};

use super::Target;
use lathe_protocol::data_url;

/// `None` for plain text files and folders: their content was added as text when the prompt was
/// created.
pub fn convert(file: &FilePart, target: &Target) -> Option<UserContent> {
    if file.mime == "text/plain" || file.mime == "application/x-directory" {
        return None;
    }
    let name = file.filename.as_deref().unwrap_or(&file.mime);
    let refused = |why: &str| UserContent::Text {
        text: format!("[The attachment {name} {why}]"),
    };
    let accepts = match file.mime.as_str() {
        "application/pdf" => target.model.pdf,
        mime if mime.starts_with("image/") => target.model.images,
        _ => false,
    };
    if !accepts {
        let kind = media_kind(&file.mime);
        return Some(refused(&format!(
            "was left out: this model does not take {kind}"
        )));
    }
    let Some(data) = file_data(&file.url) else {
        return Some(refused("was left out: it is not stored with the session"));
    };
    let (mime, data) = match data {
        FileData::Bytes(bytes) if file.mime.starts_with("image/") => {
            match (target.fit)(file, bytes.to_vec()) {
                Some(fitted) => (fitted.mime, FileData::Bytes(fitted.bytes)),
                None => {
                    return Some(refused(
                        "was left out: it is not a picture that can be read",
                    ));
                }
            }
        }
        data => (file.mime.clone(), data),
    };
    Some(UserContent::File(FileContent {
        mime,
        data,
        filename: file.filename.clone(),
    }))
}

fn media_kind(mime: &str) -> &str {
    match mime {
        "application/pdf" => "PDF files",
        mime if mime.starts_with("image/") => "images",
        mime => mime,
    }
}

/// Never reads a file: our own prompts are stored with the content of their attachments, and the
/// path in a session from elsewhere may lead to anything on this machine.
fn file_data(url: &str) -> Option<FileData> {
    if url.starts_with("data:") {
        return data_url::decode(url).map(|data| FileData::Bytes(data.bytes.into()));
    }
    let is_remote = url.starts_with("https://") || url.starts_with("http://");
    is_remote.then(|| FileData::Url(url.to_owned()))
}
