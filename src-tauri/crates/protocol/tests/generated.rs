//! The bindings, schemas, protobuf files and validators in the tree are what the types generate.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

// The generator is a program; the tests call its functions and not its `main`.
#[allow(dead_code)]
#[path = "../examples/gen.rs"]
mod generator;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_generated_folders_in_the_tree_are_what_the_types_generate() {
    for (folder, write) in generator::FOLDERS {
        let fresh = scratch("tree").join(folder);
        write(&fresh).unwrap();
        assert_same(&fresh, &Path::new(CRATE).join("../../..").join(folder));
    }
}

#[test]
fn every_type_with_a_binding_is_exported() {
    let fresh = scratch("all-bindings");
    generator::write_bindings(&fresh).unwrap();
    let bound: BTreeSet<_> = files(&fresh).into_keys().collect();
    let sources = files(&Path::new(CRATE).join("src"));
    let missing: Vec<_> = sources
        .values()
        .flat_map(|source| types_in(source))
        .filter(|name| !bound.contains(Path::new(&format!("{name}.ts"))))
        .collect();
    assert!(
        missing.is_empty(),
        "export these in the generator: {missing:?}"
    );
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("generated")
        .join(name)
}

#[track_caller]
fn assert_same(fresh: &Path, tree: &Path) {
    let (fresh, tree) = (files(fresh), files(tree));
    let names: BTreeSet<_> = fresh.keys().chain(tree.keys()).collect();
    let stale: Vec<_> = names
        .into_iter()
        .filter(|name| fresh.get(*name) != tree.get(*name))
        .collect();
    assert!(
        stale.is_empty(),
        "run `cargo xtask gen`; out of date: {stale:#?}"
    );
}

/// The text of every file below a folder, without the line endings that a checkout may change.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = PathBuf::from(entry.file_name());
        if path.is_dir() {
            found.extend(
                files(&path)
                    .into_iter()
                    .map(|(below, text)| (name.join(below), text)),
            );
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.insert(name, text.replace("\r\n", "\n"));
        }
    }
    found
}

/// The names of the public types that derive a binding.
fn types_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut derived = false;
    for line in source.lines().map(str::trim) {
        if let Some(derives) = line.strip_prefix("#[derive(") {
            derived = derives.split([',', ')', ' ']).any(|word| word == "TS");
        }
        let item = line
            .strip_prefix("pub struct ")
            .or_else(|| line.strip_prefix("pub enum "));
        if let Some(item) = item.filter(|_| derived) {
            let end = item
                .find(|c: char| !c.is_alphanumeric())
                .unwrap_or(item.len());
            // The pattern of a macro has `$Name` here, which gives an empty name.
            names.extend((end > 0).then(|| item[..end].to_owned()));
            derived = false;
        }
    }
    names
}
