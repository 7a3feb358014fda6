//! Full-text search, and opening a session at a hit.

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{FindHit, MessagePage, SearchAnswer, SessionView};
use tauri::State;

use super::session::session;
use crate::error::{Answer, OrUi};
use crate::state::Shell;

/// The most hits that a search returns.
const MOST_HITS: usize = 200;
/// The window asks for more when it scrolls.
const LARGEST_PAGE: usize = 200;

#[tauri::command]
pub async fn search(shell: State<'_, Shell>, query: String, limit: usize) -> Answer<SearchAnswer> {
    let found = shell.sessions.search_text(&query, limit.min(MOST_HITS));
    found.await.or_ui()
}

#[tauri::command]
pub async fn find_in_session(
    shell: State<'_, Shell>,
    session_id: String,
    query: String,
) -> Answer<Vec<FindHit>> {
    let id = session(&session_id)?;
    shell.sessions.find_in(&id, &query).await.or_ui()
}

#[tauri::command]
pub async fn open_session_at(
    shell: State<'_, Shell>,
    session_id: String,
    message_id: String,
    limit: usize,
) -> Answer<SessionView> {
    let (id, at) = (session(&session_id)?, message(&message_id)?);
    let opened = shell.bridge.open_at(&id, &at, limit.min(LARGEST_PAGE));
    opened.await.or_ui()
}

#[tauri::command]
pub async fn newer_messages(
    shell: State<'_, Shell>,
    session_id: String,
    after: String,
    limit: usize,
) -> Answer<MessagePage> {
    let (id, after) = (session(&session_id)?, message(&after)?);
    let newer = shell.bridge.newer(&id, &after, limit.min(LARGEST_PAGE));
    newer.await.or_ui()
}

fn message(id: &str) -> Answer<MessageId> {
    MessageId::parse(id).map_err(Into::into).or_ui()
}
