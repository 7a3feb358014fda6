//! Every stored shape can be read and rewritten without loss, and matches its JSON schema.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::fs;
use std::path::PathBuf;

use lathe_protocol::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn fixtures() -> Vec<(String, Value)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/protocol");
    let mut found: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (
                name,
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap(),
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn rewrite<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    // Through text, as in the store.
    let read: T = serde_json::from_str(&value.to_string()).unwrap();
    serde_json::to_value(&read).unwrap()
}

fn rewrite_as(kind: &str, value: &Value) -> Value {
    match kind {
        "part" => rewrite::<Part>(value),
        "message" => rewrite::<Message>(value),
        "messageError" | "apiError" => rewrite::<MessageError>(value),
        "session" => rewrite::<Session>(value),
        "project" => rewrite::<Project>(value),
        "todo" => rewrite::<Todo>(value),
        "permissionRequest" => rewrite::<PermissionRequest>(value),
        "questionRequest" => rewrite::<QuestionRequest>(value),
        "event" => rewrite::<Event>(value),
        "messageWithParts" => rewrite::<MessageWithParts>(value),
        other if other.ends_with("Part") => rewrite::<Part>(value),
        other if other.ends_with("Message") => rewrite::<Message>(value),
        other => panic!("no reader for {other}"),
    }
}

/// Writes all numbers as floats, because `3` and `3.0` mean the same.
fn normalize(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(items) => items.iter().map(normalize).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), normalize(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

#[test]
fn every_fixture_survives_a_rewrite() {
    let all = fixtures();
    assert!(all.len() > 70, "only {} fixtures found", all.len());
    for (name, value) in all {
        let (kind, case) = name.split_once('.').unwrap();
        let kind = if kind == "other" {
            case.split_once('-').unwrap().0
        } else {
            kind
        };
        assert_eq!(
            normalize(&rewrite_as(kind, &value)),
            normalize(&value),
            "{name}"
        );
    }
}

#[test]
fn every_fixture_matches_its_schema() {
    let schemas: Vec<_> = schema::all();
    for (name, value) in fixtures() {
        let (kind, _) = name.split_once('.').unwrap();
        if kind == "other" {
            continue;
        }
        let (_, schema) = schemas
            .iter()
            .find(|(schema, _)| *schema == kind)
            .expect(kind);
        let validator = jsonschema::validator_for(schema.as_value()).unwrap();
        let faults: Vec<_> = validator
            .iter_errors(&value)
            .map(|fault| fault.to_string())
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[test]
fn every_schema_has_a_fixture_and_rejects_a_wrong_shape() {
    let names: Vec<_> = fixtures().into_iter().map(|(name, _)| name).collect();
    let unions = ["part", "message", "toolState", "fileDiff"];
    let standalone = [
        "providerAuthError",
        "unknownError",
        "outputLengthError",
        "abortedError",
    ];
    for (schema, content) in schema::all() {
        let covered = names
            .iter()
            .any(|name| name.split('.').next() == Some(schema));
        assert!(
            covered || unions.contains(&schema) || standalone.contains(&schema),
            "{schema} has no fixture"
        );
        let validator = jsonschema::validator_for(content.as_value()).unwrap();
        assert!(
            !validator.is_valid(&serde_json::json!({ "type": "nonsense" })),
            "{schema}"
        );
    }
}

#[test]
fn a_part_of_an_unknown_type_is_kept() {
    for (name, value) in fixtures() {
        if name.starts_with("other.part") {
            let part: Part = serde_json::from_value(value).unwrap();
            assert!(matches!(part, Part::Unknown(_)), "{name}");
        }
    }
}

#[test]
fn each_kind_of_part_is_read_as_its_own_type() {
    for (name, value) in fixtures() {
        if name.contains("Part.") {
            let part: Part = serde_json::from_value(value).unwrap();
            assert!(!matches!(part, Part::Unknown(_)), "{name}");
        }
    }
}

#[test]
fn an_error_with_an_unknown_name_is_kept() {
    let (_, value) = fixtures()
        .into_iter()
        .find(|(name, _)| name == "other.assistantMessage-error")
        .unwrap();
    let Message::Assistant(message) = serde_json::from_value(value).unwrap() else {
        panic!("not an assistant message");
    };
    let error = message.error.unwrap();
    assert!(matches!(error, MessageError::Other(_)));
    assert_eq!(error.message(), "long");
}
