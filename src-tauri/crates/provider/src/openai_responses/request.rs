//! Encodes a request as a Responses body.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::FAMILY;
use crate::{
    config::merge,
    event::Metadata,
    model::ModelInfo,
    request::{
        AssistantContent, EncodingKey, FileContent, FileData, ModelMessage, ModelRequest,
        ToolChoice, ToolOutcome, ToolSpec, UserContent, lift_attachments,
    },
    wire::{Body, HttpCall, WireKind},
};

/// Limits of the API.
const MIN_OUTPUT: u64 = 16;
const MAX_CALL_ID: usize = 64;

pub(super) fn encode(request: &ModelRequest, model: &ModelInfo) -> HttpCall {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    let instructions = join(&request.system);
    if !instructions.is_empty() {
        body.insert("instructions".into(), json!(instructions));
    }
    body.insert("input".into(), Value::Null);
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(encode_tool).collect();
        body.insert("tools".into(), Value::Array(tools));
        body.insert("tool_choice".into(), encode_choice(&request.tool_choice));
    }
    if let Some(max) = request.max_output {
        body.insert("max_output_tokens".into(), json!(max.max(MIN_OUTPUT)));
    }
    if model.reasoning {
        body.extend(reasoning_fields(request.reasoning.as_deref()));
    } else {
        // Reasoning models refuse these.
        insert_some(&mut body, "temperature", request.temperature);
        insert_some(&mut body, "top_p", request.top_p);
    }
    merge(&mut body, &request.options);
    HttpCall {
        path: "/responses".to_owned(),
        headers: Vec::new(),
        body: Body::new(body, "input", input(request, model)),
    }
}

fn insert_some(body: &mut Map<String, Value>, key: &str, value: Option<f64>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), json!(value));
    }
}

fn join(system: &[String]) -> String {
    let blocks: Vec<&str> = system
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    blocks.join("\n\n")
}

/// Encrypted reasoning has to be requested; models without reasoning refuse the field.
fn reasoning_fields(variant: Option<&str>) -> Map<String, Value> {
    let mut reasoning = Map::new();
    if let Some(effort) = variant {
        reasoning.insert("effort".into(), json!(effort));
    }
    if variant != Some("none") {
        reasoning.insert("summary".into(), json!("auto"));
    }
    Map::from_iter([
        ("include".to_owned(), json!(["reasoning.encrypted_content"])),
        ("reasoning".to_owned(), Value::Object(reasoning)),
    ])
}

/// Not strict, because a strict schema must list every property as required.
fn encode_tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": false,
    })
}

fn encode_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}

fn input(request: &ModelRequest, model: &ModelInfo) -> Vec<Bytes> {
    let key = EncodingKey::new(WireKind::OpenaiResponses, model);
    let messages = &request.messages;
    messages.encoded(key, |messages| encode_input(messages, model))
}

fn encode_input(messages: &[ModelMessage], model: &ModelInfo) -> Vec<Value> {
    // Compatible servers accept only text as the output of a tool.
    let files_in_results = model.provider == "openai";
    let lifted;
    let messages = if files_in_results {
        messages
    } else {
        lifted = lift_attachments(messages);
        &lifted
    };
    let mut input = Vec::new();
    for message in messages {
        match message {
            ModelMessage::User { content } => {
                let parts: Vec<Value> = content
                    .iter()
                    .filter_map(|content| encode_user(content, model))
                    .collect();
                if !parts.is_empty() {
                    input.push(json!({ "role": "user", "content": parts }));
                }
            }
            ModelMessage::Assistant { content } => encode_assistant(content, model, &mut input),
        }
    }
    input
}

fn encode_user(content: &UserContent, model: &ModelInfo) -> Option<Value> {
    match content {
        UserContent::Text { text } => input_text(text),
        UserContent::File(file) => Some(encode_file(file, model)),
    }
}

fn input_text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "input_text", "text": text }))
}

fn encode_file(file: &FileContent, model: &ModelInfo) -> Value {
    const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    if model.images && IMAGES.contains(&file.mime.as_str()) {
        return json!({ "type": "input_image", "image_url": file.data.to_url(&file.mime) });
    }
    if !(model.pdf && file.is_pdf()) {
        return json!({ "type": "input_text", "text": file.placeholder() });
    }
    match &file.data {
        FileData::Url(url) => json!({ "type": "input_file", "file_url": url }),
        FileData::Bytes(_) => json!({
            "type": "input_file",
            "filename": file.filename.as_deref().unwrap_or("document.pdf"),
            "file_data": file.data.to_url(&file.mime),
        }),
    }
}

