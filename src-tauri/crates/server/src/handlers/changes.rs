//! What is changed in the checkout, and its branches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use lathe_folders::ChangesFrom;
use lathe_protocol::{FileDiff, FileStatus};
use lathe_session::files;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{Asked, OpenPlace, Place, Shared};
use crate::reply::Answer;

/// `.git` and `HEAD` hold a path or a name.
const MAX_POINTER: u64 = 16 * 1024;
const USUAL_CONTEXT: usize = 3;
const MOST_CONTEXT: usize = 10_000;

pub async fn branches(State(shared): State<Arc<Shared>>, place: Place) -> Answer {
    let worktree = PathBuf::from(&place.project.worktree);
    let branch = tokio::task::spawn_blocking(move || branch(&worktree)).await;
    let Some(branch) = branch.unwrap_or_default() else {
        return Ok(Json(json!({ "branch": "" })));
    };
    let mut sent = json!({ "branch": branch });
    let git = shared.sessions.git(&place.directory);
    if let Some(default) = git.await?.default_branch().await {
        sent["default_branch"] = json!(default);
    }
    Ok(Json(sent))
}

/// The branch that is checked out. In a linked worktree `.git` is a file that names the folder.
fn branch(worktree: &Path) -> Option<String> {
    let git = worktree.join(".git");
    let folder = match files::read_text(&git, MAX_POINTER) {
        Ok(text) => worktree.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    let head = files::read_text(&folder.join("HEAD"), MAX_POINTER).ok()?;
    Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

#[derive(Deserialize)]
pub struct DiffQuery {
    #[serde(default)]
    mode: DiffMode,
    context: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum DiffMode {
    #[default]
    Git,
    Branch,
}

pub async fn diff(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
    Asked(query): Asked<DiffQuery>,
) -> Answer {
    let from = match query.mode {
        DiffMode::Git => ChangesFrom::Head,
        DiffMode::Branch => ChangesFrom::DefaultBranch,
    };
    let context = query.context.unwrap_or(USUAL_CONTEXT).min(MOST_CONTEXT);
    let diffs = changes(&shared, &place, from).await?;
    let sent = diffs.iter().map(|diff| {
        let mut sent = counted(diff);
        sent["patch"] = json!(patch(diff, context));
        sent
    });
    Ok(Json(sent.collect()))
}

/// All patches in one text, as git writes them.
pub async fn raw_diff(
    State(shared): State<Arc<Shared>>,
    OpenPlace(place): OpenPlace,
) -> Answer<Response> {
    let diffs = changes(&shared, &place, ChangesFrom::Head).await?;
    let mut text = String::new();
    for diff in &diffs {
        let file = &diff.file;
        text.push_str(&format!("diff --git a/{file} b/{file}\n"));
        match diff.binary {
            Some(true) => text.push_str(&format!("Binary files a/{file} and b/{file} differ\n")),
            _ => text.push_str(&patch(diff, USUAL_CONTEXT)),
        }
    }
    let mut response = Response::new(Body::from(text));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    Ok(response)
}

pub async fn status(State(shared): State<Arc<Shared>>, OpenPlace(place): OpenPlace) -> Answer {
    let diffs = changes(&shared, &place, ChangesFrom::Head).await?;
    Ok(Json(diffs.iter().map(counted).collect()))
}

/// The same for older clients.
pub async fn file_status(State(shared): State<Arc<Shared>>, OpenPlace(place): OpenPlace) -> Answer {
    let diffs = changes(&shared, &place, ChangesFrom::Head).await?;
    let sent = diffs.iter().map(|diff| {
        json!({
            "path": diff.file,
            "added": diff.additions,
            "removed": diff.deletions,
            "status": status_of(diff),
        })
    });
    Ok(Json(sent.collect()))
}

async fn changes(shared: &Shared, place: &Place, from: ChangesFrom) -> Answer<Vec<FileDiff>> {
    let (project, directory) = (&place.project, &place.directory);
    let changed = shared.folders.changed_files(project, directory, from);
    Ok(changed.await?)
}

fn counted(diff: &FileDiff) -> Value {
    json!({
        "file": diff.file,
        "additions": diff.additions,
        "deletions": diff.deletions,
        "status": status_of(diff),
    })
}

fn status_of(diff: &FileDiff) -> &'static str {
    match diff.status {
        Some(FileStatus::Added) => "added",
        Some(FileStatus::Deleted) => "deleted",
        _ => "modified",
    }
}

fn patch(diff: &FileDiff, context: usize) -> String {
    let (before, after) = (diff.before.as_deref(), diff.after.as_deref());
    let (old, new) = match diff.status {
        Some(FileStatus::Added) => ("/dev/null".to_owned(), format!("b/{}", diff.file)),
        Some(FileStatus::Deleted) => (format!("a/{}", diff.file), "/dev/null".to_owned()),
        _ => (format!("a/{}", diff.file), format!("b/{}", diff.file)),
    };
    similar::TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .context_radius(context)
        .header(&old, &new)
        .to_string()
}
