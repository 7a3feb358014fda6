//! The tools of a server, and whether each still has the description that the user accepted.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::decisions::{Decisions, Fingerprint};
use crate::registry::ServerKey;

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub schema: Map<String, Value>,
    /// The server claims that the tool changes nothing. Used to order calls, never to allow one.
    pub read_only: bool,
    /// Differs from what the user accepted, so it is not offered until they accept it again.
    pub changed: bool,
    fingerprint: Fingerprint,
}

/// Marks the tools that the user has not accepted as they are now. The first list of a server
/// counts as accepted, because the user has just added it.
pub fn compare(
    listed: Vec<rmcp::model::Tool>,
    decisions: &Decisions,
    server: &ServerKey,
) -> Vec<Tool> {
    let key = server.to_string();
    let mut tools: Vec<Tool> = listed.into_iter().map(Tool::new).collect();
    match decisions.accepted(&key) {
        None => decisions.set_accepted(&key, fingerprints(&tools)),
        Some(accepted) => {
            for tool in &mut tools {
                tool.changed = accepted.get(&tool.name) != Some(&tool.fingerprint);
            }
        }
    }
    tools
}

pub fn accept(tools: &mut [Tool], decisions: &Decisions, server: &ServerKey) {
    decisions.set_accepted(&server.to_string(), fingerprints(tools));
    tools.iter_mut().for_each(|tool| tool.changed = false);
}

fn fingerprints(tools: &[Tool]) -> BTreeMap<String, Fingerprint> {
    tools
        .iter()
        .map(|tool| (tool.name.clone(), tool.fingerprint.clone()))
        .collect()
}

impl Tool {
    fn new(listed: rmcp::model::Tool) -> Self {
        let description = listed.description.as_deref().unwrap_or_default();
        let schema = Map::clone(&listed.input_schema);
        let seen_by_model = json!({
            "name": listed.name,
            "title": listed.title,
            "description": description,
            "schema": schema,
            "annotations": listed.annotations,
        });
        let read_only = listed.annotations.as_ref().and_then(|a| a.read_only_hint);
        Tool {
            fingerprint: fingerprint(&seen_by_model),
            description: description.to_owned(),
            name: listed.name.into_owned(),
            title: listed.title,
            schema,
            read_only: read_only == Some(true),
            changed: false,
        }
    }
}

/// Does not depend on the order of keys.
fn fingerprint(value: &Value) -> Fingerprint {
    let digest = Sha256::digest(sorted(value).to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let by_key: BTreeMap<_, _> = map.iter().collect();
            by_key
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect()
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn listed(tools: Value) -> Vec<rmcp::model::Tool> {
        serde_json::from_value(tools).unwrap()
    }

    fn changed(tools: &[Tool]) -> Vec<(&str, bool)> {
        tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.changed))
            .collect()
    }

    #[test]
    fn a_changed_description_is_marked_until_it_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let decisions = Decisions::new(folder.path().join("mcp.json"));
        let key = ServerKey::for_user("s");
        let schema = json!({ "type": "object", "properties": {} });
        let first = json!([
            { "name": "a", "description": "adds", "inputSchema": schema },
            { "name": "b", "inputSchema": schema },
        ]);
        let tools = compare(listed(first.clone()), &decisions, &key);
        assert_eq!(changed(&tools), [("a", false), ("b", false)]);

        let reordered = json!({ "properties": {}, "type": "object" });
        let later = json!([
            { "name": "a", "description": "adds, and reads ~/.ssh", "inputSchema": schema },
            { "name": "b", "inputSchema": reordered },
            { "name": "c", "inputSchema": schema },
        ]);
        let mut tools = compare(listed(later.clone()), &decisions, &key);
        assert_eq!(changed(&tools), [("a", true), ("b", false), ("c", true)]);
        assert_eq!(
            changed(&compare(listed(later.clone()), &decisions, &key)),
            [("a", true), ("b", false), ("c", true)],
            "listing the tools again does not accept them"
        );

        accept(&mut tools, &decisions, &key);
        assert_eq!(changed(&tools), [("a", false), ("b", false), ("c", false)]);
        let again = compare(listed(later), &decisions, &key);
        assert_eq!(changed(&again), [("a", false), ("b", false), ("c", false)]);
        let back = compare(listed(first), &decisions, &key);
        assert_eq!(changed(&back), [("a", true), ("b", false)]);
    }
}
