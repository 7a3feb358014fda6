//! Mistakes that only show when all files are read: keys that nothing reads, and names of agents and
//! programs that do not exist.

use std::collections::HashMap;
use std::path::Path;

use lathe_protocol::ipc::ConfigProblem;

use super::files::ConfigFile;
use super::lines::{line_in_front_matter, line_of};
use super::{KEYS, MODEL_KEYS};

/// Keys of a file that has our name and that nothing reads. Other programs share files with other
/// names.
pub fn unknown_keys(file: &ConfigFile) -> Vec<ConfigProblem> {
    let name = file.path.file_stem();
    if name.is_none_or(|name| name != "lathe") {
        return Vec::new();
    }
    let known = |key: &str| KEYS.contains(&key) || MODEL_KEYS.contains(&key);
    let keys = file.value.keys().filter(|key| !known(key));
    let problem = |key: &String| ConfigProblem {
        file: file.display_path.clone(),
        line: None,
        key: key.clone(),
        message: "there is no such setting".to_owned(),
    };
    keys.map(problem).collect()
}

/// Whether a shell that a config names is there: a path, or a program that is found by its name.
pub fn has_program(name: &str) -> bool {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let suffixes = if cfg!(windows) {
        &["", ".exe"][..]
    } else {
        &[""][..]
    };
    std::env::split_paths(&folders).any(|folder| {
        suffixes
            .iter()
            .any(|suffix| folder.join(format!("{name}{suffix}")).is_file())
    })
}

/// Adds the lines that can be found, by the texts of the files.
pub fn add_lines(problems: &mut [ConfigProblem], texts: &HashMap<String, String>) {
    for problem in problems {
        let Some(text) = texts.get(&problem.file) else {
            continue;
        };
        if problem.line.is_none() && !problem.key.is_empty() {
            problem.line = match problem.file.ends_with(".md") {
                true => line_in_front_matter(text, &problem.key),
                false => line_of(text, &problem.key),
            };
        }
    }
}
