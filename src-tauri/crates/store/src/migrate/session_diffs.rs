//! 1 → 2: a session's diffs move to a file of their own.
//!
//! Diffs hold whole files before and after the change, which made listing sessions slow. The
//! counts stay in the session.

use std::path::Path;

use serde_json::{Map, Value};

use super::Change;
use crate::error::Result;
use crate::json_format;
use crate::key::segment;
use crate::storage::encode;

pub(super) fn run(change: &mut Change) -> Result<()> {
    let sessions = change.storage.dirs.tree.join("session");
    for project in change.names(&sessions)? {
        for name in change.names(&sessions.join(&project))? {
            let id = name.strip_suffix(".json").unwrap_or_default();
            if segment(id).is_ok() {
                move_diffs(change, &Path::new("session").join(&project).join(&name), id)?;
            }
        }
    }
    Ok(())
}

/// Writes the new file before it changes the session. A damaged session is left unchanged.
fn move_diffs(change: &mut Change, file: &Path, id: &str) -> Result<()> {
    let Some(bytes) = change.read(&change.storage.dirs.tree.join(file))? else {
        return Ok(());
    };
    let Ok(mut session) = json_format::from_bytes::<Value>(&bytes) else {
        return Ok(());
    };
    let Some(diffs) = session.as_object_mut().and_then(take_diffs) else {
        return Ok(());
    };
    change.add(
        &Path::new("session_diff").join(format!("{id}.json")),
        &encode(&diffs)?,
    )?;
    change.replace(file, bytes, &encode(&session)?)
}

/// Removes the diffs from a session's record; their counts stay.
pub(crate) fn take_diffs(session: &mut Map<String, Value>) -> Option<Value> {
    let summary = session.get_mut("summary")?.as_object_mut()?;
    let diffs = summary.shift_remove("diffs").filter(Value::is_array)?;
    add_counts(summary, &diffs);
    Some(diffs)
}

fn add_counts(summary: &mut Map<String, Value>, diffs: &Value) {
    let diffs = diffs.as_array().map(Vec::as_slice).unwrap_or_default();
    let sum = |field: &str| {
        diffs
            .iter()
            .filter_map(|diff| diff[field].as_f64())
            .sum::<f64>()
    };
    summary
        .entry("additions")
        .or_insert_with(|| sum("additions").into());
    summary
        .entry("deletions")
        .or_insert_with(|| sum("deletions").into());
    summary.entry("files").or_insert_with(|| diffs.len().into());
}
