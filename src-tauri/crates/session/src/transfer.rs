//! Exports a session for another machine: with its attachments, without what is only valid here.

use lathe_protocol::ipc::SessionExport;
use lathe_protocol::{FileDiff, MessageWithParts, Session, Todo};
use serde_json::Value;
use url::Url;

use lathe_protocol::data_url;
use lathe_records::{Failed, Result};

/// A larger attachment stays a reference to its file.
const LARGEST_INLINED: u64 = 20 << 20;

/// `messages` does not include what a pending revert hides.
pub async fn export(
    session: Session,
    messages: Vec<MessageWithParts>,
    todos: Vec<Todo>,
    diff: Vec<FileDiff>,
) -> Result<SessionExport> {
    let export = SessionExport {
        // Undo records and the share stay on this machine.
        info: Session {
            revert: None,
            share: None,
            ..session
        },
        messages,
        todos: (!todos.is_empty()).then_some(todos),
        diff: (!diff.is_empty()).then_some(diff),
    };
    let inlined = tokio::task::spawn_blocking(move || {
        let mut value = serde_json::to_value(&export)?;
        inline_files(&mut value);
        serde_json::from_value(value)
    });
    let done = inlined
        .await
        .map_err(|error| Failed::refused(error.to_string()))?;
    done.map_err(|error: serde_json::Error| Failed::refused(error.to_string()))
}

/// Replaces the URLs of local pictures and PDFs by their content.
fn inline_files(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(inline_files),
        Value::Object(fields) => {
            let mime = fields.get("mime").and_then(Value::as_str);
            let inlinable =
                mime.filter(|mime| mime.starts_with("image/") || *mime == "application/pdf");
            let url = fields.get("url").and_then(Value::as_str);
            if let (Some(mime), Some(url)) = (inlinable, url)
                && let Some(bytes) = read_small(url)
            {
                let inlined = data_url::encode(mime, &bytes);
                fields.insert("url".to_owned(), inlined.into());
            }
            fields.values_mut().for_each(inline_files);
        }
        _ => {}
    }
}

fn read_small(url: &str) -> Option<Vec<u8>> {
    let path = Url::parse(url).ok()?.to_file_path().ok()?;
    let small = std::fs::metadata(&path).ok()?.len() <= LARGEST_INLINED;
    small.then(|| std::fs::read(path).ok()).flatten()
}
