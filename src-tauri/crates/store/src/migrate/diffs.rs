//! 1 → 2: a session's diffs get a file of their own.
//!
//! They made the list of sessions slow: whole files before and after, in every record. The
//! counts stay in the session.

use std::path::Path;

use serde_json::{Map, Value};

use super::Change;
use crate::error::Result;
use crate::key::segment;
use crate::spelling;
use crate::storage::encode;

pub(super) fn run(change: &mut Change) -> Result<()> {
    let sessions = change.storage.places.tree.join("session");
    for project in change.names(&sessions)? {
        for name in change.names(&sessions.join(&project))? {
            let id = name.strip_suffix(".json").unwrap_or_default();
            if segment(id).is_ok() {
                split(change, &Path::new("session").join(&project).join(&name), id)?;
            }
        }
    }
    Ok(())
}

/// The diffs are in their new place before they leave the old one. A damaged session stays
/// as it is.
fn split(change: &mut Change, file: &Path, id: &str) -> Result<()> {
    let Some(bytes) = change.read(&change.storage.places.tree.join(file))? else {
        return Ok(());
    };
    let Ok(mut session) = spelling::from_bytes::<Value>(&bytes) else {
        return Ok(());
    };
    let Some(diffs) = session.as_object_mut().and_then(take) else {
        return Ok(());
    };
    change.add(
        &Path::new("session_diff").join(format!("{id}.json")),
        &encode(&diffs)?,
    )?;
    change.replace(file, bytes, &encode(&session)?)
}

/// The diffs out of a session's own record; their counts stay.
pub(crate) fn take(session: &mut Map<String, Value>) -> Option<Value> {
    let summary = session.get_mut("summary")?.as_object_mut()?;
    let diffs = summary.shift_remove("diffs").filter(Value::is_array)?;
    count(summary, &diffs);
    Some(diffs)
}

fn count(summary: &mut Map<String, Value>, diffs: &Value) {
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
