//! Encodes a request as a Messages API body.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::thinking::ThinkingPlan;
use crate::{
    model::ModelInfo,
    request::{
        AssistantContent, Conversation, EncodingKey, FileContent, FileData, ModelMessage,
        ModelRequest, ToolChoice, ToolOutcome, ToolSpec, UserContent, as_object, encode_items,
    },
    wire::{Body, HttpCall, WireKind},
};

/// `max_tokens` is required by the API; this is the value for a model with an unknown limit.
const UNKNOWN_MODEL_OUTPUT: u64 = 8_192;
/// Enough for any step, and small enough to leave room in the context.
const DEFAULT_OUTPUT: u64 = 32_000;

pub(super) fn encode(request: &ModelRequest, model: &ModelInfo) -> HttpCall {
    let mut plan = ThinkingPlan::new(request, model);
    plan.set_max_output(max_output(request, model), model.limits.output);

    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("max_tokens".into(), json!(plan.max_tokens));
    body.insert("stream".into(), json!(true));
    if let Some(system) = encode_system(&request.system) {
        body.insert("system".into(), system);
    }
    body.insert("messages".into(), Value::Null);
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(encode_tool).collect();
        body.insert("tools".into(), Value::Array(tools));
        let choice = encode_choice(&request.tool_choice, plan.allows_forced_tools);
        body.insert("tool_choice".into(), choice);
    }
    if plan.allows_sampling {
        insert_some(&mut body, "temperature", request.temperature);
        insert_some(&mut body, "top_p", request.top_p);
    }
    let headers = plan.headers(!request.tools.is_empty());
    insert_some(&mut body, "thinking", plan.thinking);
    if let Some(effort) = plan.effort {
        body.insert("output_config".into(), json!({ "effort": effort }));
    }
    body.extend(request.options.clone());
    HttpCall {
        path: "/messages".to_owned(),
        headers,
        body: Body::new(body, "messages", messages(&request.messages, model)),
    }
}

fn insert_some(body: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}

fn max_output(request: &ModelRequest, model: &ModelInfo) -> u64 {
    let limit = match model.limits.output {
        0 => UNKNOWN_MODEL_OUTPUT,
        known => known.min(DEFAULT_OUTPUT),
    };
    request.max_output.unwrap_or(limit).max(1)
}

fn encode_system(system: &[String]) -> Option<Value> {
    let mut blocks: Vec<Value> = system
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    set_cache_breakpoint(blocks.last_mut()?);
    Some(Value::Array(blocks))
}

fn encode_tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    })
}

fn encode_choice(choice: &ToolChoice, allow_forced: bool) -> Value {
    match choice {
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required if allow_forced => json!({ "type": "any" }),
        ToolChoice::Named(name) if allow_forced => json!({ "type": "tool", "name": name }),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => json!({ "type": "auto" }),
    }
}

/// The last two messages carry cache breakpoints, so they are encoded again for each step.
fn messages(conversation: &Conversation, model: &ModelInfo) -> Vec<Bytes> {
    let key = EncodingKey::new(WireKind::Anthropic, model);
    let encode = |messages: &[ModelMessage]| encode_messages(messages, model);
    let mut earlier = conversation.segments();
    let mut last = Vec::new();
    while last.len() < 2
        && let Some((segment, before)) = earlier.split_last()
    {
        last.splice(0..0, encode(segment.messages()));
        earlier = before;
    }
    set_breakpoints_on_last_two(&mut last);
    let earlier = earlier.iter();
    earlier
        .map(|segment| segment.encoded(key, encode))
        .chain([encode_items(&last)])
        .collect()
}

/// Adjacent messages of one role are merged: tool results and the user's next prompt have to be
/// one message.
fn encode_messages(conversation: &[ModelMessage], model: &ModelInfo) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut push = |role: &'static str, blocks: Vec<Value>| match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some((last, content)) if *last == role => content.extend(blocks),
        _ => messages.push((role, blocks)),
    };
    for message in conversation {
        match message {
            ModelMessage::User { content } => {
                push(
                    "user",
                    content
                        .iter()
                        .filter_map(|c| encode_user(c, model))
                        .collect(),
                );
            }
            ModelMessage::Assistant { content } => {
                push(
                    "assistant",
                    content.iter().filter_map(encode_assistant).collect(),
                );
                push(
                    "user",
                    content
                        .iter()
                        .filter_map(|c| encode_result(c, model))
                        .collect(),
                );
            }
        }
    }
    messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

/// The API refuses empty text blocks.
fn encode_text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn encode_user(content: &UserContent, model: &ModelInfo) -> Option<Value> {
    match content {
        UserContent::Text { text } => encode_text(text),
        UserContent::File(file) => Some(encode_file(file, model)),
    }
}

fn encode_file(file: &FileContent, model: &ModelInfo) -> Value {
    const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let kind = if model.images && IMAGES.contains(&file.mime.as_str()) {
        "image"
    } else if model.pdf && file.is_pdf() {
        "document"
    } else {
        return json!({ "type": "text", "text": file.placeholder() });
    };
    let source = match &file.data {
        FileData::Url(url) => json!({ "type": "url", "url": url }),
        FileData::Bytes(bytes) => json!({
            "type": "base64",
            "media_type": file.mime,
            "data": FileData::base64(bytes),
        }),
    };
    json!({ "type": kind, "source": source })
}

fn encode_assistant(content: &AssistantContent) -> Option<Value> {
    match content {
        AssistantContent::Text { text, .. } => encode_text(text),
        AssistantContent::Reasoning { .. } => encode_thinking(content),
        AssistantContent::ToolCall {
            id, name, input, ..
        } => Some(json!({
            "type": "tool_use",
            "id": wire_id(id),
            "name": name,
            "input": as_object(input),
        })),
    }
}

/// The API accepts earlier thinking only with the signature it came with.
pub(super) fn encode_thinking(content: &AssistantContent) -> Option<Value> {
    let AssistantContent::Reasoning { text, metadata } = content else {
        return None;
    };
    let anthropic = metadata.get("anthropic")?;
    if let Some(data) = anthropic.get("redactedData").and_then(Value::as_str) {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = anthropic.get("signature")?.as_str()?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}

fn encode_result(content: &AssistantContent, model: &ModelInfo) -> Option<Value> {
    let AssistantContent::ToolCall { id, result, .. } = content else {
        return None;
    };
    let mut block = json!({ "type": "tool_result", "tool_use_id": wire_id(id) });
    let content = encode_outcome(result, model);
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if result.is_error {
        block["is_error"] = json!(true);
    }
    Some(block)
}

fn encode_outcome(result: &ToolOutcome, model: &ModelInfo) -> Vec<Value> {
    let files = result
        .attachments
        .iter()
        .map(|file| encode_file(file, model));
    encode_text(&result.text).into_iter().chain(files).collect()
}

/// Call ids from other providers may contain characters that this one refuses.
fn wire_id(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id: String = id
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if id.is_empty() { "call".to_owned() } else { id }
}

fn set_breakpoints_on_last_two(messages: &mut [Value]) {
    for message in messages.iter_mut().rev().take(2) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        let cacheable = blocks
            .into_iter()
            .flatten()
            .rev()
            .find(|block| !is_thinking(block));
        if let Some(block) = cacheable {
            set_cache_breakpoint(block);
        }
    }
}

fn is_thinking(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}

/// The next request reads the prefix up to this block from the provider's cache.
fn set_cache_breakpoint(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}
