//! Each message has the fields of its schema, with the same types and the same optionality.

use std::collections::BTreeSet;

use lathe_protocol::proto::{MESSAGES, ProtoMessage, TOOL_MESSAGES, split_field};
use lathe_protocol::schema;
use serde_json::Value;

/// Fields that the description requires and that records of early versions do not have.
const READ_WITHOUT: [&str; 14] = [
    "UserMessage.agent",
    "UserMessage.model",
    "AssistantMessage.parentID",
    "AssistantMessage.mode",
    "AssistantMessage.agent",
    "AssistantMessage.path",
    "AssistantMessage.cost",
    "AssistantMessage.tokens",
    "TokenUsage.input",
    "TokenUsage.output",
    "TokenUsage.reasoning",
    "TokenUsage.cache",
    "CacheTokenUsage.read",
    "CacheTokenUsage.write",
];

/// Fields with a default in the schema: written always, read without.
const DEFAULTED: [&str; 4] = [
    "ToolStatePending.input",
    "ToolStatePending.raw",
    "ToolStateCompleted.metadata",
    "UserMessageSummary.diffs",
];

/// Fields of later versions, which the description does not have: they are in `extra`.
const LATER: [&str; 11] = [
    "FileDiff.binary",
    "FileDiff.folded",
    "FileDiff.from",
    "FileDiff.mode",
    "SnapshotPart.name",
    "SnapshotPart.skipped",
    "SnapshotPart.takenBack",
    "SubtaskPart.model",
    "UserMessage.unsent",
    "ReasoningPartTime.none",
    "TextPartTime.none",
];

fn root(message: &ProtoMessage) -> (Value, Value) {
    let name = message.schema.split(['#', '/']).next().unwrap();
    let schemas = schema::all().into_iter();
    let (_, schema) = schemas.into_iter().find(|(one, _)| *one == name).unwrap();
    let document: Value = schema.into();
    let object = if let Some((_, definition)) = message.schema.split_once('#') {
        document["definitions"][definition].clone()
    } else if let Some((_, property)) = message.schema.split_once('/') {
        document["properties"][property].clone()
    } else {
        document.clone()
    };
    assert!(object.is_object(), "{}", message.schema);
    (document, object)
}

/// The kinds of JSON that a schema allows, through references.
fn kinds(document: &Value, schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/definitions/").unwrap();
        found.extend(kinds(document, &document["definitions"][name]));
    }
    for group in ["anyOf", "oneOf", "allOf"] {
        for one in schema[group].as_array().into_iter().flatten() {
            found.extend(kinds(document, one));
        }
    }
    match &schema["type"] {
        Value::String(kind) => {
            found.insert(kind.clone());
        }
        Value::Array(several) => {
            found.extend(several.iter().map(|kind| kind.as_str().unwrap().to_owned()));
        }
        _ => {}
    }
    found
}

fn json_kind(kind: &str) -> &'static str {
    match kind.trim_start_matches("optional ") {
        "string" => "string",
        "bool" => "boolean",
        "double" | "int32" => "number",
        repeated if repeated.starts_with("repeated ") => "array",
        _ => "object",
    }
}

#[test]
fn every_field_is_in_the_schema_with_its_type_and_optionality() {
    let mut wrong = Vec::new();
    for message in MESSAGES.iter().chain(TOOL_MESSAGES) {
        let (document, object) = root(message);
        let required: Vec<_> = object["required"].as_array().cloned().unwrap_or_default();
        for field in message.fields() {
            let (kind, name) = split_field(field);
            let full = format!("{}.{name}", message.name);
            let schema = &object["properties"][name];
            // The union has it, not its members.
            let is_discriminator = matches!(name, "type" | "status") && schema.is_null();
            if is_discriminator {
                continue;
            }
            let mut allowed = kinds(&document, schema);
            let nullable = allowed.remove("null");
            if !allowed.contains(json_kind(kind)) {
                wrong.push(format!("{full} is {kind}, the schema has {allowed:?}"));
            }
            let is_required = required.contains(&Value::from(name)) && !nullable;
            let may_be_absent = kind.starts_with("optional ") || kind.starts_with("map<");
            let known = READ_WITHOUT.contains(&full.as_str()) || DEFAULTED.contains(&full.as_str());
            let is_list = kind.starts_with("repeated ");
            if is_required == may_be_absent && !known && !is_list {
                wrong.push(format!("{full}: required {is_required}, but it is {kind}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_property_of_a_schema_has_a_field() {
    let mut missing = Vec::new();
    for message in MESSAGES.iter().chain(TOOL_MESSAGES) {
        let (_, object) = root(message);
        let fields: Vec<_> = message.fields().map(|field| split_field(field).1).collect();
        let properties = object["properties"].as_object();
        for name in properties
            .into_iter()
            .flat_map(|properties| properties.keys())
        {
            let full = format!("{}.{name}", message.name);
            if !fields.contains(&name.as_str()) && !LATER.contains(&full.as_str()) {
                missing.push(full);
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
