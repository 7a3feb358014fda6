//! The JSON schema of each stored type, by the name of its file.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use crate::*;

/// Every schema file: its name without extension, and its content.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("textPart", tagged::<TextPart>("type", "text")),
        (
            "reasoningPart",
            tagged::<ReasoningPart>("type", "reasoning"),
        ),
        ("filePart", tagged::<FilePart>("type", "file")),
        ("toolPart", tagged::<ToolPart>("type", "tool")),
        ("snapshotPart", tagged::<SnapshotPart>("type", "snapshot")),
        ("patchPart", tagged::<PatchPart>("type", "patch")),
        ("agentPart", tagged::<AgentPart>("type", "agent")),
        (
            "compactionPart",
            tagged::<CompactionPart>("type", "compaction"),
        ),
        ("subtaskPart", tagged::<SubtaskPart>("type", "subtask")),
        (
            "stepStartPart",
            tagged::<StepStartPart>("type", "step-start"),
        ),
        (
            "stepFinishPart",
            tagged::<StepFinishPart>("type", "step-finish"),
        ),
        ("retryPart", tagged::<RetryPart>("type", "retry")),
        ("part", plain::<Part>()),
        ("userMessage", tagged::<UserMessage>("role", "user")),
        (
            "assistantMessage",
            tagged::<AssistantMessage>("role", "assistant"),
        ),
        ("message", plain::<Message>()),
        ("messageWithParts", plain::<MessageWithParts>()),
        ("apiError", named::<ApiErrorData>("APIError")),
        (
            "providerAuthError",
            named::<ProviderAuthErrorData>("ProviderAuthError"),
        ),
        ("unknownError", named::<UnknownErrorData>("UnknownError")),
        (
            "outputLengthError",
            named::<OutputLengthErrorData>("MessageOutputLengthError"),
        ),
        (
            "abortedError",
            named::<AbortedErrorData>("MessageAbortedError"),
        ),
        ("messageError", plain::<MessageError>()),
        ("toolState", plain::<ToolState>()),
        ("fileDiff", plain::<FileDiff>()),
        ("session", plain::<Session>()),
        ("project", plain::<Project>()),
        ("todo", plain::<Todo>()),
        ("permissionRequest", plain::<PermissionRequest>()),
        ("questionRequest", plain::<QuestionRequest>()),
        ("event", plain::<Event>()),
    ]
}

fn plain<T: JsonSchema>() -> Schema {
    SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Adds the field by which the record is recognised in its union.
fn tagged<T: JsonSchema>(field: &str, value: &str) -> Schema {
    let mut schema = plain::<T>();
    let constant = serde_json::json!({ "type": "string", "const": value });
    insert(&mut schema, "properties", field, constant);
    schema
}

/// Wraps the data of an error into `{ "name": …, "data": … }`.
fn named<T: JsonSchema>(name: &str) -> Schema {
    let mut data = plain::<T>();
    let definitions = data.remove("definitions");
    let title = data.remove("title");
    data.remove("$schema");
    let mut schema = schemars::json_schema!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "name": { "type": "string", "const": name }, "data": data },
        "required": ["name", "data"],
    });
    for (key, value) in [("title", title), ("definitions", definitions)] {
        if let Some(value) = value {
            schema.insert(key.into(), value);
        }
    }
    schema
}

fn insert(schema: &mut Schema, group: &str, field: &str, value: serde_json::Value) {
    let object = schema.ensure_object();
    if let Some(properties) = object
        .get_mut(group)
        .and_then(serde_json::Value::as_object_mut)
    {
        properties.insert(field.into(), value);
    }
    if let Some(required) = object
        .get_mut("required")
        .and_then(serde_json::Value::as_array_mut)
    {
        required.push(field.into());
    }
}
