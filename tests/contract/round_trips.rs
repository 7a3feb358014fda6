//! Every stored fixture survives the way to protobuf and back.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_contract::{message, to_json, to_protobuf};
use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};

/// The message that a fixture of this name is, or none for records that the contract does not have.
fn message_of(file: &str) -> Option<&'static str> {
    let name = file.strip_prefix("other.").unwrap_or(file);
    let kind = name.split(['.', '-']).next().unwrap();
    match kind {
        "part" => Some("Part"),
        "userMessage" | "assistantMessage" => Some("Message"),
        "apiError" | "messageError" => Some("MessageError"),
        "messageWithParts" => Some("MessageWithParts"),
        "event" => Some("Event"),
        "permissionRequest" | "project" | "questionRequest" | "session" | "todo" => None,
        part if part.ends_with("Part") => Some("Part"),
        other => panic!("{other}"),
    }
}

fn there_and_back(name: &str, json: &Value) -> Value {
    fn convert<M: Message + Default>(name: &str, json: &Value) -> Value {
        let message: M = to_protobuf(name, json).unwrap();
        let bytes = message.encode_to_vec();
        to_json(name, &M::decode(bytes.as_slice()).unwrap()).unwrap()
    }
    match name {
        "Part" => convert::<message::Part>(name, json),
        "Message" => convert::<message::Message>(name, json),
        "MessageError" => convert::<message::MessageError>(name, json),
        "MessageWithParts" => convert::<message::MessageWithParts>(name, json),
        "Event" => convert::<message::Event>(name, json),
        other => panic!("{other}"),
    }
}

/// `1.0` and `1` are the same number.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() < 9e15 => json!(double as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(object) => {
            let pairs = object.iter().map(|(name, one)| (name.clone(), normal(one)));
            Value::Object(pairs.collect())
        }
        _ => value.clone(),
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_fixture_comes_back_as_it_was() {
    let mut converted = 0;
    for entry in fs::read_dir(fixtures().join("protocol")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap();
        let Some(name) = message_of(file) else {
            continue;
        };
        let json = read(&path);
        assert_eq!(
            normal(&there_and_back(name, &json)),
            normal(&json),
            "{file}"
        );
        converted += 1;
    }
    assert!(converted >= 70, "{converted} fixtures");
}

#[test]
fn every_stored_message_and_part_comes_back_as_it_was() {
    let mut converted = 0;
    let mut folders = vec![fixtures().join("store")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let file = path.file_name().unwrap().to_str().unwrap();
            // Made to be damaged.
            if file.contains("TRUNCATED") {
                continue;
            }
            let name = match file.split('_').next().unwrap() {
                "msg" => "Message",
                "prt" => "Part",
                _ => continue,
            };
            let json = read(&path);
            assert_eq!(
                normal(&there_and_back(name, &json)),
                normal(&json),
                "{file}"
            );
            converted += 1;
        }
    }
    assert!(converted >= 30, "{converted} records");
}

#[test]
fn deep_json_and_large_numbers_come_back_as_they_were() {
    let mut deep = json!("bottom");
    for level in 0..60 {
        deep = if level % 2 == 0 {
            json!([deep])
        } else {
            json!({ "in": deep })
        };
    }
    let json = json!({
        "type": "tool", "id": "prt_1", "tool": "t", "callID": "c",
        "state": { "status": "completed", "input": { "deep": deep }, "metadata": {},
                   "output": "", "title": "", "time": { "start": u64::MAX, "end": -1.5 } },
        "metadata": { "large": i64::MIN, "small": 1e-300 },
    });
    assert_eq!(there_and_back("Part", &json), json);
}

#[test]
fn known_parts_are_in_their_fields() {
    let json = json!({
        "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text",
        "text": "hi", "synthetic": false, "metadata": { "a": [1, null, { "b": true }] },
    });
    let part: message::Part = to_protobuf("Part", &json).unwrap();
    let Some(message::part::Part::Text(text)) = part.part else {
        panic!("not a text")
    };
    assert_eq!(text.session_id, "ses_1");
    assert_eq!(text.synthetic, Some(false));
    assert_eq!(text.ignored, None);
    assert_eq!(text.extra, None);
    assert_eq!(text.absent, Vec::<String>::new());
}

fn some_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("text")),
        Just(json!("tool")),
        Just(json!("completed")),
    ];
    let key = prop_oneof![
        Just("id".to_owned()),
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("state".to_owned()),
        Just("status".to_owned()),
        Just("input".to_owned()),
        Just("time".to_owned()),
        Just("start".to_owned()),
        Just("metadata".to_owned()),
        Just("attachments".to_owned()),
        Just("extra".to_owned()),
        Just("absent".to_owned()),
        ".{0,4}",
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_object_comes_back_as_it_was(mut json in some_json(), kind in "text|tool|file|odd") {
        if let Some(object) = json.as_object_mut() {
            object.insert("type".into(), kind.into());
            prop_assert_eq!(normal(&there_and_back("Part", &json)), normal(&json));
        }
    }
}
