//! Which trees a session can still be asked for: those that something of it names.

use std::collections::BTreeSet;

use lathe_protocol::SessionId;
use lathe_snapshot::TreeId;
use lathe_store::Key;
use serde::Serialize;
use serde_json::Value;

use crate::Review;
use crate::error::Result;

/// Nothing while one of the session's records cannot be read: who knows what it names.
pub async fn by(review: &Review, session: &SessionId) -> Result<Option<BTreeSet<TreeId>>> {
    let store = review.records.store();
    let Some(record) = store.session(session).await? else {
        return Ok(None);
    };
    let page = review.records.messages(session, None, usize::MAX).await?;
    if !page.damaged.is_empty() {
        return Ok(None);
    }
    let undo: Option<Value> = store.read(&Key::session_revert(session)?).await?;
    let mut needed = named_in(&record);
    needed.extend(named_in(&undo));
    for message in &page.messages {
        needed.extend(named_in(message));
    }
    Ok(Some(needed))
}

/// Whatever looks like a tree's name counts. So a field that is added one day, or that another
/// program wrote, cannot be forgotten; a mistake keeps too much.
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
