//! Reads one table of a config file key by key. A wrong value is reported and left out.

use lathe_protocol::ModelRef;
use lathe_protocol::ipc::ConfigProblem;
use lathe_provider::catalog::parse_model_ref;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub struct TableReader<'a> {
    file: &'a str,
    path: String,
    table: &'a Map<String, Value>,
    problems: &'a mut Vec<ConfigProblem>,
}

impl<'a> TableReader<'a> {
    pub fn new(
        file: &'a str,
        path: &str,
        table: &'a Map<String, Value>,
        problems: &'a mut Vec<ConfigProblem>,
    ) -> Self {
        TableReader {
            file,
            path: path.to_owned(),
            table,
            problems,
        }
    }

    pub fn value(&self, key: &str) -> Option<Value> {
        self.table
            .get(key)
            .filter(|value| !value.is_null())
            .cloned()
    }

    pub fn get<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.value(key)?;
        match serde_path_to_error::deserialize(value) {
            Ok(value) => Some(value),
            Err(error) => {
                let inner = error.path().to_string();
                let place = match inner.as_str() {
                    "." => key.to_owned(),
                    inner => format!("{key}.{inner}"),
                };
                self.problem(&place, error.into_inner().to_string());
                None
            }
        }
    }

    pub fn model(&mut self, key: &str) -> Option<ModelRef> {
        let text: String = self.get(key)?;
        let model = parse_model_ref(&text);
        if model.is_none() {
            self.problem(key, format!("expected \"provider/model\", found {text:?}"));
        }
        model
    }

    /// A colour as `#rrggbb`. Anything else is refused because the value ends up in CSS.
    pub fn color(&mut self, key: &str) -> Option<String> {
        let text: String = self.get(key)?;
        let digits = text.strip_prefix('#').unwrap_or_default();
        let is_color = digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit());
        if !is_color {
            self.problem(
                key,
                format!("expected a colour such as \"#3a7bd5\", found {text:?}"),
            );
        }
        is_color.then_some(text)
    }

    /// Calls `read` for every entry of a table of tables.
    pub fn each(&mut self, key: &str, mut read: impl FnMut(&str, TableReader<'_>)) {
        let Some(table) = self.get::<Map<String, Value>>(key) else {
            return;
        };
        for (name, entry) in &table {
            let path = self.below(&format!("{key}.{name}"));
            match entry {
                Value::Object(entry) => {
                    read(
                        name,
                        TableReader::new(self.file, &path, entry, self.problems),
                    );
                }
                _ => self.problem(&format!("{key}.{name}"), "expected a table of settings"),
            }
        }
    }

    pub fn problem(&mut self, key: &str, message: impl Into<String>) {
        let problem = ConfigProblem {
            file: self.file.to_owned(),
            line: None,
            key: self.below(key),
            message: message.into(),
        };
        self.problems.push(problem);
    }

    fn below(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }
}
