//! The neutral request as a Messages API body.

use serde_json::{Map, Value, json};

use super::generation::{Generation, Thinking};
use crate::{
    model::ModelInfo,
    request::{
        AssistantContent, FileContent, FileData, ModelMessage, ModelRequest, ToolChoice,
        ToolOutcome, ToolSpec, UserContent,
    },
    wire::HttpCall,
};

const VERSION: &str = "2023-06-01";
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";
const THINKING_BINDING: &str = "thinking-binding-controls-2026-08-01";

/// `max_tokens` is required; this is asked of a model whose limit nobody knows.
const OUTPUT_OF_UNKNOWN: u64 = 8_192;
/// Enough for any step, and little enough to leave room in the context.
const OUTPUT_DEFAULT: u64 = 32_000;
const SMALLEST_BUDGET: u64 = 1_024;

pub(super) fn encode(request: &ModelRequest, model: &ModelInfo) -> HttpCall {
    let mut messages = encode_messages(request, model);
    mark_last_two(&mut messages);
    let mut reasoning = Reasoning::plan(request, model);
    reasoning.fit(max_output(request, model), model.limits.output);

    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("max_tokens".into(), json!(reasoning.max_tokens));
    body.insert("stream".into(), json!(true));
    if let Some(system) = encode_system(&request.system) {
        body.insert("system".into(), system);
    }
    body.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(encode_tool).collect();
        body.insert("tools".into(), Value::Array(tools));
        let choice = encode_choice(&request.tool_choice, reasoning.allows_forced_tools);
        body.insert("tool_choice".into(), choice);
    }
    if reasoning.allows_sampling {
        insert_some(&mut body, "temperature", request.temperature);
        insert_some(&mut body, "top_p", request.top_p);
    }
    let headers = reasoning.headers(!request.tools.is_empty());
    insert_some(&mut body, "thinking", reasoning.thinking);
    if let Some(effort) = reasoning.effort {
        body.insert("output_config".into(), json!({ "effort": effort }));
    }
    body.extend(request.options.clone());
    HttpCall {
        path: "/messages".to_owned(),
        headers,
        body: Value::Object(body),
    }
}

fn insert_some(body: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(key.to_owned(), value.into());
    }
}

fn max_output(request: &ModelRequest, model: &ModelInfo) -> u64 {
    let limit = match model.limits.output {
        0 => OUTPUT_OF_UNKNOWN,
        known => known.min(OUTPUT_DEFAULT),
    };
    request.max_output.unwrap_or(limit).max(1)
}

/// What the request says about thinking, and what that rules out elsewhere.
struct Reasoning {
    thinking: Option<Value>,
    effort: Option<String>,
    budget: Option<u64>,
    max_tokens: u64,
    allows_sampling: bool,
    allows_forced_tools: bool,
    binds: bool,
}

impl Reasoning {
    fn plan(request: &ModelRequest, model: &ModelInfo) -> Self {
        let generation = Generation::of(&model.wire_id);
        let style = match &generation {
            Some(generation) => generation.thinking(),
            None if model.reasoning => Thinking::Budget,
            None => Thinking::Never,
        };
        let variant = request.reasoning.as_deref();
        let mut plan = Self {
            thinking: None,
            effort: None,
            budget: None,
            max_tokens: 0,
            allows_sampling: generation.as_ref().is_none_or(Generation::takes_sampling),
            allows_forced_tools: generation
                .as_ref()
                .is_none_or(Generation::takes_forced_tools),
            binds: generation.as_ref().is_some_and(Generation::binds_thinking),
        };
        let adaptive = match (style, variant) {
            (Thinking::Never, _) => return plan,
            (Thinking::Budget, variant) => {
                if !in_unthinking_loop(&request.messages) {
                    plan.budget = variant.and_then(budget_of);
                }
                return plan;
            }
            (Thinking::OnRequest, variant) => !matches!(variant, None | Some("none")),
            (Thinking::ByDefault, Some("none")) => {
                plan.thinking = Some(json!({ "type": "disabled" }));
                false
            }
            (Thinking::ByDefault | Thinking::Always, _) => true,
        };
        if adaptive {
            plan.think_adaptively(generation.as_ref(), variant);
        }
        plan
    }

