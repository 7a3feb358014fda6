//! How a request is encoded for the Anthropic and Chat Completions APIs.

use std::sync::Arc;

use lathe_provider::{
    AssistantContent, FileContent, FileData, Limits, Metadata, ModelInfo, ModelMessage,
    ModelRequest, ToolChoice, ToolOutcome, ToolSpec, UserContent, WireKind,
};
use serde_json::{Value, json};

fn model(provider: &str, id: &str) -> ModelInfo {
    ModelInfo {
        limits: Limits {
            context: 200_000,
            input: None,
            output: 64_000,
        },
        pdf: true,
        reasoning: true,
        ..ModelInfo::unknown(provider, id)
    }
}

fn file(mime: &str, name: &str) -> FileContent {
    FileContent {
        mime: mime.to_owned(),
        data: FileData::Bytes(b"bytes".as_slice().into()),
        filename: Some(name.to_owned()),
    }
}

fn user(text: &str) -> UserContent {
    UserContent::Text {
        text: text.to_owned(),
    }
}

fn metadata(family: &str, value: Value) -> Metadata {
    Metadata::from_iter([(family.to_owned(), value)])
}

/// A turn with every kind of content.
fn conversation(id: &str) -> ModelRequest {
    let mut request = ModelRequest::new(id);
    request.system = vec!["You are Lathe.".to_owned(), "Project rules.".to_owned()];
    request.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file".to_owned(),
        input_schema: Arc::new(json!({
            "type": "object",
            "properties": { "filePath": { "type": "string" } },
            "required": ["filePath"],
        })),
    }];
    request.messages = vec![
        ModelMessage::User {
            content: vec![
                user("What is in these?"),
                UserContent::File(file("image/png", "shot.png")),
                UserContent::File(file("application/pdf", "paper.pdf")),
                UserContent::File(file("audio/wav", "noise.wav")),
            ],
        },
        ModelMessage::Assistant {
            content: vec![
                AssistantContent::Reasoning {
                    text: "Look first.".to_owned(),
                    metadata: metadata("anthropic", json!({ "signature": "seal" })),
                },
                AssistantContent::Text {
                    text: "Reading.".to_owned(),
                    metadata: Metadata::new(),
                },
                AssistantContent::ToolCall {
                    id: "call_1".to_owned(),
                    name: "read".to_owned(),
                    input: json!({ "filePath": "chart.png" }),
                    metadata: Metadata::new(),
                    result: ToolOutcome {
                        attachments: vec![file("image/png", "chart.png")],
                        ..ToolOutcome::text("An image")
                    },
                },
                AssistantContent::ToolCall {
                    id: "fc|2".to_owned(),
                    name: "read".to_owned(),
                    input: json!("{not json"),
                    metadata: Metadata::new(),
                    result: ToolOutcome::error("no such file"),
                },
            ],
        },
        ModelMessage::User {
            content: vec![user("Go on."), user("   ")],
        },
    ]
    .into();
    request
}

fn body(wire: WireKind, request: &ModelRequest, model: &ModelInfo) -> Value {
    wire.codec()
        .map(|wire| wire.encode(request, model).body.to_value())
        .unwrap_or_default()
}

fn anthropic(request: &ModelRequest) -> Value {
    body(
        WireKind::Anthropic,
        request,
        &model("anthropic", &request.model),
    )
}

fn chat(request: &ModelRequest, provider: &str) -> Value {
    body(
        WireKind::OpenaiChat,
        request,
        &model(provider, &request.model),
    )
}

#[test]
fn a_whole_conversation_as_anthropic_messages() {
    let mut request = conversation("claude-sonnet-4-5");
    request.reasoning = Some("high".to_owned());
    let call = WireKind::Anthropic
        .codec()
        .map(|wire| wire.encode(&request, &model("anthropic", &request.model)));
    insta::assert_json_snapshot!("anthropic_request", call);
}

#[test]
fn a_whole_conversation_as_chat_messages() {
    let mut request = conversation("gpt-x");
    request.reasoning = Some("high".to_owned());
    request.max_output = Some(4_000);
    request.tool_choice = ToolChoice::Named("read".to_owned());
    insta::assert_json_snapshot!("openai_chat_request", chat(&request, "openai"));
}

#[test]
fn the_request_can_be_serialized_for_display() {
    insta::assert_json_snapshot!("neutral_request", conversation("any"));
}

