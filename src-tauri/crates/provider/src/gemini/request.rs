//! Encodes a request as a `generateContent` body.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{FAMILY, Generation, SIGNATURE, schema};
use crate::{
    config::merge,
    event::Metadata,
    model::ModelInfo,
    request::{
        AssistantContent, EncodingKey, FileContent, FileData, ModelMessage, ModelRequest,
        ToolChoice, ToolOutcome, ToolSpec, UserContent, as_object, lift_attachments,
    },
    wire::{Body, HttpCall, WireKind},
};

/// Accepted in place of a signature, for calls that another model made in the same turn.
const SIGNATURE_PLACEHOLDER: &str = "skip_thought_signature_validator";

pub(super) fn encode(request: &ModelRequest, model: &ModelInfo) -> HttpCall {
    let mut body = Map::new();
    let system: Vec<Value> = request
        .system
        .iter()
        .filter_map(|text| text_part(text))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".into(), json!({ "parts": system }));
    }
    body.insert("contents".into(), Value::Null);
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(encode_tool).collect();
        body.insert("tools".into(), json!([{ "functionDeclarations": tools }]));
        body.insert("toolConfig".into(), encode_choice(&request.tool_choice));
    }
    let generation = generation_config(request, model);
    if !generation.is_empty() {
        body.insert("generationConfig".into(), Value::Object(generation));
    }
    merge(&mut body, &request.options);
    HttpCall {
        path: path(&request.model),
        headers: Vec::new(),
        body: Body::new(body, "contents", contents(request, model)),
    }
}

fn path(model: &str) -> String {
    let folder = if model.contains('/') { "" } else { "models/" };
    format!("/{folder}{model}:streamGenerateContent?alt=sse")
}

fn generation_config(request: &ModelRequest, model: &ModelInfo) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(max) = request.max_output {
        config.insert("maxOutputTokens".into(), json!(max));
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        config.insert("topP".into(), json!(top_p));
    }
    if model.reasoning {
        let thinking = thinking_config(&model.wire_id, request.reasoning.as_deref());
        config.insert("thinkingConfig".into(), thinking);
    }
    config
}

fn thinking_config(model: &str, variant: Option<&str>) -> Value {
    let mut thinking = json!({ "includeThoughts": true });
    let Some(variant) = variant else {
        return thinking;
    };
    match Generation::parse(model) {
        Generation::Second => thinking["thinkingBudget"] = json!(budget(model, variant)),
        Generation::Third => thinking["thinkingLevel"] = json!(level(model, variant)),
        Generation::Other => {}
    }
    thinking
}

/// Pro models cannot turn thinking off.
fn budget(model: &str, variant: &str) -> u32 {
    let pro = model.contains("pro");
    match variant {
        "none" if pro => 128,
        "none" => 0,
        "minimal" => 512,
        "low" => 2_048,
        "medium" => 8_192,
        _ if pro => 32_768,
        _ => 24_576,
    }
}

fn level<'a>(model: &str, variant: &'a str) -> &'a str {
    match variant {
        "none" | "minimal" if model.contains("pro") => "low",
        "none" => "minimal",
        "xhigh" | "max" => "high",
        other => other,
    }
}

fn encode_tool(tool: &ToolSpec) -> Value {
    let mut declaration = json!({ "name": tool.name, "description": tool.description });
    if let Some(parameters) = schema::parameters(&tool.input_schema) {
        declaration["parameters"] = parameters;
    }
    declaration
}

fn encode_choice(choice: &ToolChoice) -> Value {
    let config = match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    };
    json!({ "functionCallingConfig": config })
}

fn contents(request: &ModelRequest, model: &ModelInfo) -> Vec<Bytes> {
    let key = EncodingKey::new(WireKind::Gemini, model);
    let messages = &request.messages;
    messages.encoded(key, |messages| encode_contents(messages, model))
}

