use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::{
    event::Metadata,
    request::{
        AssistantContent, FileContent, FileData, ModelMessage, ToolChoice, ToolOutcome, ToolSpec,
        UserContent,
    },
};

fn model(id: &str) -> ModelInfo {
    let mut model = ModelInfo::unknown("google", id);
    model.pdf = true;
    model.reasoning = true;
    model
}

fn google(entries: Value) -> Metadata {
    Metadata::from_iter([(FAMILY.to_owned(), entries)])
}

fn file(mime: &str) -> FileContent {
    FileContent {
        mime: mime.to_owned(),
        data: FileData::Bytes(Bytes::from_static(b"bytes")),
        filename: None,
    }
}

fn user(text: &str) -> ModelMessage {
    let text = text.to_owned();
    ModelMessage::User {
        content: vec![UserContent::Text { text }],
    }
}

fn call(metadata: Metadata, result: ToolOutcome) -> AssistantContent {
    AssistantContent::ToolCall {
        id: "id".to_owned(),
        name: "read".to_owned(),
        input: json!({"filePath": "a.png"}),
        metadata,
        result,
    }
}

fn conversation(id: &str) -> ModelRequest {
    let mut request = ModelRequest::new(id);
    let mut shown = ToolOutcome::text("an image");
    shown.attachments = vec![file("image/png"), file("image/gif")];
    request.messages = vec![
        ModelMessage::User {
            content: vec![
                UserContent::Text {
                    text: "Look".to_owned(),
                },
                UserContent::File(file("image/png")),
                UserContent::File(file("application/pdf")),
                UserContent::File(file("audio/wav")),
            ],
        },
        ModelMessage::Assistant {
            content: vec![
                AssistantContent::Reasoning {
                    text: "unsigned".to_owned(),
                    metadata: Metadata::new(),
                },
                AssistantContent::Text {
                    text: "Reading".to_owned(),
                    metadata: google(json!({"thoughtSignature": "on-text"})),
                },
                call(
                    google(json!({"functionCallId": "fc-1", "thoughtSignature": "on-call"})),
                    shown,
                ),
                call(
                    google(json!({"functionCallId": "fc-2"})),
                    ToolOutcome::error("no such file"),
                ),
            ],
        },
        user("And?"),
    ]
    .into();
    request
}

#[test]
fn a_whole_conversation_becomes_contents() {
    let mut request = conversation("gemini-3.1-pro-preview");
    request.system = vec!["You are a lathe.".to_owned(), "Be brief.".to_owned()];
    request.max_output = Some(8000);
    request.temperature = Some(0.5);
    request.reasoning = Some("none".to_owned());
    request.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        input_schema: Arc::new(
            json!({"type": "object", "properties": {"filePath": {"type": "string"}}}),
        ),
    }];
    request.tool_choice = ToolChoice::Named("read".to_owned());
    let call = Gemini.encode(&request, &model("gemini-3.1-pro-preview"));
    assert_eq!(
        call.path,
        "/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse"
    );
    insta::assert_json_snapshot!("a_whole_conversation", call.body);
}

