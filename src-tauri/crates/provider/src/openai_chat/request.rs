//! Encodes a request as a Chat Completions body.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::{
    model::ModelInfo,
    request::{
        AssistantContent, EncodingKey, FileContent, ModelMessage, ModelRequest, ToolChoice,
        ToolSpec, UserContent, as_object, encode_items, lift_attachments,
    },
    wire::{Body, HttpCall, WireKind},
};

pub(super) fn encode(request: &ModelRequest, model: &ModelInfo) -> HttpCall {
    let dialect = Dialect::of(model);
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Null);
    body.insert("stream".into(), json!(true));
    if dialect != Dialect::Mistral {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(encode_tool).collect();
        body.insert("tools".into(), Value::Array(tools));
        body.insert("tool_choice".into(), encode_choice(&request.tool_choice));
    }
    if let Some(max) = request.max_output {
        body.insert(dialect.max_tokens_field().into(), json!(max));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        body.insert("top_p".into(), json!(top_p));
    }
    if let Some(variant) = &request.reasoning {
        body.extend(dialect.reasoning_fields(variant));
    }
    body.extend(request.options.clone());
    HttpCall {
        path: "/chat/completions".to_owned(),
        headers: Vec::new(),
        body: Body::new(body, "messages", messages(request, model, dialect)),
    }
}

/// Groups of servers that accept different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Openai,
    Openrouter,
    Deepseek,
    Mistral,
    Other,
}

impl Dialect {
    fn of(model: &ModelInfo) -> Self {
        match model.provider.as_str() {
            "openai" | "azure" => Self::Openai,
            "openrouter" => Self::Openrouter,
            "deepseek" => Self::Deepseek,
            "mistral" => Self::Mistral,
            _ => Self::Other,
        }
    }

    /// OpenAI's newer models refuse the old name; many other servers do not know the new one.
    fn max_tokens_field(self) -> &'static str {
        match self {
            Self::Openai => "max_completion_tokens",
            _ => "max_tokens",
        }
    }

    fn reasoning_fields(self, variant: &str) -> Map<String, Value> {
        let fields = match self {
            Self::Openrouter => json!({ "reasoning": { "effort": variant } }),
            Self::Deepseek if variant == "none" => json!({ "thinking": { "type": "disabled" } }),
            Self::Deepseek => json!({
                "thinking": { "type": "enabled" },
                "reasoning_effort": variant,
            }),
            Self::Openai | Self::Mistral | Self::Other => json!({ "reasoning_effort": variant }),
        };
        match fields {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn accepts_pdf(self) -> bool {
        matches!(self, Self::Openai | Self::Openrouter)
    }

    /// Mistral requires exactly nine letters or digits; OpenAI at most forty characters.
    fn call_id(self, id: &str) -> String {
        match self {
            Self::Mistral if id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                id.to_owned()
            }
            Self::Mistral => hashed_id(id),
            _ if id.is_empty() || id.len() > 40 => format!("call_{}", hashed_id(id)),
            _ => id.to_owned(),
        }
    }
}

/// A hash of `id` (FNV-1a) as nine letters and digits.
fn hashed_id(id: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (0..9)
        .map(|_| {
            let digit = DIGITS[(hash % 36) as usize];
            hash /= 36;
            char::from(digit)
        })
        .collect()
}

fn encode_tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    })
}

fn encode_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

/// One system message and never two user messages in a row: the chat templates of local models
/// refuse anything else.
fn messages(request: &ModelRequest, model: &ModelInfo, dialect: Dialect) -> Vec<Bytes> {
    let key = EncodingKey::new(WireKind::OpenaiChat, model);
    let encode = |messages: &[ModelMessage]| encode_messages(messages, model, dialect);
    let mut segments = vec![encode_items(&encode_system(&request.system))];
    segments.extend(request.messages.encoded(key, encode));
    segments
}

fn encode_system(system: &[String]) -> Vec<Value> {
    let system: Vec<&str> = system
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    if system.is_empty() {
        return Vec::new();
    }
    vec![json!({ "role": "system", "content": system.join("\n\n") })]
}

