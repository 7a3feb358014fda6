//! The person's config: found, read, substituted and merged.
//!
//! Later files win, key by key: OpenCode's own global file, ours, then the one named by
//! `LATHE_CONFIG` or on the command line. A file that cannot be read is reported and left
//! out. What a project's folder says is not read here: a project must be trusted first.

use std::path::{Path, PathBuf};

use lathe_provider::config::{ConfigProblem, ConfigText, Substitution};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    pub value: Value,
    pub problems: Vec<ConfigProblem>,
}

const NAMES: [&str; 2] = ["opencode", "lathe"];
const ENDINGS: [&str; 2] = ["json", "jsonc"];

impl Config {
    /// `named` comes from the command line or from `LATHE_CONFIG`.
    pub fn load(named: Option<&Path>) -> Self {
        let from_environment = std::env::var_os("LATHE_CONFIG").map(PathBuf::from);
        let named = named.map(Path::to_owned).or(from_environment);
        let mut config = Config {
            value: Value::Object(Map::new()),
            problems: Vec::new(),
        };
        for path in global_files() {
            if path.exists() {
                config.add(&path);
            }
        }
        if let Some(path) = named {
            config.add(&path);
        }
        config
    }

    fn add(&mut self, path: &Path) {
        match read(path) {
            Ok(value) => merge(&mut self.value, value),
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// In each of the two folders the name of its program counts most.
fn global_files() -> Vec<PathBuf> {
    let Some(base) = directories::BaseDirs::new() else {
        return Vec::new();
    };
    let config = base.config_dir();
    let mut files = Vec::new();
    for folder in NAMES {
        for name in NAMES {
            files
                .extend(ENDINGS.map(|ending| config.join(folder).join(format!("{name}.{ending}"))));
        }
    }
    files
}

fn read(path: &Path) -> Result<Value, ConfigProblem> {
    let problem = |message: String| ConfigProblem::new(path.display().to_string(), message);
    let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
    let mut value = ConfigText::parse(&text).map_err(|error| problem(error.to_string()))?;
    let env = |name: &str| std::env::var(name).ok();
    let folder = path.parent().unwrap_or(Path::new("."));
    let dirs = directories::BaseDirs::new();
    let home = dirs.as_ref().map(|dirs| dirs.home_dir());
    Substitution {
        env: &env,
        folder,
        home,
    }
    .apply(&mut value)?;
    Ok(value)
}

/// Objects are merged key by key; everything else is replaced.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_files_win_key_by_key() {
        let mut value =
            json!({ "model": "a/b", "provider": { "x": { "name": "X", "models": {} } } });
        merge(
            &mut value,
            json!({ "provider": { "x": { "name": "Y" } }, "theme": [1] }),
        );
        assert_eq!(
            value,
            json!({ "model": "a/b", "provider": { "x": { "name": "Y", "models": {} } }, "theme": [1] })
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_reported_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lathe.json");
        std::fs::write(&path, "{ \"model\": }").unwrap();
        let config = Config::load(Some(&path));
        let mine: Vec<_> = config
            .problems
            .iter()
            .filter(|problem| problem.path == path.display().to_string())
            .collect();
        assert_eq!(mine.len(), 1);
    }

    #[test]
    fn comments_and_substitutions_are_understood() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key.txt"), "secret\n").unwrap();
        let path = folder.path().join("lathe.jsonc");
        std::fs::write(&path, "{ // mine\n \"key\": \"{file:key.txt}\", }").unwrap();
        assert_eq!(read(&path), Ok(json!({ "key": "secret" })));
    }
}
