//! The review: what to look at, keep and revert, comments, and the steps of a session.

use lathe_changes::{Becomes, Contents, PlannedEdit};
use lathe_protocol::ipc::{
    LineRange, NewComment, RevertFile, RevertLinesFile, RevertLinesOptions, RevertLinesPreview,
    RevertOptions, RevertPreview, ReviewDone, ReviewFileDiff, ReviewFiles, ReviewPictures,
    ReviewScope, ReviewSelection, SessionStep, StepPlace, TreeEntryView,
};
use lathe_protocol::view::{DiffHunk, DiffLine};
use lathe_protocol::{MessageId, Session};
use lathe_render::diff::{self, DiffOptions};
use tauri::State;

use super::session::session;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

/// At most so many lines of a file are sent at once.
const MOST_LINES: usize = 2_000;
/// A preview shows at most so many lines of each file.
const PREVIEW_LINES: usize = 400;

#[tauri::command]
pub async fn review_files(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
) -> Answer<ReviewFiles> {
    let id = session(&session_id)?;
    let files = shell.changes.review_files(&id, &scope, diff::fold_reason);
    files.await.or_ui()
}

#[tauri::command]
pub async fn close_review(shell: State<'_, Shell>, session_id: String) -> Answer<()> {
    shell.changes.close_review(&session(&session_id)?);
    Ok(())
}

#[tauri::command]
pub async fn set_viewed(
    shell: State<'_, Shell>,
    session_id: String,
    path: String,
    version: Option<String>,
) -> Answer<()> {
    let id = session(&session_id)?;
    shell.changes.set_viewed(&id, &path, version).await.or_ui()
}

#[tauri::command]
pub async fn review_file(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    path: String,
    ignore_whitespace: bool,
) -> Answer<ReviewFileDiff> {
    let id = session(&session_id)?;
    let shape = shell
        .changes
        .review_file(&id, &scope, &path, ignore_whitespace);
    shape.await.or_ui()
}

/// Some rows of one hunk, coloured.
#[tauri::command]
#[allow(clippy::too_many_arguments, reason = "the names are those of the call")]
pub async fn review_lines(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    path: String,
    version: String,
    ignore_whitespace: bool,
    hunk: usize,
    from: usize,
    to: usize,
) -> Answer<Vec<DiffLine>> {
    let id = session(&session_id)?;
    let file = (path.as_str(), version.as_str());
    let rows = shell
        .changes
        .review_rows(&id, &scope, file, ignore_whitespace, hunk, from..to);
    let (contents, rows) = rows.await.or_ui()?;
    draw(move || {
        let (old, new) = texts(&contents);
        diff::draw_rows(&path, old, new, &rows)
    })
    .await
}

/// Unchanged lines, coloured.
#[tauri::command]
pub async fn review_context(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    path: String,
    version: String,
    lines: LineRange,
) -> Answer<Vec<DiffLine>> {
    let id = session(&session_id)?;
    let file = (path.as_str(), version.as_str());
    let rows = shell
        .changes
        .review_context(&id, &scope, file, lines.from..lines.to);
    let (contents, rows) = rows.await.or_ui()?;
    draw(move || {
        let (old, new) = texts(&contents);
        diff::draw_rows(&path, old, new, &rows)
    })
    .await
}

#[tauri::command]
pub async fn review_pictures(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    path: String,
) -> Answer<ReviewPictures> {
    let id = session(&session_id)?;
    let contents = shell.changes.review_contents(&id, &scope, &path);
    let contents = contents.await.or_ui()?;
    draw(move || {
        let side = |content: Option<&[u8]>| content.and_then(lathe_render::picture::data_url);
        ReviewPictures {
            old: side(contents.old_bytes()),
            new: side(contents.new_bytes()),
        }
    })
    .await
}

#[tauri::command]
pub async fn keep_lines(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    selection: ReviewSelection,
) -> Answer<ReviewDone> {
    let id = session(&session_id)?;
    let done = shell.changes.keep_lines(&id, &scope, &selection);
    done.await.or_ui()
}

#[tauri::command]
pub async fn unkeep_lines(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    selection: ReviewSelection,
) -> Answer<ReviewDone> {
    let id = session(&session_id)?;
    let done = shell.changes.unkeep_lines(&id, &scope, &selection);
    done.await.or_ui()
}

#[tauri::command]
pub async fn preview_revert_lines(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    selection: ReviewSelection,
    options: Option<RevertLinesOptions>,
) -> Answer<RevertLinesPreview> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    let planned = shell
        .changes
        .preview_revert_lines(&id, &scope, &selection, &options);
    let planned = planned.await.or_ui()?;
    draw(move || {
        let files: Vec<RevertLinesFile> = planned.iter().filter_map(preview).collect();
        RevertLinesPreview {
            must_ask: planned.iter().any(|one| one.merged || one.was_conflict),
            files,
        }
    })
    .await
}

#[tauri::command]
pub async fn revert_lines(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    selection: ReviewSelection,
    options: Option<RevertLinesOptions>,
) -> Answer<ReviewDone> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    let done = shell
        .changes
        .revert_lines(&id, &scope, &selection, &options);
    done.await.or_ui()
}

#[tauri::command]
pub async fn undo_review(
    shell: State<'_, Shell>,
    session_id: String,
    options: Option<RevertLinesOptions>,
) -> Answer<ReviewDone> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    shell.changes.undo_review(&id, &options).await.or_ui()
}

#[tauri::command]
pub async fn redo_review(
    shell: State<'_, Shell>,
    session_id: String,
    options: Option<RevertLinesOptions>,
) -> Answer<ReviewDone> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    shell.changes.redo_review(&id, &options).await.or_ui()
}

