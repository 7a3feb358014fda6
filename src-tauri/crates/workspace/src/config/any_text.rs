//! Whatever a config file contains, it is read or reported.
//!
//! A text that failed is stored beside this file and tried first from then on.

use std::collections::HashMap;
use std::path::PathBuf;

use lathe_fuzz::fuzz;
use lathe_provider::config::parse_jsonc;
use proptest::prelude::*;
use serde_json::Value;

use super::files::{ConfigFile, Origin};
use super::{
    AgentBlock, CommandBlock, Definition, Layer, McpServer, TableReader, add_lines, unknown_keys,
};

const PIECES: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\n",
    " ",
    "//",
    "/*",
    "*/",
    "\"",
    "\\",
    "null",
    "true",
    "-1e999",
    "\"agent\"",
    "\"build\"",
    "\"mcp\"",
    "\"permission\"",
    "\"bash\"",
    "\"*\"",
    "\"ask\"",
    "\"model\"",
    "\"a/b\"",
    "\"command\"",
    "\"template\"",
    "\"tools\"",
    "\"steps\"",
    "\"color\"",
    "\"ü\\u0000\"",
    "---",
    "model: [",
    "&a *a",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60);
    pieces.prop_map(|pieces| pieces.concat())
}

/// Any JSON whose keys are those of a config.
fn table() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(&["ask", "a/b", "*", "#12", "", "ü", "local"][..])
            .prop_map(Value::from),
    ];
    let keys = [
        "agent",
        "command",
        "mcp",
        "permission",
        "tools",
        "bash",
        "template",
        "model",
        "steps",
        "default_agent",
        "shell",
        "share",
        "type",
        "instructions",
        "compaction",
        "a.b",
        "",
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(keys.to_vec()), inner), 0..5).prop_map(
                |entries| {
                    Value::Object(
                        entries
                            .into_iter()
                            .map(|(key, value)| (key.to_owned(), value))
                            .collect(),
                    )
                }
            ),
        ]
    })
}

fn read(text: String) {
    let Ok(Value::Object(value)) = parse_jsonc(&text) else {
        return;
    };
    let file = ConfigFile {
        path: PathBuf::from("/lathe.json"),
        display_path: "lathe.json".to_owned(),
        origin: Origin::Person,
        value,
        text: text.clone(),
    };
    let mut problems = unknown_keys(&file);
    let layer = Layer::read(&file, &mut problems);
    McpServer::read_all(&layer.mcp, |_| file.display_path.clone(), &mut problems);
    add_lines(
        &mut problems,
        &HashMap::from([(file.display_path.clone(), text)]),
    );
    let lines = u32::try_from(file.text.lines().count()).unwrap();
    for problem in problems {
        assert!(
            problem.line.is_none_or(|line| (1..=lines).contains(&line)),
            "{problem}"
        );
    }
}

#[test]
fn a_config_of_any_pieces_is_read_or_reported() {
    fuzz(256, text(), read);
}

#[test]
fn a_config_of_any_values_is_read_or_reported() {
    fuzz(256, table(), |value| {
        read(serde_json::to_string_pretty(&value).unwrap());
    });
}

#[test]
fn an_agent_or_command_file_of_any_pieces_is_read_or_reported() {
    fuzz(256, (text(), text()), |(head, body)| {
        let text = format!("---\n{head}\n---\n{body}");
        let name = || "a".to_owned();
        if let Ok(file) = Definition::parse(name(), name(), Origin::Project, &text) {
            let mut problems = Vec::new();
            let mut reader = TableReader::new("a", "", &file.front_matter, &mut problems);
            AgentBlock::read(&mut reader);
            CommandBlock::read(&mut reader, Some(&file.body));
        }
    });
}
