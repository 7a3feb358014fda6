//! `{env:NAME}` and `{file:path}` in the texts of a config.
//!
//! Done per file, before merging: a relative path is meant from the folder of the config
//! that names it. Never done for a project that is not trusted.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::ConfigProblem;

/// Where the values come from.
pub struct Substitution<'a> {
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of the config file.
    pub folder: &'a Path,
    pub home: Option<&'a Path>,
}

/// A key or a prompt is small; more is a mistake.
const FILE_CAP: u64 = 1024 * 1024;

impl Substitution<'_> {
    /// An unset variable becomes empty text, as a missing key would.
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
                if let Some(filled) = self.fill(path, text)? {
                    *text = filled;
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

    /// What was put in is not looked at again: a key may hold braces.
    fn fill(&self, path: &str, text: &str) -> Result<Option<String>, ConfigProblem> {
        let mut filled = String::new();
        let mut rest = text;
        let mut changed = false;
        while let Some((before, reference, after)) = next_reference(rest) {
            changed = true;
            filled.push_str(before);
            match reference {
                Reference::Env(name) => filled.push_str(&(self.env)(name).unwrap_or_default()),
                Reference::File(name) => {
                    let content = self.read(name).map_err(|error| {
                        ConfigProblem::new(path, format!("cannot read {name}: {error}"))
                    })?;
                    filled.push_str(content.trim());
                }
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(changed.then_some(filled))
    }

    fn read(&self, name: &str) -> io::Result<String> {
        let path = self.resolve(name);
        if fs::metadata(&path)?.len() > FILE_CAP {
            return Err(io::Error::other("larger than 1 MB"));
        }
        fs::read_to_string(path)
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
    use super::*;
    use serde_json::json;

    fn fill(folder: &Path, mut value: Value) -> Result<Value, ConfigProblem> {
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
    fn texts_take_their_values_from_environment_and_files_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("key.txt"), "from a file\n").unwrap();
        let config = json!({
            "a": "Bearer {env:KEY}!",
            "b": ["{file:key.txt}", "{file:~/key.txt} {env:UNSET}|"],
            "c": "{ not:a:reference } {env:KEY",
        });
        assert_eq!(
            fill(folder.path(), config).unwrap(),
            json!({
                "a": "Bearer sk-{env:KEY}!",
                "b": ["from a file", "from a file |"],
                "c": "{ not:a:reference } {env:KEY",
            })
        );
    }

    #[test]
    fn a_missing_file_is_named_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let config = json!({"provider": {"x": {"options": {"apiKey": "{file:none}"}}}});
        let problem = fill(folder.path(), config).unwrap_err();
        assert_eq!(problem.path, "provider.x.options.apiKey");
        assert!(
            problem.message.starts_with("cannot read none: "),
            "{problem}"
        );
    }
}
