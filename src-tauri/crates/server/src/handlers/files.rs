//! Files of the project: list, read, find. Nothing outside the project is read, and nothing that
//! the agent would have to ask for.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lathe_folders::LinePlaces;
use lathe_protocol::ipc::Mention;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::context::{Asked, OpenPlace, Place, Shared};
use crate::reply::{Answer, Refusal};

const MOST_BYTES: u64 = 10 * 1024 * 1024;
const MOST_ENTRIES: usize = 10_000;
const USUAL_HITS: usize = 100;

#[derive(Deserialize)]
pub struct PathQuery {
    #[serde(default)]
    path: String,
}

pub async fn list(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<PathQuery>,
) -> Answer {
    let folder = shared.folders.locate(place.at(&query.path))?;
    let mut entries = Vec::new();
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Refusal::NotFound("There is no such folder".into()),
        _ => Refusal::BadRequest(error.to_string()),
    };
    let mut found = tokio::fs::read_dir(&folder).await.map_err(unreadable)?;
    while let Some(entry) = found.next_entry().await.map_err(unreadable)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().await.is_ok_and(|kind| kind.is_dir());
        if name == ".git" || entries.len() == MOST_ENTRIES {
            continue;
        }
        let view = entry_view(&place, &entry.path(), &name, is_folder);
        entries.push((!is_folder, name, view));
    }
    entries.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    Ok(Json(entries.into_iter().map(|(_, _, view)| view).collect()))
}

fn entry_view(place: &Place, path: &Path, name: &str, is_folder: bool) -> Value {
    json!({
        "name": name,
        "path": relative(place, path),
        "absolute": path,
        "type": if is_folder { "directory" } else { "file" },
        "ignored": false,
    })
}

fn relative<'a>(place: &Place, path: &'a Path) -> &'a Path {
    path.strip_prefix(&place.real).unwrap_or(path)
}

pub async fn read(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<PathQuery>,
) -> Answer {
    let bytes = shared.folders.read_file(place.at(&query.path), MOST_BYTES);
    Ok(Json(match String::from_utf8(bytes.await?) {
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
    #[serde(rename = "type")]
    kind: Option<EntryKind>,
    limit: Option<usize>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum EntryKind {
    File,
    Directory,
}

pub async fn find_files(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<FindQuery>,
) -> Answer {
    let limit = query.limit.unwrap_or(USUAL_HITS).min(MOST_ENTRIES);
    let found = shared
        .sessions
        .find_mentions(&place.project, &query.query, limit);
    let files = query.kind != Some(EntryKind::Directory);
    let folders = query.kind != Some(EntryKind::File) && query.dirs.as_deref() != Some("false");
    let paths = found
        .await?
        .into_iter()
        .filter_map(|mention| match mention {
            Mention::File { path } if files => Some(path),
            Mention::Directory { path } if folders => Some(path),
            _ => None,
        });
    Ok(Json(paths.map(Value::String).collect()))
}

#[derive(Deserialize)]
pub struct TextQuery {
    #[serde(default)]
    pattern: String,
}

pub async fn find_text(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<TextQuery>,
) -> Answer {
    let (project, folder) = (&place.project, &place.directory);
    let found = shared
        .folders
        .find_text(project, folder, &query.pattern, USUAL_HITS);
    let found = found.await?;
    Ok(Json(
        found.iter().map(|line| line_view(&place, line)).collect(),
    ))
}

fn line_view(place: &Place, found: &LinePlaces) -> Value {
    let matches = found.matches.iter().map(|(start, end)| {
        let text = found.line.get(*start..*end).unwrap_or_default();
        json!({ "match": { "text": text }, "start": start, "end": end })
    });
    json!({
        "path": { "text": relative(place, &found.path) },
        "lines": { "text": found.line },
        "line_number": found.number,
        "absolute_offset": found.offset,
        "submatches": matches.collect::<Vec<_>>(),
    })
}

pub async fn find_symbols(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<FindQuery>,
) -> Answer {
    let limit = query.limit.unwrap_or(USUAL_HITS);
    let found = shared
        .folders
        .find_symbols(&place.project, &query.query, limit);
    let root = Path::new(&place.project.worktree);
    let found = found.await.into_iter();
    Ok(Json(
        found.filter_map(|one| symbol_view(root, one)).collect(),
    ))
}

/// Lines of the clients count from 0.
fn symbol_view(root: &Path, mention: Mention) -> Option<Value> {
    let Mention::Symbol {
        name,
        lsp_kind,
        path,
        line,
        end_line,
        ..
    } = mention
    else {
        return None;
    };
    let uri = Url::from_file_path(root.join(path)).ok()?;
    Some(json!({
        "name": name,
        "kind": lsp_kind,
        "location": {
            "uri": uri.as_str(),
            "range": {
                "start": { "line": line.0 - 1, "character": 0 },
                "end": { "line": end_line.0, "character": 0 },
            },
        },
    }))
}
