//! The trees that a session's records name.

use std::collections::BTreeSet;

use lathe_protocol::SessionId;
use lathe_snapshot::TreeId;
use lathe_store::Key;
use serde::Serialize;
use serde_json::Value;

use crate::Review;
use crate::error::Result;

/// Every tree that the session's records name; `None` if a record cannot be read, because it
/// might name one.
pub async fn read(review: &Review, session: &SessionId) -> Result<Option<BTreeSet<TreeId>>> {
    let store = review.records.store();
    let Some(record) = store.session(session).await? else {
        return Ok(None);
    };
    let page = review.records.messages(session, None, usize::MAX).await?;
    if !page.damaged.is_empty() {
        return Ok(None);
    }
    let undo: Option<Value> = store.read(&Key::session_revert(session)?).await?;
    let reverted: Option<Value> = store.read(&Key::reverted(session)?).await?;
    let judged: Option<Value> = store.read(&Key::session_review(session)?).await?;
    let mut referenced = named_in(&record);
    referenced.extend(named_in(&judged));
    referenced.extend(named_in(&undo));
    referenced.extend(named_in(&reverted));
    for message in &page.messages {
        referenced.extend(named_in(message));
    }
    Ok(Some(referenced))
}

/// The trees that a record names: every string that looks like a tree id counts. Fields that
/// are added later, or written by another program, are then never missed; a mistake only keeps
/// too much.
pub fn named_in(record: &impl Serialize) -> BTreeSet<TreeId> {
    let mut named = BTreeSet::new();
    if let Ok(value) = serde_json::to_value(record) {
        collect(&value, &mut named);
    }
    named
}

fn collect(value: &Value, named: &mut BTreeSet<TreeId>) {
    match value {
        Value::String(text) => named.extend(text.parse::<TreeId>().ok()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, named)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, named)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named_in;

    #[test]
    fn trees_are_found_wherever_a_record_names_them() {
        let (one, other) = ("1".repeat(40), "a".repeat(40));
        let record = json!({
            "type": "from another program",
            "deep": [{ "tree": one }, 7, null],
            "text": format!("not {other}"),
            "snapshot": other,
        });
        let named: Vec<String> = named_in(&record).iter().map(ToString::to_string).collect();
        assert_eq!(named, [one, other]);
    }
}
