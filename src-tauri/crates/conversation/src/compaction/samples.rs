//! Sample messages for the tests of this module.

use lathe_protocol::{Map, MessageId, MessageWithParts, Millis, Part, PartId, SessionId, ToolPart};
use serde_json::{Value, json};

fn message(info: Value, parts: Value) -> MessageWithParts {
    let value = json!({ "info": info, "parts": parts });
    serde_json::from_value(value).unwrap()
}

fn text(message: &str, text: &str) -> Value {
    json!([{ "id": "prt_1", "sessionID": "ses_1", "messageID": message, "type": "text", "text": text }])
}

pub fn user(id: &str, said: &str) -> MessageWithParts {
    let info = json!({ "id": id, "sessionID": "ses_1", "role": "user", "time": { "created": 1 } });
    message(info, text(id, said))
}

pub fn assistant(id: &str, parent: &str, said: &str) -> MessageWithParts {
    let info = json!({ "id": id, "sessionID": "ses_1", "role": "assistant",
        "time": { "created": 2, "completed": 3 }, "parentID": parent, "modelID": "m",
        "providerID": "p", "finish": "stop" });
    message(info, text(id, said))
}

/// An answer with one completed call, whose argument and output are `text`.
pub fn called(id: &str, parent: &str, tool: &str, text: &str) -> MessageWithParts {
    let mut message = assistant(id, parent, "");
    let mut part = pending(id, tool);
    let input = Map::from_iter([("content".to_owned(), text.into())]);
    part.start(input, Millis(1)).unwrap();
    part.complete(
        text.into(),
        String::new(),
        Map::new(),
        Vec::new(),
        Millis(2),
    )
    .unwrap();
    message.parts = vec![Part::Tool(part)];
    message
}

pub fn output(message: &str, text: &str) -> ToolPart {
    let mut part = pending(message, "read");
    part.start(Map::new(), Millis(1)).unwrap();
    part.complete(
        text.into(),
        String::new(),
        Map::new(),
        Vec::new(),
        Millis(2),
    )
    .unwrap();
    part
}

fn pending(message: &str, tool: &str) -> ToolPart {
    ToolPart::pending(
        PartId::parse("prt_1").unwrap(),
        SessionId::parse("ses_1").unwrap(),
        MessageId::parse(message).unwrap(),
        "call_1",
        tool,
    )
}

pub fn file(message: &str, mime: &str, name: &str) -> Part {
    let part = json!({ "id": "prt_2", "sessionID": "ses_1", "messageID": message, "type": "file",
        "mime": mime, "filename": name, "url": "data:image/png;base64,AAAA" });
    serde_json::from_value(part).unwrap()
}
