//! The neutral request as a Chat Completions body.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::{
    model::ModelInfo,
    request::{
        AssistantContent, FileContent, ModelMessage, ModelRequest, ToolChoice, ToolSpec,
        UserContent, Writing, lift_attachments, write_items,
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

/// Where servers differ in what they accept.
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

    /// OpenAI's newer models refuse the old name, many others do not know the new one.
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

    fn takes_pdf(self) -> bool {
        matches!(self, Self::Openai | Self::Openrouter)
    }

    /// Mistral wants exactly nine letters or digits; OpenAI at most forty characters.
    fn call_id(self, id: &str) -> String {
        match self {
            Self::Mistral if id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                id.to_owned()
            }
            Self::Mistral => short_name(id),
            _ if id.is_empty() || id.len() > 40 => format!("call_{}", short_name(id)),
            _ => id.to_owned(),
        }
    }
}

/// Nine letters and digits that stand for `id` (FNV-1a), the same every time.
fn short_name(id: &str) -> String {
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

/// One system message and no two user messages in a row: chat templates of local models
/// refuse anything else.
fn messages(request: &ModelRequest, model: &ModelInfo, dialect: Dialect) -> Vec<Bytes> {
    let writing = Writing::of(WireKind::OpenaiChat, model);
    let encode = |messages: &[ModelMessage]| encode_messages(messages, model, dialect);
    let passages = request.messages.passages().iter();
    std::iter::once(write_items(&encode_system(&request.system)))
        .chain(passages.map(|passage| passage.written(writing, encode)))
        .collect()
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
    let mut asked: Vec<UserContent> = Vec::new();
    for message in lift_attachments(conversation) {
        match message {
            ModelMessage::User { content } => asked.extend(content),
            ModelMessage::Assistant { content } => {
                messages.extend(encode_user(&std::mem::take(&mut asked), model, dialect));
                encode_assistant(&content, model, dialect, &mut messages);
            }
        }
    }
    messages.extend(encode_user(&asked, model, dialect));
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
    // Plain text as a plain string: not every server knows parts.
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
    } else if file.is_pdf() && model.pdf && dialect.takes_pdf() {
        let name = file.filename.as_deref().unwrap_or("document.pdf");
        json!({ "type": "file", "file": { "filename": name, "file_data": url() } })
    } else {
        json!({ "type": "text", "text": file.left_out() })
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
                calls.push(json!({
                    "id": id,
                    "type": "function",
                    "function": { "name": name, "arguments": arguments(input) },
                }));
                // The wire has no flag for a failed tool, so the text has to say it.
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
        && let Some(reasoning) = reasoning_back(field, content_parts)
    {
        message.insert(field.clone(), reasoning);
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), Value::Array(calls));
    }
    messages.push(Value::Object(message));
    messages.extend(results);
}

/// Arguments that were never valid JSON are wrapped: servers with chat templates parse them.
fn arguments(input: &Value) -> String {
    match input {
        Value::Object(_) => input.to_string(),
        Value::Null => "{}".to_owned(),
        other => json!({ "input": other }).to_string(),
    }
}

/// Earlier reasoning in the field this model wants it in: plain text, or the list of
/// sealed details it came with.
fn reasoning_back(field: &str, content: &[AssistantContent]) -> Option<Value> {
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
