//! Agents and commands as Markdown files: front matter between two lines of dashes, then text.

use lathe_protocol::ipc::ConfigProblem;
use serde_json::{Map, Value};

use super::files::Origin;

#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub name: String,
    /// The path for messages.
    pub file: String,
    pub origin: Origin,
    pub front_matter: Map<String, Value>,
    pub body: String,
    /// The whole file up to the body, to find lines in it.
    pub head: String,
}

impl Definition {
    /// A file with invalid front matter is not used at all: the lost settings might have been
    /// restrictions.
    pub fn parse(
        name: String,
        file: String,
        origin: Origin,
        text: &str,
    ) -> Result<Self, ConfigProblem> {
        let (front_matter, body) = split(text);
        let front_matter = match front_matter.map(str::trim) {
            None | Some("") => Map::new(),
            Some(front_matter) => match serde_saphyr::from_str::<Value>(front_matter) {
                Ok(Value::Object(front_matter)) => front_matter,
                Ok(Value::Null) => Map::new(),
                Ok(_) => return Err(problem(file, "the settings at the top are not a table")),
                Err(error) => {
                    let error = error.to_string();
                    let line = error.lines().next().unwrap_or_default();
                    return Err(problem(file, &format!("the settings at the top: {line}")));
                }
            },
        };
        Ok(Definition {
            name,
            file,
            origin,
            front_matter,
            body: body.trim().to_owned(),
            head: text[..text.len() - body.len()].to_owned(),
        })
    }
}

fn problem(file: String, message: &str) -> ConfigProblem {
    ConfigProblem {
        file,
        line: None,
        key: String::new(),
        message: message.to_owned(),
    }
}

fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---").and_then(after_line_end) else {
        return (None, text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&rest[..at]), &rest[at + line.len()..]);
        }
        at += line.len();
    }
    (None, text)
}

fn after_line_end(text: &str) -> Option<&str> {
    text.strip_prefix("\r\n")
        .or_else(|| text.strip_prefix('\n'))
}
