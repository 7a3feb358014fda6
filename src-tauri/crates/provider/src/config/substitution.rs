//! Replaces `{env:NAME}` and `{file:path}` in the strings of a config.
//!
//! Applied to each file before merging, because a relative path starts at the folder of the
//! config that contains it. Never applied for a project that is not trusted.

use std::path::{Path, PathBuf};

use lathe_files::ReadError;
use serde_json::Value;

use super::ConfigProblem;

/// The sources of the values.
pub struct Substitution<'a> {
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of the config file.
    pub folder: &'a Path,
    pub home: Option<&'a Path>,
}

/// Keys and prompts are small; a larger file is a mistake.
const MAX_FILE_SIZE: u64 = 1024 * 1024;

impl Substitution<'_> {
    /// An unset variable becomes an empty string.
    pub fn apply(&self, config: &mut Value) -> Result<(), ConfigProblem> {
        self.apply_at("", config)
    }

    fn apply_at(&self, path: &str, value: &mut Value) -> Result<(), ConfigProblem> {
        let below = |key: &str| match path {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        match value {
            Value::String(text) => {
                if let Some(expanded) = self.expand(path, text)? {
                    *text = expanded;
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.apply_at(&below(&index.to_string()), item)?;
                }
            }
            Value::Object(map) => {
                for (key, item) in map.iter_mut() {
                    self.apply_at(&below(key), item)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    /// Inserted values are not expanded again, because a key may contain braces.
    fn expand(&self, path: &str, text: &str) -> Result<Option<String>, ConfigProblem> {
        let mut expanded = String::new();
        let mut rest = text;
        let mut changed = false;
        while let Some((before, reference, after)) = next_reference(rest) {
            changed = true;
            expanded.push_str(before);
            match reference {
                Reference::Env(name) => expanded.push_str(&(self.env)(name).unwrap_or_default()),
                Reference::File(name) => {
                    let content = self.read(name).map_err(|error| {
                        ConfigProblem::new(path, format!("cannot read {name}: {error}"))
                    })?;
                    expanded.push_str(content.trim());
                }
            }
            rest = after;
        }
        expanded.push_str(rest);
        Ok(changed.then_some(expanded))
    }

    fn read(&self, name: &str) -> Result<String, ReadError> {
        lathe_files::read_text(&self.resolve(name), MAX_FILE_SIZE)
    }

    fn resolve(&self, name: &str) -> PathBuf {
        match (name.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.folder.join(name),
        }
    }
}

enum Reference<'a> {
    Env(&'a str),
    File(&'a str),
}

fn next_reference(text: &str) -> Option<(&str, Reference<'_>, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find('{') {
        let open = from + found;
        let inner = &text[open + 1..];
        if let Some(close) = inner.find('}') {
            let reference = match inner[..close].split_once(':') {
                Some(("env", name)) => Some(Reference::Env(name.trim())),
                Some(("file", name)) => Some(Reference::File(name.trim())),
                _ => None,
            };
            if let Some(reference) = reference {
                return Some((&text[..open], reference, &inner[close + 1..]));
            }
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use serde_json::json;

    fn expand(folder: &Path, mut value: Value) -> Result<Value, ConfigProblem> {
        let env = |name: &str| (name == "KEY").then(|| "sk-{env:KEY}".to_owned());
        let substitution = Substitution {
            env: &env,
            folder,
            home: Some(folder),
        };
        substitution.apply(&mut value)?;
        Ok(value)
    }

    #[test]
    fn strings_are_expanded_once_from_environment_and_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("key.txt"), "from a file\n").unwrap();
        let config = json!({
            "a": "Bearer {env:KEY}!",
            "b": ["{file:key.txt}", "{file:~/key.txt} {env:UNSET}|"],
            "c": "{ not:a:reference } {env:KEY",
        });
        assert_eq!(
            expand(folder.path(), config).unwrap(),
            json!({
                "a": "Bearer sk-{env:KEY}!",
                "b": ["from a file", "from a file |"],
                "c": "{ not:a:reference } {env:KEY",
            })
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_reported_and_never_read() {
        let folder = tempfile::tempdir().unwrap();
        let problem = expand(folder.path(), json!({"theme": "{file:/dev/zero}"})).unwrap_err();
        let why = "cannot read /dev/zero: it is not a regular file";
        assert_eq!(
            (problem.path.as_str(), problem.message.as_str()),
            ("theme", why)
        );
    }

    #[test]
    fn a_missing_file_is_reported_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let config = json!({"provider": {"x": {"options": {"apiKey": "{file:none}"}}}});
        let problem = expand(folder.path(), config).unwrap_err();
        assert_eq!(problem.path, "provider.x.options.apiKey");
        assert!(
            problem.message.starts_with("cannot read none: "),
            "{problem}"
        );
    }
}