fn encode_messages(
    conversation: &[ModelMessage],
    model: &ModelInfo,
    dialect: Dialect,
) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut pending_user: Vec<UserContent> = Vec::new();
    for message in lift_attachments(conversation) {
        match message {
            ModelMessage::User { content } => pending_user.extend(content),
            ModelMessage::Assistant { content } => {
                let user = std::mem::take(&mut pending_user);
                messages.extend(encode_user(&user, model, dialect));
                encode_assistant(&content, model, dialect, &mut messages);
            }
        }
    }
    messages.extend(encode_user(&pending_user, model, dialect));
    messages
}

fn encode_user(content: &[UserContent], model: &ModelInfo, dialect: Dialect) -> Option<Value> {
    let parts: Vec<Value> = content
        .iter()
        .filter_map(|content| match content {
            UserContent::Text { text } => text_part(text),
            UserContent::File(file) => Some(encode_file(file, model, dialect)),
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    // Text alone goes as a string: not every server supports parts.
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    let content = match texts {
        Some(texts) => json!(texts.join("\n\n")),
        None => Value::Array(parts),
    };
    Some(json!({ "role": "user", "content": content }))
}

fn text_part(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn encode_file(file: &FileContent, model: &ModelInfo, dialect: Dialect) -> Value {
    let url = || file.data.to_url(&file.mime);
    if file.is_image() && model.images {
        json!({ "type": "image_url", "image_url": { "url": url() } })
    } else if file.is_pdf() && model.pdf && dialect.accepts_pdf() {
        let name = file.filename.as_deref().unwrap_or("document.pdf");
        json!({ "type": "file", "file": { "filename": name, "file_data": url() } })
    } else {
        json!({ "type": "text", "text": file.placeholder() })
    }
}

fn encode_assistant(
    content_parts: &[AssistantContent],
    model: &ModelInfo,
    dialect: Dialect,
    messages: &mut Vec<Value>,
) {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in content_parts {
        match part {
            AssistantContent::Text { text: piece, .. } => text.push_str(piece),
            AssistantContent::Reasoning { .. } => {}
            AssistantContent::ToolCall {
                id,
                name,
                input,
                result,
                ..
            } => {
                let id = dialect.call_id(id);
                // The arguments must be an object, because servers with chat templates parse them.
                calls.push(json!({
                    "id": id,
                    "type": "function",
                    "function": { "name": name, "arguments": as_object(input).to_string() },
                }));
                // The API has no flag for a failed tool, so the text has to say it.
                let prefix = if result.is_error { "Error: " } else { "" };
                let output = format!("{prefix}{}", result.text);
                results.push(json!({ "role": "tool", "tool_call_id": id, "content": output }));
            }
        }
    }
    if text.trim().is_empty() && calls.is_empty() {
        return;
    }
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let content = (!text.trim().is_empty()).then_some(text);
    message.insert("content".into(), json!(content));
    if let Some(field) = &model.reasoning_field
        && let Some(reasoning) = earlier_reasoning(field, content_parts)
    {
        message.insert(field.clone(), reasoning);
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), Value::Array(calls));
    }
    messages.push(Value::Object(message));
    messages.extend(results);
}

/// Earlier reasoning in the form that the field requires: text, or the list of signed details
/// that it came with.
fn earlier_reasoning(field: &str, content: &[AssistantContent]) -> Option<Value> {
    let reasoning = content.iter().filter_map(|part| match part {
        AssistantContent::Reasoning { text, metadata } => Some((text, metadata)),
        _ => None,
    });
    if field == "reasoning_details" {
        let details: Vec<Value> = reasoning
            .filter_map(|(_, metadata)| metadata.get("openrouter")?.get(field)?.as_array())
            .flatten()
            .cloned()
            .collect();
        return (!details.is_empty()).then_some(Value::Array(details));
    }
    let text: String = reasoning.map(|(text, _)| text.as_str()).collect();
    (!text.is_empty()).then_some(Value::String(text))
}
