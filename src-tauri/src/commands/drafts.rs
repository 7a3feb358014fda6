//! Drafts: prompts that are not sent yet.

use std::collections::BTreeMap;

use lathe_protocol::ipc::Draft;
use tauri::State;

use crate::error::{Answer, failed};
use crate::state::Shell;

#[tauri::command]
pub async fn drafts(shell: State<'_, Shell>) -> Answer<BTreeMap<String, Draft>> {
    let desk = shell.drafts.clone();
    tokio::task::spawn_blocking(move || desk.all())
        .await
        .map_err(failed)
}

/// Not async, so that drafts arrive in the order in which they were typed.
#[tauri::command]
pub fn keep_draft(shell: State<'_, Shell>, place: String, draft: Option<Draft>) -> Answer<()> {
    match shell.drafts.set(&place, draft) {
        true => Ok(()),
        false => Err(failed(format!("{place} has no draft"))),
    }
}