    fn think_adaptively(&mut self, generation: Option<&Generation>, variant: Option<&str>) {
        // Without a display newer models think unseen.
        let mut thinking = json!({ "type": "adaptive", "display": "summarized" });
        if self.binds {
            thinking["block_binding"] = json!({ "prefix_mismatch_behavior": "drop_block" });
        }
        self.thinking = Some(thinking);
        self.allows_sampling = false;
        self.allows_forced_tools = false;
        self.effort = variant
            .zip(generation)
            .map(|(variant, generation)| generation.effort(variant).to_owned());
    }

    /// A budget must stay below `max_tokens`, which counts thinking and answer together.
    fn fit(&mut self, max_output: u64, limit: u64) {
        self.max_tokens = max_output;
        let Some(budget) = self.budget else { return };
        let ceiling = if limit == 0 { u64::MAX } else { limit };
        self.max_tokens = (max_output.saturating_add(budget)).min(ceiling.max(max_output));
        let budget = budget.min(self.max_tokens.saturating_sub(SMALLEST_BUDGET));
        if budget < SMALLEST_BUDGET {
            self.budget = None;
            return;
        }
        self.thinking = Some(json!({ "type": "enabled", "budget_tokens": budget }));
        self.allows_sampling = false;
        self.allows_forced_tools = false;
    }

    fn headers(&self, with_tools: bool) -> Vec<(String, String)> {
        let mut headers = vec![("anthropic-version".to_owned(), VERSION.to_owned())];
        let beta = if self.binds && self.thinking.is_some() {
            Some(THINKING_BINDING)
        } else if self.budget.is_some() && with_tools {
            Some(INTERLEAVED_THINKING)
        } else {
            None
        };
        headers.extend(beta.map(|beta| ("anthropic-beta".to_owned(), beta.to_owned())));
        headers
    }
}

fn budget_of(variant: &str) -> Option<u64> {
    Some(match variant {
        "none" => return None,
        "minimal" => SMALLEST_BUDGET,
        "low" => 4_096,
        "medium" => 10_000,
        "high" => 16_000,
        _ => 31_999,
    })
}

/// In budget mode a tool loop that began without thinking must go on without it.
fn in_unthinking_loop(messages: &[ModelMessage]) -> bool {
    let Some(ModelMessage::Assistant { content }) = messages.last() else {
        return false;
    };
    !content.iter().any(|part| encode_thinking(part).is_some())
}

fn encode_system(system: &[String]) -> Option<Value> {
    let mut blocks: Vec<Value> = system
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    mark(blocks.last_mut()?);
    Some(Value::Array(blocks))
}

fn encode_tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    })
}

fn encode_choice(choice: &ToolChoice, forced: bool) -> Value {
    match choice {
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required if forced => json!({ "type": "any" }),
        ToolChoice::Named(name) if forced => json!({ "type": "tool", "name": name }),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => json!({ "type": "auto" }),
    }
}

/// Neighbours of one role become one message: results of tools and what the user said next
/// belong together.
fn encode_messages(request: &ModelRequest, model: &ModelInfo) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut push = |role: &'static str, blocks: Vec<Value>| match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some((last, content)) if *last == role => content.extend(blocks),
        _ => messages.push((role, blocks)),
    };
    for message in &request.messages {
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

/// Empty text blocks are refused by the API.
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
        return json!({ "type": "text", "text": file.left_out() });
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

/// Thinking goes back only with the seal it came with; without one the API refuses it.
fn encode_thinking(content: &AssistantContent) -> Option<Value> {
    let AssistantContent::Reasoning { text, metadata } = content else {
        return None;
    };
    let seal = metadata.get("anthropic")?;
    if let Some(data) = seal.get("redactedData").and_then(Value::as_str) {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = seal.get("signature")?.as_str()?;
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

/// Ids of other providers may hold characters that this one refuses.
fn wire_id(id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id: String = id
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if id.is_empty() { "call".to_owned() } else { id }
}

fn as_object(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        other => json!({ "input": other }),
    }
}

fn mark_last_two(messages: &mut [Value]) {
    for message in messages.iter_mut().rev().take(2) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        let cacheable = blocks
            .into_iter()
            .flatten()
            .rev()
            .find(|block| !is_thinking(block));
        if let Some(block) = cacheable {
            mark(block);
        }
    }
}

fn is_thinking(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}

/// A cache breakpoint: the prefix up to here is read back cheaply next time.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}
