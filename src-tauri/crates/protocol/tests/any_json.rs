//! Whatever a stored file contains, it is read or refused, and what was read survives a rewrite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::PathBuf;

use lathe_fuzz::fuzz;
use lathe_protocol::{
    Event, Message, MessageWithParts, Part, PermissionRequest, Project, QuestionRequest, Session,
    Todo,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn fixtures() -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/protocol");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let read = |file| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    files.into_iter().map(read).collect()
}

/// What takes the place of a value: of another type, empty, huge, or a path out of the store.
fn other_value() -> impl Strategy<Value = Value> {
    let fixed = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!(""),
        json!("../../x"),
        json!("ses_"),
        json!("\u{0}\u{202e}"),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!({ "type": "text" }),
        json!({ "status": "running" }),
    ];
    prop_oneof![
        4 => prop::sample::select(fixed),
        1 => any::<String>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ]
}

#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    Remove,
    Add(String, Value),
}

fn change() -> impl Strategy<Value = Change> {
    let key = prop_oneof!["[a-zA-Z]{0,8}", Just("type".to_owned()), any::<String>()];
    prop_oneof![
        3 => other_value().prop_map(Change::Replace),
        1 => Just(Change::Remove),
        1 => (key, other_value()).prop_map(|(key, value)| Change::Add(key, value)),
    ]
}

/// Goes to a random place of a value and changes it.
fn damage(value: &mut Value, way: &[prop::sample::Index], change: Change) {
    let is_last = way.len() <= 1;
    let (Some(first), true) = (way.first(), value.is_object() || value.is_array()) else {
        if let Change::Replace(other) = change {
            *value = other;
        }
        return;
    };
    match value {
        Value::Object(map) => {
            if let (true, Change::Add(key, other)) = (is_last, &change) {
                map.insert(key.clone(), other.clone());
                return;
            }
            let keys: Vec<String> = map.keys().cloned().collect();
            if keys.is_empty() {
                return;
            }
            let key = first.get(&keys);
            match (is_last, &change) {
                (true, Change::Remove) => drop(map.shift_remove(key)),
                _ => damage(map.get_mut(key).unwrap(), &way[1..], change),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = first.index(items.len());
            damage(&mut items[at], &way[1..], change);
        }
        _ => {}
    }
}

fn read_and_rewrite<T: DeserializeOwned + Serialize>(text: &str) {
    let Ok(read) = serde_json::from_str::<T>(text) else {
        return;
    };
    let once = serde_json::to_string(&read).unwrap();
    let again: T = serde_json::from_str(&once).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), once);
}

fn read_as_everything(text: &str) {
    read_and_rewrite::<Part>(text);
    read_and_rewrite::<Message>(text);
    read_and_rewrite::<MessageWithParts>(text);
    read_and_rewrite::<Session>(text);
    read_and_rewrite::<Project>(text);
    read_and_rewrite::<Todo>(text);
    read_and_rewrite::<PermissionRequest>(text);
    read_and_rewrite::<QuestionRequest>(text);
    read_and_rewrite::<Event>(text);
}

#[test]
fn a_stored_value_with_any_changes_is_read_or_refused_and_survives_a_rewrite() {
    let way = prop::collection::vec(any::<prop::sample::Index>(), 0..5);
    let changes = prop::collection::vec((way, change()), 1..5);
    fuzz(
        400,
        (prop::sample::select(fixtures()), changes),
        |(mut value, changes)| {
            for (way, change) in changes {
                damage(&mut value, &way, change);
            }
            read_as_everything(&value.to_string());
        },
    );
}

#[test]
fn a_stored_text_with_any_damage_is_read_or_refused() {
    let pieces = [
        "", "{", "}", "[", "\"", ",", "null", "1e999", "\\ud800", "\u{0}",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    let one = (any::<prop::sample::Index>(), 0_usize..30, piece);
    let damage = prop::collection::vec(one, 1..6);
    fuzz(
        400,
        (prop::sample::select(fixtures()), damage),
        |(value, damage)| {
            let mut text: Vec<char> = value.to_string().chars().collect();
            for (at, length, piece) in damage {
                let from = at.index(text.len() + 1);
                let to = (from + length).min(text.len());
                text.splice(from..to, piece.chars());
            }
            read_as_everything(&text.into_iter().collect::<String>());
        },
    );
}
