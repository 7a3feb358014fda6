//! Files of the project: list, read, find. Nothing outside the project is read.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lathe_protocol::ipc::Mention;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Asked, Place, Shared};
use crate::reply::{Answer, Refusal};

const MOST_BYTES: u64 = 10 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;
const USUAL_HITS: usize = 100;

#[derive(Deserialize)]
pub struct PathQuery {
    #[serde(default)]
    path: String,
}

pub async fn list(place: Place, Asked(query): Asked<PathQuery>) -> Answer {
    let path = if query.path.is_empty() {
        "."
    } else {
        &query.path
    };
    let folder = place.resolve(path)?;
    let mut entries = Vec::new();
    let unreadable = |error: std::io::Error| Refusal::BadRequest(error.to_string());
    let mut found = tokio::fs::read_dir(&folder).await.map_err(unreadable)?;
    while let Some(entry) = found.next_entry().await.map_err(unreadable)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().await.is_ok_and(|kind| kind.is_dir());
        if name == ".git" || entries.len() == MOST_ENTRIES {
            continue;
        }
        entries.push((
            !is_folder,
            name.clone(),
            entry_view(&place, &entry.path(), &name, is_folder),
        ));
    }
    entries.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    Ok(Json(entries.into_iter().map(|(_, _, view)| view).collect()))
}

fn entry_view(place: &Place, path: &Path, name: &str, is_folder: bool) -> Value {
    let relative = path.strip_prefix(&place.directory).unwrap_or(path);
    json!({
        "name": name,
        "path": relative,
        "absolute": path,
        "type": if is_folder { "directory" } else { "file" },
        "ignored": false,
    })
}

pub async fn read(place: Place, Asked(query): Asked<PathQuery>) -> Answer {
    let path = place.resolve(&query.path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The agent has to ask for these, too.
    if name.starts_with(".env") && !name.ends_with(".example") {
        return Err(Refusal::BadRequest(format!("{name} may hold secrets")));
    }
    let read = tokio::task::spawn_blocking(move || lathe_session::files::read(&path, MOST_BYTES));
    let bytes = match read.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(Refusal::BadRequest(error.to_string())),
        Err(error) => return Err(Refusal::Failed(error.to_string())),
    };
    Ok(Json(match String::from_utf8(bytes) {
        Ok(text) => json!({ "type": "text", "content": text }),
        Err(error) => json!({
            "type": "binary",
            "content": STANDARD.encode(error.as_bytes()),
            "encoding": "base64",
            "mimeType": "application/octet-stream",
        }),
    }))
}

#[derive(Deserialize)]
pub struct FindQuery {
    #[serde(default)]
    query: String,
    dirs: Option<String>,
    limit: Option<usize>,
}

pub async fn find_files(
    State(shared): State<Arc<Shared>>,
    place: Place,
    Asked(query): Asked<FindQuery>,
) -> Answer {
    let limit = query.limit.unwrap_or(USUAL_HITS).min(MOST_ENTRIES);
    let found = shared
        .sessions
        .find_mentions(&place.project, &query.query, limit);
    let folders = query.dirs.as_deref() != Some("false");
    let paths = found
        .await?
        .into_iter()
        .filter_map(|mention| match mention {
            Mention::File { path } => Some(path),
            Mention::Directory { path } if folders => Some(path),
            _ => None,
        });
    Ok(Json(paths.map(Value::String).collect()))
}
