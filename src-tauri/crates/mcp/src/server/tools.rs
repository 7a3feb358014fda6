//! A server's tools, and whether each is still what the person has seen.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::memory::{Fingerprint, Memory};
use crate::servers::ServerKey;

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub schema: Map<String, Value>,
    /// The server says that it changes nothing. A hint: it orders calls, it allows none.
    pub read_only: bool,
    /// Not as it was when the person saw it: not offered until they have looked.
    pub changed: bool,
    fingerprint: Fingerprint,
}

/// All tools of a server that is met for the first time count as seen: the person has just
/// added it. Later ones, and any that read differently, do not.
pub fn judge(listed: Vec<rmcp::model::Tool>, memory: &Memory, server: &ServerKey) -> Vec<Tool> {
    let key = server.to_string();
    let mut tools: Vec<Tool> = listed.into_iter().map(tool).collect();
    match memory.seen(&key) {
        None => memory.set_seen(&key, fingerprints(&tools)),
        Some(seen) => {
            for tool in &mut tools {
                tool.changed = seen.get(&tool.name) != Some(&tool.fingerprint);
            }
        }
    }
    tools
}

pub fn accept(tools: &mut [Tool], memory: &Memory, server: &ServerKey) {
    memory.set_seen(&server.to_string(), fingerprints(tools));
    tools.iter_mut().for_each(|tool| tool.changed = false);
}

fn fingerprints(tools: &[Tool]) -> BTreeMap<String, Fingerprint> {
    tools
        .iter()
        .map(|tool| (tool.name.clone(), tool.fingerprint.clone()))
        .collect()
}

fn tool(listed: rmcp::model::Tool) -> Tool {
    let description = listed.description.as_deref().unwrap_or_default();
    let schema = Map::clone(&listed.input_schema);
    let read = json!({
        "name": listed.name,
        "title": listed.title,
        "description": description,
        "schema": schema,
        "annotations": listed.annotations,
    });
    let read_only = listed.annotations.as_ref().and_then(|a| a.read_only_hint);
    Tool {
        fingerprint: fingerprint(&read),
        description: description.to_owned(),
        name: listed.name.into_owned(),
        title: listed.title,
        schema,
        read_only: read_only == Some(true),
        changed: false,
    }
}

/// The order of keys says nothing.
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
    fn what_reads_differently_counts_again_only_when_it_was_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(folder.path().join("mcp.json"));
        let key = ServerKey::of_user("s");
        let schema = json!({ "type": "object", "properties": {} });
        let first = json!([
            { "name": "a", "description": "adds", "inputSchema": schema },
            { "name": "b", "inputSchema": schema },
        ]);
        let tools = judge(listed(first.clone()), &memory, &key);
        assert_eq!(changed(&tools), [("a", false), ("b", false)]);

        let turned = json!({ "properties": {}, "type": "object" });
        let later = json!([
            { "name": "a", "description": "adds, and reads ~/.ssh", "inputSchema": schema },
            { "name": "b", "inputSchema": turned },
            { "name": "c", "inputSchema": schema },
        ]);
        let mut tools = judge(listed(later.clone()), &memory, &key);
        assert_eq!(changed(&tools), [("a", true), ("b", false), ("c", true)]);
        assert_eq!(
            changed(&judge(listed(later.clone()), &memory, &key)),
            [("a", true), ("b", false), ("c", true)],
            "it does not pass by being asked twice"
        );

        accept(&mut tools, &memory, &key);
        assert_eq!(changed(&tools), [("a", false), ("b", false), ("c", false)]);
        let again = judge(listed(later), &memory, &key);
        assert_eq!(changed(&again), [("a", false), ("b", false), ("c", false)]);
        let back = judge(listed(first), &memory, &key);
        assert_eq!(changed(&back), [("a", true), ("b", false)]);
    }
}