#[tauri::command]
pub async fn add_comment(
    shell: State<'_, Shell>,
    session_id: String,
    scope: ReviewScope,
    comment: NewComment,
) -> Answer<ReviewDone> {
    let id = session(&session_id)?;
    shell
        .changes
        .add_comment(&id, &scope, comment)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn edit_comment(
    shell: State<'_, Shell>,
    session_id: String,
    id: String,
    text: String,
) -> Answer<ReviewDone> {
    let session = session(&session_id)?;
    shell
        .changes
        .edit_comment(&session, &id, &text)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn remove_comment(
    shell: State<'_, Shell>,
    session_id: String,
    id: String,
) -> Answer<ReviewDone> {
    let session = session(&session_id)?;
    shell.changes.remove_comment(&session, &id).await.or_ui()
}

#[tauri::command]
pub async fn resolve_comment(
    shell: State<'_, Shell>,
    session_id: String,
    id: String,
    resolved: bool,
) -> Answer<ReviewDone> {
    let session = session(&session_id)?;
    let done = shell.changes.resolve_comment(&session, &id, resolved);
    done.await.or_ui()
}

#[tauri::command]
pub async fn send_comments(
    shell: State<'_, Shell>,
    session_id: String,
    text: String,
) -> Answer<MessageId> {
    let id = session(&session_id)?;
    shell.changes.send_comments(&id, &text).await.or_ui()
}

#[tauri::command]
pub async fn session_steps(
    shell: State<'_, Shell>,
    session_id: String,
) -> Answer<Vec<SessionStep>> {
    let id = session(&session_id)?;
    shell.changes.session_steps(&id).await.or_ui()
}

#[tauri::command]
pub async fn step_tree(
    shell: State<'_, Shell>,
    session_id: String,
    at: StepPlace,
    folder: String,
) -> Answer<Vec<TreeEntryView>> {
    let id = session(&session_id)?;
    shell.changes.step_tree(&id, &at, &folder).await.or_ui()
}

/// Some lines of a file as it was then.
#[tauri::command]
pub async fn step_file(
    shell: State<'_, Shell>,
    session_id: String,
    at: StepPlace,
    path: String,
    lines: LineRange,
) -> Answer<Vec<DiffLine>> {
    let id = session(&session_id)?;
    let bytes = shell.changes.step_file(&id, &at, &path).await.or_ui()?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(failed(texts::NOT_TEXT));
    };
    draw(move || {
        let first = lines.from.max(1);
        let last = lines.to.min(first.saturating_add(MOST_LINES - 1));
        diff::draw_file(&path, &text, first..last + 1)
    })
    .await
}

#[tauri::command]
pub async fn preview_restore(
    shell: State<'_, Shell>,
    session_id: String,
    at: StepPlace,
) -> Answer<RevertPreview> {
    let id = session(&session_id)?;
    let plan = shell.changes.preview_restore(&id, &at).await.or_ui()?;
    draw(move || {
        let is_open = |one: &PlannedEdit| matches!(one.becomes, Becomes::Conflict(_));
        RevertPreview {
            complete: plan.unseen.unknown.is_empty() && !plan.files.iter().any(is_open),
            files: plan.files.iter().filter_map(file).collect(),
            hides_messages: 0,
            unknown: plan.unseen.unknown,
            not_kept: plan.unseen.not_shown,
        }
    })
    .await
}

#[tauri::command]
pub async fn restore_files(
    shell: State<'_, Shell>,
    session_id: String,
    at: StepPlace,
    options: Option<RevertOptions>,
) -> Answer<ReviewDone> {
    let (id, options) = (session(&session_id)?, options.unwrap_or_default());
    shell
        .changes
        .restore_files(&id, &at, &options)
        .await
        .or_ui()
}

#[tauri::command]
pub async fn fork_at(
    shell: State<'_, Shell>,
    session_id: String,
    at: StepPlace,
    worktree: bool,
) -> Answer<Session> {
    let id = session(&session_id)?;
    shell.changes.fork_at(&id, &at, worktree).await.or_ui()
}

fn texts(contents: &Contents) -> (&str, &str) {
    (
        contents.old_text().unwrap_or_default(),
        contents.new_text().unwrap_or_default(),
    )
}

fn file(planned: &PlannedEdit) -> Option<RevertFile> {
    let (additions, deletions) = planned.counts();
    let open = planned.open_file();
    match &planned.becomes {
        Becomes::Same => None,
        Becomes::Conflict(_) => open,
        Becomes::Content(_) => Some(RevertFile {
            path: planned.path.to_string(),
            change: planned.change(),
            reason: None,
            additions,
            deletions,
            sides: None,
        }),
    }
}

fn preview(planned: &PlannedEdit) -> Option<RevertLinesFile> {
    let described = file(planned)?;
    Some(RevertLinesFile {
        path: described.path,
        change: described.change,
        merged: planned.merged,
        reason: described.reason,
        additions: described.additions,
        deletions: described.deletions,
        hunks: preview_hunks(planned),
        conflicts: planned.conflicts.clone(),
    })
}

fn preview_hunks(planned: &PlannedEdit) -> Vec<DiffHunk> {
    let (now, then) = planned.texts();
    let options = DiffOptions {
        unfold: true,
        ..DiffOptions::new(planned.path.to_string())
    };
    let mut hunks = diff::file_diff(now.as_deref(), then.as_deref(), &options).hunks;
    let mut left = PREVIEW_LINES;
    hunks.retain_mut(|hunk| {
        hunk.lines.truncate(left);
        left -= hunk.lines.len();
        !hunk.lines.is_empty()
    });
    hunks
}

/// Rendering takes a while, so it must not block the async runtime.
async fn draw<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.map_err(failed)
}
