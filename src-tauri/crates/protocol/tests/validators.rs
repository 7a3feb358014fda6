//! The generated validators decide as the schemas do.
//!
//! The cases of `tests/fixtures/validation.json` are checked in TypeScript, too.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::fs;
use std::path::PathBuf;

use lathe_protocol::{schema, validators};
use serde_json::{Value, json};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures")
}

fn read(path: PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_schema_has_a_validator() {
    let schemas: Vec<_> = schema::all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(validators::names().collect::<Vec<_>>(), schemas);
}

#[test]
fn a_problem_is_named_with_its_place() {
    for case in read(fixtures().join("validation.json")).as_array().unwrap() {
        let (name, value) = (case[0].as_str().unwrap(), &case[1]);
        let problem = validators::validate(name, value).err();
        let problem = problem.map(|problem| problem.to_string());
        assert_eq!(json!(problem), case[2], "{name} {value}");
    }
    let unknown = validators::validate("nothing", &json!({})).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no schema nothing");
}

/// The value itself, and each value that comes from it by one change anywhere.
fn changed(value: &Value) -> Vec<Value> {
    let mut all: Vec<_> = [
        json!(null),
        json!(true),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
    ]
    .into_iter()
    .collect();
    match value {
        Value::Object(object) => {
            for (name, one) in object {
                let mut without = object.clone();
                without.remove(name);
                all.push(Value::Object(without));
                all.extend(changed(one).into_iter().map(|one| {
                    let mut with = object.clone();
                    with.insert(name.clone(), one);
                    Value::Object(with)
                }));
            }
            let mut more = object.clone();
            more.insert("unknown".into(), json!(1));
            all.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (index, one) in items.iter().enumerate() {
                all.extend(changed(one).into_iter().map(|one| {
                    let mut with = items.clone();
                    with[index] = one;
                    Value::Array(with)
                }));
            }
        }
        _ => {}
    }
    all.push(value.clone());
    all
}

#[test]
fn a_validator_decides_as_its_schema_does_for_every_change_of_every_fixture() {
    let schemas = schema::all();
    let mut compared = 0;
    let mut refused = 0;
    for entry in fs::read_dir(fixtures().join("protocol")).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.file_name().unwrap().to_str().unwrap();
        let kind = kind.split('.').next().unwrap().to_owned();
        let mut names = vec![kind.as_str()];
        if kind.ends_with("Part") || kind == "other" {
            names.push("part");
        }
        if kind.ends_with("Message") {
            names.push("message");
        }
        let values = changed(&read(path));
        for (name, schema) in schemas.iter().filter(|(name, _)| names.contains(name)) {
            let oracle = jsonschema::validator_for(schema.as_value()).unwrap();
            for value in &values {
                let own = validators::validate(name, value);
                assert_eq!(
                    own.is_ok(),
                    oracle.is_valid(value),
                    "{name}: {value} {own:?}"
                );
                compared += 1;
                refused += usize::from(own.is_err());
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
    assert!(refused > 3_000, "{refused} of {compared}");
}