#[test]
fn each_claude_generation_gets_its_thinking_parameters() {
    let thinking = |id: &str, variant: Option<&str>| {
        let mut request = ModelRequest::new(id);
        request.messages = vec![ModelMessage::User {
            content: vec![user("hi")],
        }]
        .into();
        request.temperature = Some(0.5);
        request.reasoning = variant.map(str::to_owned);
        let body = anthropic(&request);
        json!([
            body["thinking"],
            body["output_config"],
            body["temperature"],
            body["max_tokens"]
        ])
    };
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    let mut bound = adaptive.clone();
    bound["block_binding"] = json!({ "prefix_mismatch_behavior": "drop_block" });
    let effort = |effort: &str| json!({ "effort": effort });

    let budget = json!({ "type": "enabled", "budget_tokens": 16_000 });
    assert_eq!(
        thinking("claude-3-5-haiku", Some("high")),
        json!([null, null, 0.5, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-4-5", Some("high")),
        json!([budget, null, null, 48_000])
    );
    assert_eq!(
        thinking("claude-opus-4-5", None),
        json!([null, null, 0.5, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-4-6", None),
        json!([null, null, 0.5, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-4-6", Some("xhigh")),
        json!([adaptive, effort("high"), null, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-5", Some("none")),
        json!([{ "type": "disabled" }, null, null, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-5", None),
        json!([adaptive, null, null, 32_000])
    );
    assert_eq!(
        thinking("claude-opus-5-5", Some("none")),
        json!([bound, effort("low"), null, 32_000])
    );
}

#[test]
fn tool_use_is_not_forced_for_a_model_that_thinks() {
    let mut request = conversation("claude-opus-5-5");
    request.tool_choice = ToolChoice::Required;
    assert_eq!(
        anthropic(&request)["tool_choice"],
        json!({ "type": "auto" })
    );
    request.model = "claude-opus-4-5".to_owned();
    assert_eq!(anthropic(&request)["tool_choice"], json!({ "type": "any" }));
}

#[test]
fn chat_servers_get_the_fields_they_accept() {
    let mut request = conversation("m");
    request.reasoning = Some("low".to_owned());
    request.max_output = Some(100);
    let mut pick = |provider: &str, reasoning: &str| {
        request.reasoning = Some(reasoning.to_owned());
        let body = chat(&request, provider);
        let fields = ["max_tokens", "max_completion_tokens", "stream_options"];
        let reasoning = ["reasoning_effort", "reasoning", "thinking"];
        let present: Vec<String> = fields
            .iter()
            .chain(&reasoning)
            .filter(|field| !body[**field].is_null())
            .map(|field| format!("{field}={}", body[*field]))
            .collect();
        present.join(" ")
    };
    let usage = r#"stream_options={"include_usage":true}"#;
    assert_eq!(
        pick("openai", "low"),
        format!(r#"max_completion_tokens=100 {usage} reasoning_effort="low""#)
    );
    assert_eq!(
        pick("openrouter", "low"),
        format!(r#"max_tokens=100 {usage} reasoning={{"effort":"low"}}"#)
    );
    assert_eq!(
        pick("deepseek", "none"),
        format!(r#"max_tokens=100 {usage} thinking={{"type":"disabled"}}"#)
    );
    assert_eq!(
        pick("mistral", "high"),
        r#"max_tokens=100 reasoning_effort="high""#
    );
    assert_eq!(
        pick("ollama", "low"),
        format!(r#"max_tokens=100 {usage} reasoning_effort="low""#)
    );
}

#[test]
fn mistral_gets_matching_call_ids_of_nine_characters() {
    let body = chat(&conversation("mistral-large"), "mistral");
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let called = messages.iter().flat_map(|message| {
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        calls.into_iter().map(|call| call["id"].clone())
    });
    let answered = messages.iter().filter(|message| message["role"] == "tool");
    let answered: Vec<Value> = answered
        .map(|message| message["tool_call_id"].clone())
        .collect();
    assert_eq!(called.collect::<Vec<_>>(), answered);
    let nine = |id: &Value| id.as_str().is_some_and(|id| id.len() == 9 && id.is_ascii());
    assert!(
        answered.len() == 2 && answered.iter().all(nine),
        "{answered:?}"
    );
}

#[test]
fn reasoning_is_sent_back_in_the_field_of_the_model() {
    let request = conversation("deepseek-v4");
    let mut info = model("deepseek", "deepseek-v4");
    assert!(
        !body(WireKind::OpenaiChat, &request, &info)
            .to_string()
            .contains("Look first.")
    );
    info.reasoning_field = Some("reasoning_content".to_owned());
    let body = body(WireKind::OpenaiChat, &request, &info);
    let assistant = body["messages"].as_array().into_iter().flatten();
    let fields: Vec<&Value> = assistant
        .filter_map(|message| message.get("reasoning_content"))
        .collect();
    assert_eq!(fields, [&json!("Look first.")]);
}

#[test]
fn the_options_of_the_user_override_ours() {
    let mut request = conversation("claude-opus-5");
    request.options.insert("max_tokens".to_owned(), json!(7));
    assert_eq!(anthropic(&request)["max_tokens"], json!(7));
    assert_eq!(chat(&request, "openai")["max_tokens"], json!(7));
}