#[test]
fn an_older_model_gets_attachments_of_tools_as_user_parts() {
    let request = conversation("gemini-2.5-flash");
    let body = Gemini
        .encode(&request, &model("gemini-2.5-flash"))
        .body
        .to_value();
    let roles: Vec<&str> = body["contents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|content| content["role"].as_str())
        .collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let first = body["contents"][0]["parts"].as_array().unwrap();
    assert_eq!(
        first[4]["text"],
        "The tool read returned the following attachments:"
    );
    assert!(first[5].get("inlineData").is_some());
}

#[test]
fn a_call_of_another_model_gets_a_placeholder_signature() {
    let mut request = ModelRequest::new("gemini-3.8-flash");
    request.messages = vec![ModelMessage::Assistant {
        content: vec![
            call(Metadata::new(), ToolOutcome::text("1")),
            call(Metadata::new(), ToolOutcome::text("2")),
        ],
    }]
    .into();
    let signatures = |id: &str| -> Vec<Value> {
        let body = Gemini.encode(&request, &model(id)).body.to_value();
        let parts = body["contents"][0]["parts"].as_array().unwrap();
        parts
            .iter()
            .map(|part| part["thoughtSignature"].clone())
            .collect()
    };
    assert_eq!(
        signatures("gemini-3.8-flash"),
        [json!("skip_thought_signature_validator"), Value::Null]
    );
    assert_eq!(signatures("gemini-2.5-pro"), [Value::Null, Value::Null]);
}

#[test]
fn a_variant_becomes_a_budget_or_a_level_by_generation() {
    let thinking = |id: &str, variant: Option<&str>| {
        let mut request = ModelRequest::new(id);
        request.reasoning = variant.map(str::to_owned);
        let body = Gemini.encode(&request, &model(id)).body.to_value();
        body["generationConfig"]["thinkingConfig"].clone()
    };
    let budget = |tokens: u32| json!({"includeThoughts": true, "thinkingBudget": tokens});
    let level = |name: &str| json!({"includeThoughts": true, "thinkingLevel": name});
    assert_eq!(thinking("gemini-2.5-flash", Some("none")), budget(0));
    assert_eq!(thinking("gemini-2.5-pro", Some("none")), budget(128));
    assert_eq!(thinking("gemini-2.5-pro", Some("high")), budget(32_768));
    assert_eq!(
        thinking("gemini-3.1-pro-preview", Some("minimal")),
        level("low")
    );
    assert_eq!(
        thinking("gemini-flash-latest", Some("none")),
        level("minimal")
    );
    assert_eq!(
        thinking("gemini-3.8-flash", None),
        json!({"includeThoughts": true})
    );
    assert_eq!(
        thinking("gemma-4", Some("high")),
        json!({"includeThoughts": true})
    );
}

#[test]
fn a_schema_is_reduced_to_what_gemini_accepts() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Input",
        "additionalProperties": false,
        "properties": {
            "limit": {"type": ["integer", "null"], "format": "uint32", "minimum": 0},
            "mode": {"$ref": "#/$defs/Mode"},
            "todo": {"allOf": [{"$ref": "#/$defs/Todo"}], "description": "one"},
            "either": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}], "default": null},
            "kind": {"const": "file"},
            "level": {"type": "integer", "enum": [1, 2]},
            "list": {"type": "array"},
            "any": true,
        },
        "required": ["limit", "gone"],
        "$defs": {
            "Mode": {"type": "string", "enum": ["a", "b"]},
            "Todo": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Mode"}}, "required": ["next"]},
        },
    });
    insta::assert_json_snapshot!("a_cleaned_schema", schema::parameters(&schema));
    assert_eq!(
        schema::parameters(&json!({"type": "object", "properties": {}})),
        None
    );
}

#[test]
fn a_recursive_schema_ends() {
    let schema = json!({
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "self": {"$ref": "#/properties/self"}},
    });
    assert!(schema::parameters(&schema).is_some());
}

fn decode(status: u16, body: &Value) -> ProviderError {
    Gemini.decode_error(status, ResponseHeaders::new(), body.to_string().as_bytes())
}

#[test]
fn the_retry_delay_in_the_body_becomes_a_header() {
    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.0001s"}]}});
    for body in [body.clone(), json!([body])] {
        let ProviderError::Api(failure) = decode(429, &body) else {
            panic!("an API error");
        };
        assert!(failure.is_retryable);
        assert_eq!(failure.headers["retry-after-ms"], "2001");
    }
}

#[test]
fn a_bad_key_is_an_auth_error_though_its_status_is_400() {
    let body = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
        "message": "API key not valid. Please pass a valid API key.",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}});
    assert_eq!(
        decode(400, &body),
        ProviderError::Auth {
            message: "API key not valid. Please pass a valid API key.".to_owned()
        }
    );
    let too_long = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
        "message": "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}});
    assert!(matches!(
        decode(400, &too_long),
        ProviderError::ContextOverflow(_)
    ));
}