/// Calls and messages are sent without their item ids: with an id the API requires the
/// reasoning item before it, which may be missing (another model, compaction).
fn encode_assistant(content: &[AssistantContent], model: &ModelInfo, input: &mut Vec<Value>) {
    let mut results = Vec::new();
    for (at, part) in content.iter().enumerate() {
        match part {
            AssistantContent::Text { text, metadata } => {
                input.extend(encode_text(text, metadata));
            }
            AssistantContent::Reasoning { metadata, .. } => {
                if !continues_item(content, at) && is_followed(&content[at + 1..]) {
                    input.extend(encode_reasoning(content, at, metadata));
                }
            }
            AssistantContent::ToolCall {
                id,
                name,
                input: arguments,
                result,
                ..
            } => {
                let id = call_id(id);
                input.push(json!({
                    "type": "function_call",
                    "call_id": id,
                    "name": name,
                    "arguments": encode_arguments(arguments),
                }));
                results.push(json!({
                    "type": "function_call_output",
                    "call_id": id,
                    "output": encode_outcome(result, model),
                }));
            }
        }
    }
    input.extend(results);
}

fn encode_text(text: &str, metadata: &Metadata) -> Option<Value> {
    if text.trim().is_empty() {
        return None;
    }
    let mut message = json!({
        "type": "message",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text }],
    });
    if let Some(phase) = openai(metadata, "phase") {
        message["phase"] = json!(phase);
    }
    Some(message)
}

/// The API refuses a reasoning item that no output follows.
fn is_followed(rest: &[AssistantContent]) -> bool {
    rest.iter().any(|part| match part {
        AssistantContent::Text { text, .. } => !text.trim().is_empty(),
        AssistantContent::ToolCall { .. } => true,
        AssistantContent::Reasoning { .. } => false,
    })
}

/// The parts of one summary are stored separately, but belong to one item.
fn continues_item(content: &[AssistantContent], at: usize) -> bool {
    let id = item_id(&content[at]);
    at > 0 && id.is_some() && item_id(&content[at - 1]) == id
}

fn item_id(part: &AssistantContent) -> Option<&str> {
    match part {
        AssistantContent::Reasoning { metadata, .. } => openai(metadata, "itemId"),
        _ => None,
    }
}

/// Reasoning is sent only with its encrypted content: without storage at the provider, an id
/// alone refers to nothing.
fn encode_reasoning(content: &[AssistantContent], at: usize, metadata: &Metadata) -> Option<Value> {
    let id = openai(metadata, "itemId");
    let parts: Vec<(&str, &Metadata)> = content[at..]
        .iter()
        .enumerate()
        .map_while(|(offset, part)| match part {
            AssistantContent::Reasoning { text, metadata }
                if offset == 0 || (id.is_some() && openai(metadata, "itemId") == id) =>
            {
                Some((text.as_str(), metadata))
            }
            _ => None,
        })
        .collect();
    let encrypted = parts
        .iter()
        .find_map(|(_, metadata)| openai(metadata, "reasoningEncryptedContent"))?;
    let summary: Vec<Value> = parts
        .iter()
        .filter(|(text, _)| !text.is_empty())
        .map(|(text, _)| json!({ "type": "summary_text", "text": text }))
        .collect();
    let mut item = Map::new();
    item.insert("type".into(), json!("reasoning"));
    if let Some(id) = id {
        item.insert("id".into(), json!(id));
    }
    item.insert("summary".into(), Value::Array(summary));
    item.insert("encrypted_content".into(), json!(encrypted));
    Some(Value::Object(item))
}

fn openai<'a>(metadata: &'a Metadata, key: &str) -> Option<&'a str> {
    metadata.get(FAMILY)?.get(key)?.as_str()
}

fn encode_arguments(input: &Value) -> String {
    match input {
        Value::Null => "{}".to_owned(),
        // Arguments that were not valid JSON are sent back unchanged.
        Value::String(raw) => raw.clone(),
        other => other.to_string(),
    }
}

fn encode_outcome(result: &ToolOutcome, model: &ModelInfo) -> Value {
    // The API has no flag for a failed tool, so the text has to say it.
    let prefix = if result.is_error { "Error: " } else { "" };
    let text = format!("{prefix}{}", result.text);
    if result.attachments.is_empty() {
        return json!(text);
    }
    let files = result
        .attachments
        .iter()
        .map(|file| encode_file(file, model));
    Value::Array(input_text(&text).into_iter().chain(files).collect())
}

/// Call ids from other providers may be too long. Their ends are kept, because those differ.
fn call_id(id: &str) -> String {
    if id.is_empty() {
        return "call".to_owned();
    }
    let length = id.chars().count();
    id.chars()
        .skip(length.saturating_sub(MAX_CALL_ID))
        .collect()
}
