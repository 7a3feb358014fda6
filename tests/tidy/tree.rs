//! Reads the tree that is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing written by hand.
const NOT_OURS: [&str; 8] = [
    ".git",
    "bindings",
    "dist",
    "gen",
    "generated",
    "node_modules",
    "target",
    "validators",
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
pub fn read(path: &str) -> String {
    match fs::read_to_string(root().join(path)) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err(error) => panic!("{path}: {error}"),
    }
}

pub fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Every manifest of the workspace, below the root.
pub fn manifests() -> Vec<String> {
    let members = entries("src-tauri/crates").into_iter();
    let crates = members.map(|name| format!("src-tauri/crates/{name}/Cargo.toml"));
    let others = [
        "Cargo.toml",
        "src-tauri/xtask/Cargo.toml",
        "tests/support/Cargo.toml",
    ];
    crates.chain(others.map(str::to_owned)).collect()
}

/// The names that a manifest depends on, each with its section.
pub fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.to_owned();
        } else if section.ends_with("dependencies]") {
            found.extend(
                line.split_once(" = ")
                    .map(|(name, _)| (section.clone(), name.to_owned())),
            );
        }
    }
    found
}

/// Who depends on whom, by name, as Cargo.lock has it.
pub fn lock_file() -> BTreeMap<String, BTreeSet<String>> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in read("Cargo.lock").split("[[package]]").skip(1) {
        let name = package.split('"').nth(1).unwrap();
        let list = package
            .split("dependencies = [")
            .nth(1)
            .and_then(|rest| rest.split(']').next());
        let names = list.unwrap_or_default().split('"').skip(1).step_by(2);
        let names = names
            .filter_map(|entry| entry.split(' ').next())
            .map(str::to_owned);
        graph.entry(name.to_owned()).or_default().extend(names);
    }
    graph
}

pub fn reachable<'a>(
    graph: &'a BTreeMap<String, BTreeSet<String>>,
    from: &'a str,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if reached.insert(name) {
            open.extend(graph.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    assert!(reached.len() > 1, "{from} is not in Cargo.lock");
    reached
}

/// Source files below some folders, by ending.
pub fn sources(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<_> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|e| endings.iter().any(|ending| e == *ending))
            {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "nothing to check in {folders:?}");
    found
}