/// Roles must alternate. Tool results have the user role, all results of a step in one content.
fn encode_contents(messages: &[ModelMessage], model: &ModelInfo) -> Vec<Value> {
    let generation = Generation::parse(&model.wire_id);
    let lifted;
    let messages = if generation == Generation::Third {
        messages
    } else {
        lifted = lift_attachments(messages);
        &lifted
    };
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut push = |role: &'static str, parts: Vec<Value>| match contents.last_mut() {
        _ if parts.is_empty() => {}
        Some((last, earlier)) if *last == role => earlier.extend(parts),
        _ => contents.push((role, parts)),
    };
    for message in messages {
        match message {
            ModelMessage::User { content } => {
                let parts = content.iter().filter_map(|part| encode_user(part, model));
                push("user", parts.collect());
            }
            ModelMessage::Assistant { content } => {
                push("model", encode_assistant(content, generation));
                let results = content.iter().filter_map(|part| encode_result(part, model));
                push("user", results.collect());
            }
        }
    }
    contents
        .into_iter()
        .map(|(role, parts)| json!({ "role": role, "parts": parts }))
        .collect()
}

fn text_part(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "text": text }))
}

fn encode_user(content: &UserContent, model: &ModelInfo) -> Option<Value> {
    match content {
        UserContent::Text { text } => text_part(text),
        UserContent::File(file) => {
            Some(encode_file(file, model).unwrap_or_else(|| json!({ "text": file.placeholder() })))
        }
    }
}

fn encode_file(file: &FileContent, model: &ModelInfo) -> Option<Value> {
    const IMAGES: [&str; 5] = [
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
    ];
    let image = model.images && IMAGES.contains(&file.mime.as_str());
    if !(image || model.pdf && file.is_pdf()) {
        return None;
    }
    Some(match &file.data {
        FileData::Bytes(bytes) => {
            let data = FileData::base64(bytes);
            json!({ "inlineData": { "mimeType": file.mime, "data": data } })
        }
        FileData::Url(url) => json!({ "fileData": { "mimeType": file.mime, "fileUri": url } }),
    })
}

fn encode_assistant(content: &[AssistantContent], generation: Generation) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut first_call = true;
    for part in content {
        match part {
            AssistantContent::Text { text, metadata } => {
                let signature = google(metadata, SIGNATURE);
                if !text.trim().is_empty() || signature.is_some() {
                    parts.push(sign(json!({ "text": text }), signature));
                }
            }
            // Thought summaries are for people; the model only uses signed thoughts.
            AssistantContent::Reasoning { text, metadata } => {
                let signature = google(metadata, SIGNATURE);
                if signature.is_some() {
                    parts.push(sign(json!({ "text": text, "thought": true }), signature));
                }
            }
            AssistantContent::ToolCall {
                name,
                input,
                metadata,
                ..
            } => {
                let mut call = json!({ "name": name, "args": as_object(input) });
                if let Some(id) = google(metadata, "functionCallId") {
                    call["id"] = json!(id);
                }
                let required = first_call && generation == Generation::Third;
                let placeholder = required.then_some(SIGNATURE_PLACEHOLDER);
                let signature = google(metadata, SIGNATURE).or(placeholder);
                parts.push(sign(json!({ "functionCall": call }), signature));
                first_call = false;
            }
        }
    }
    parts
}

fn sign(mut part: Value, signature: Option<&str>) -> Value {
    if let Some(signature) = signature {
        part[SIGNATURE] = json!(signature);
    }
    part
}

fn google<'a>(metadata: &'a Metadata, key: &str) -> Option<&'a str> {
    metadata.get(FAMILY)?.get(key)?.as_str()
}

fn encode_result(content: &AssistantContent, model: &ModelInfo) -> Option<Value> {
    let AssistantContent::ToolCall {
        name,
        metadata,
        result,
        ..
    } = content
    else {
        return None;
    };
    let (text, files) = encode_outcome(result, model);
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({ "name": name, "response": { key: text } });
    if let Some(id) = google(metadata, "functionCallId") {
        response["id"] = json!(id);
    }
    if !files.is_empty() {
        response["parts"] = Value::Array(files);
    }
    Some(json!({ "functionResponse": response }))
}

/// A result can hold only inline bytes; other files are mentioned in its text.
fn encode_outcome(result: &ToolOutcome, model: &ModelInfo) -> (String, Vec<Value>) {
    let mut text = result.text.clone();
    let mut files = Vec::new();
    for file in &result.attachments {
        let inline = matches!(file.data, FileData::Bytes(_));
        match encode_file(file, model).filter(|_| inline) {
            Some(part) => files.push(part),
            None => {
                text.push('\n');
                text.push_str(&file.placeholder());
            }
        }
    }
    (text, files)
}
