use proptest::{collection::vec, prelude::*};
use serde_json::json;

use super::*;
use crate::{
    event::Metadata,
    request::{FileContent, FileData, ModelRequest, ToolOutcome},
};

const WIRES: [WireKind; 4] = [
    WireKind::Anthropic,
    WireKind::OpenaiChat,
    WireKind::OpenaiResponses,
    WireKind::Gemini,
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n".to_owned()),
        "[a-z\"\\\\é]{1,8}"
    ]
}

fn file() -> impl Strategy<Value = FileContent> {
    let mime = prop_oneof![
        Just("image/png"),
        Just("application/pdf"),
        Just("text/plain")
    ];
    mime.prop_map(|mime| FileContent {
        mime: mime.to_owned(),
        data: FileData::Bytes(Bytes::from_static(b"bytes")),
        filename: None,
    })
}

fn user() -> impl Strategy<Value = ModelMessage> {
    let content = prop_oneof![
        text().prop_map(|text| UserContent::Text { text }),
        file().prop_map(UserContent::File),
    ];
    vec(content, 0..3).prop_map(|content| ModelMessage::User { content })
}

/// With the signatures of all providers, or with none.
fn metadata() -> impl Strategy<Value = Metadata> {
    let signed = json!({
        "anthropic": { "signature": "sig" },
        "openai": { "itemId": "rs_1", "reasoningEncryptedContent": "sig" },
        "google": { "thoughtSignature": "sig" },
    });
    let signed = signed.as_object().cloned().unwrap_or_default();
    any::<bool>().prop_map(move |is_signed| match is_signed {
        true => signed.clone(),
        false => Metadata::new(),
    })
}

fn call() -> impl Strategy<Value = AssistantContent> {
    let result = (text(), any::<bool>(), vec(file(), 0..2));
    result.prop_map(|(text, is_error, attachments)| AssistantContent::ToolCall {
        id: "call_1".to_owned(),
        name: "read".to_owned(),
        input: json!({ "path": "a" }),
        metadata: Metadata::new(),
        result: ToolOutcome {
            text,
            is_error,
            attachments,
        },
    })
}

fn assistant() -> impl Strategy<Value = ModelMessage> {
    let content = prop_oneof![
        (text(), metadata()).prop_map(|(text, metadata)| AssistantContent::Text { text, metadata }),
        (text(), metadata())
            .prop_map(|(text, metadata)| AssistantContent::Reasoning { text, metadata }),
        call(),
    ];
    vec(content, 0..4).prop_map(|content| ModelMessage::Assistant { content })
}

fn messages() -> impl Strategy<Value = Vec<ModelMessage>> {
    vec(prop_oneof![user(), assistant()], 0..24)
}

fn in_one_segment(messages: Vec<ModelMessage>) -> Conversation {
    Conversation {
        segments: vec![Arc::new(Segment {
            messages,
            encoded: Mutex::default(),
        })],
    }
}

fn body(wire: WireKind, messages: Conversation) -> Value {
    let mut request = ModelRequest::new("m");
    request.system = vec!["Be brief.".to_owned()];
    request.messages = messages;
    let model = ModelInfo::unknown("some", "m");
    let codec = wire.codec().map(|codec| codec.encode(&request, &model));
    codec.map(|call| call.body.to_value()).unwrap_or_default()
}

proptest! {
    #[test]
    fn many_segments_encode_like_one(messages in messages()) {
        for wire in WIRES {
            prop_assert_eq!(
                body(wire, messages.clone().into()),
                body(wire, in_one_segment(messages.clone())),
                "{:?}", wire
            );
        }
    }

    #[test]
    fn a_conversation_that_was_truncated_encodes_like_a_new_one(
        first in messages(), second in messages(), third in messages(),
    ) {
        let mut grown = Conversation::from(first.clone());
        let message_count = grown.message_count();
        for wire in WIRES {
            body(wire, grown.clone());
            grown.extend(second.clone());
            body(wire, grown.clone());
            grown.truncate(message_count);
            let mut longer = grown.clone();
            longer.extend(third.clone());
            let all: Vec<_> = first.iter().chain(&third).cloned().collect();
            prop_assert_eq!(&longer, &Conversation::from(all.clone()));
            prop_assert_eq!(body(wire, longer), body(wire, all.into()), "{:?}", wire);
        }
    }
}

fn step(text: &str) -> ModelMessage {
    ModelMessage::Assistant {
        content: vec![AssistantContent::ToolCall {
            id: text.to_owned(),
            name: "read".to_owned(),
            input: json!({}),
            metadata: Metadata::new(),
            result: ToolOutcome::text(text),
        }],
    }
}

fn sizes(conversation: &Conversation) -> Vec<usize> {
    let segments = conversation.segments().iter();
    segments.map(|segment| segment.messages().len()).collect()
}

#[test]
fn each_step_with_a_tool_call_is_a_segment_until_many_are_merged() {
    let text = "Go".to_owned();
    let asked = ModelMessage::User {
        content: vec![UserContent::Text { text }],
    };
    let mut conversation = Conversation::from(vec![asked, step("one"), step("two")]);
    assert_eq!(sizes(&conversation), [1, 1, 1]);
    conversation.extend(["three", "four"].map(step));
    assert_eq!(sizes(&conversation), [4, 1]);
}

#[test]
fn merging_segments_keeps_their_encoding() {
    let model = ModelInfo::unknown("some", "m");
    let key = EncodingKey::new(WireKind::OpenaiChat, &model);
    let mut conversation = Conversation::from(["a", "b", "c", "d"].map(step).to_vec());
    for (at, segment) in conversation.segments().iter().enumerate() {
        segment.encoded(key, |_| vec![json!(at)]);
    }
    conversation.push(step("e"));
    let merged = &conversation.segments()[0];
    let bytes = merged.encoded(key, |_| panic!("encoded again"));
    assert_eq!(bytes, "0,1,2,3");
}
