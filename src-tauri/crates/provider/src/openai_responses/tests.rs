use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::{
    error::ApiFailure,
    event::Metadata,
    request::{
        AssistantContent, FileContent, FileData, ModelMessage, ToolChoice, ToolOutcome, ToolSpec,
        UserContent,
    },
};

fn model() -> ModelInfo {
    let mut model = ModelInfo::unknown("openai", "gpt-5.2");
    model.pdf = true;
    model.reasoning = true;
    model
}

fn metadata(entries: Value) -> Metadata {
    Metadata::from_iter([(FAMILY.to_owned(), entries)])
}

fn file(mime: &str, name: &str) -> FileContent {
    FileContent {
        mime: mime.to_owned(),
        data: FileData::Bytes(Bytes::from_static(b"bytes")),
        filename: Some(name.to_owned()),
    }
}

fn user(text: &str) -> ModelMessage {
    let text = text.to_owned();
    ModelMessage::User {
        content: vec![UserContent::Text { text }],
    }
}

fn reasoning(text: &str, entries: Value) -> AssistantContent {
    AssistantContent::Reasoning {
        text: text.to_owned(),
        metadata: metadata(entries),
    }
}

fn call(id: &str, result: ToolOutcome) -> AssistantContent {
    AssistantContent::ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        input: json!({"filePath": "a.png"}),
        metadata: Metadata::new(),
        result,
    }
}

fn body(request: &ModelRequest, model: &ModelInfo) -> Value {
    OpenaiResponses.encode(request, model).body.to_value()
}

#[test]
fn a_whole_conversation_becomes_input_items() {
    let mut request = ModelRequest::new("gpt-5.2");
    request.system = vec![
        "You are a lathe.".to_owned(),
        " ".to_owned(),
        "Be brief.".to_owned(),
    ];
    request.max_output = Some(4);
    request.temperature = Some(0.5);
    request.reasoning = Some("high".to_owned());
    request.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        input_schema: Arc::new(
            json!({"type": "object", "properties": {"filePath": {"type": "string"}}}),
        ),
    }];
    request.tool_choice = ToolChoice::Named("read".to_owned());
    let mut shown = ToolOutcome::text("an image");
    shown.attachments = vec![file("image/png", "a.png")];
    request.messages = vec![
        ModelMessage::User {
            content: vec![
                UserContent::Text {
                    text: "Look".to_owned(),
                },
                UserContent::File(file("image/png", "shot.png")),
                UserContent::File(file("application/pdf", "paper.pdf")),
                UserContent::File(file("audio/wav", "noise.wav")),
            ],
        },
        ModelMessage::Assistant {
            content: vec![
                reasoning("First.", json!({"itemId": "rs_1"})),
                reasoning(
                    "Second.",
                    json!({"itemId": "rs_1", "reasoningEncryptedContent": "seal"}),
                ),
                AssistantContent::Text {
                    text: "Reading".to_owned(),
                    metadata: metadata(json!({"itemId": "msg_1", "phase": "commentary"})),
                },
                call("call_1", shown),
                call("call_2", ToolOutcome::error("no such file")),
            ],
        },
        user("And?"),
    ]
    .into();
    let call = OpenaiResponses.encode(&request, &model());
    assert_eq!(call.path, "/responses");
    insta::assert_json_snapshot!("a_whole_conversation", call.body);
}

#[test]
fn reasoning_is_sent_back_only_encrypted_and_followed_by_output() {
    let mut request = ModelRequest::new("gpt-5.2");
    let text = AssistantContent::Text {
        text: "So.".to_owned(),
        metadata: Metadata::new(),
    };
    request.messages = vec![
        ModelMessage::Assistant {
            content: vec![
                reasoning("not encrypted", json!({"itemId": "rs_1"})),
                reasoning(
                    "",
                    json!({"itemId": "rs_2", "reasoningEncryptedContent": "seal"}),
                ),
                text,
                reasoning(
                    "last",
                    json!({"itemId": "rs_3", "reasoningEncryptedContent": "seal"}),
                ),
            ],
        },
        user("Go on"),
    ]
    .into();
    assert_eq!(
        body(&request, &model())["input"],
        json!([
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "seal"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Go on"}]},
        ])
    );
}

#[test]
fn a_request_to_a_model_without_reasoning_has_no_reasoning_fields() {
    let mut model = model();
    model.reasoning = false;
    let mut request = ModelRequest::new("gpt-4.1");
    request.reasoning = Some("high".to_owned());
    request.temperature = Some(0.5);
    request.messages = vec![user("Hi")].into();
    assert_eq!(
        body(&request, &model),
        json!({
            "model": "gpt-4.1",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
            "stream": true,
            "store": false,
            "temperature": 0.5,
        })
    );
}

#[test]
fn user_options_are_merged_key_by_key() {
    let mut request = ModelRequest::new("gpt-5.2");
    request.reasoning = Some("low".to_owned());
    let options = json!({"reasoning": {"summary": "detailed"}, "service_tier": "flex"});
    request.options = options.as_object().cloned().unwrap();
    let body = body(&request, &model());
    assert_eq!(
        body["reasoning"],
        json!({"effort": "low", "summary": "detailed"})
    );
    assert_eq!(body["service_tier"], "flex");
}

#[test]
fn a_compatible_server_gets_attachments_of_tools_as_a_user_message() {
    let mut model = model();
    model.provider = "elsewhere".to_owned();
    let mut shown = ToolOutcome::text("an image");
    shown.attachments = vec![file("image/png", "a.png")];
    let mut request = ModelRequest::new("m");
    request.messages = vec![ModelMessage::Assistant {
        content: vec![call("call_1", shown)],
    }]
    .into();
    let input = &body(&request, &model)["input"];
    assert_eq!(input[0]["role"], "user");
    assert_eq!(input[0]["content"][1]["type"], "input_image");
    assert_eq!(input[2]["output"], "an image");
}

#[test]
fn an_error_response_has_its_message_and_whether_to_retry() {
    let decode = |status: u16, body: Value| {
        let body = body.to_string();
        OpenaiResponses.decode_error(status, ResponseHeaders::new(), body.as_bytes())
    };
    let message = "Incorrect API key provided".to_owned();
    assert_eq!(
        decode(
            401,
            json!({"error": {"message": message, "code": "invalid_api_key"}})
        ),
        ProviderError::Auth { message }
    );
    let too_long = json!({"error": {"code": "context_length_exceeded", "message": "Too long"}});
    assert!(matches!(
        decode(400, too_long),
        ProviderError::ContextOverflow(_)
    ));
    let ProviderError::Api(ApiFailure { is_retryable, .. }) = decode(
        429,
        json!({"error": {"code": "rate_limit_exceeded", "message": "Slow down"}}),
    ) else {
        panic!("an API error");
    };
    assert!(is_retryable);
}
