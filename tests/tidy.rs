//! The rules of the house that a machine can check, on the tree as it is.
//!
//! That the generated files are current is checked next to their generator, in
//! `src-tauri/crates/protocol/tests/generated.rs`.

// A check may end at the first surprise.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What each core crate may know of the others, and what its tests may use on top.
const KNOWLEDGE: [(&str, &[&str], &[&str]); 15] = [
    ("protocol", &[], &[]),
    ("mcp", &[], &[]),
    ("policy", &["lathe-protocol"], &["lathe-workspace"]),
    ("provider", &["lathe-protocol"], &[]),
    ("render", &["lathe-protocol"], &[]),
    ("sandbox", &[], &[]),
    ("snapshot", &["lathe-protocol"], &[]),
    ("store", &["lathe-protocol"], &[]),
    ("tools", &["lathe-protocol"], &[]),
    ("records", &["lathe-protocol", "lathe-store"], &[]),
    (
        "search",
        &["lathe-protocol", "lathe-records", "lathe-store"],
        &[],
    ),
    (
        "workspace",
        &[
            "lathe-mcp",
            "lathe-policy",
            "lathe-protocol",
            "lathe-provider",
            "lathe-records",
            "lathe-store",
            "lathe-tools",
        ],
        &[],
    ),
    (
        "review",
        &[
            "lathe-protocol",
            "lathe-records",
            "lathe-snapshot",
            "lathe-store",
        ],
        &[],
    ),
    (
        "session",
        &[
            "lathe-policy",
            "lathe-protocol",
            "lathe-provider",
            "lathe-records",
            "lathe-review",
            "lathe-search",
            "lathe-snapshot",
            "lathe-store",
            "lathe-tools",
            "lathe-workspace",
        ],
        &["lathe-test-support"],
    ),
    (
        "headless",
        &[
            "lathe-protocol",
            "lathe-provider",
            "lathe-render",
            "lathe-session",
            "lathe-store",
        ],
        &["lathe-test-support"],
    ),
];

/// Longer than this and a file is split.
const MOST_LINES: usize = 500;

/// Folders that hold nothing written by hand.
const NOT_OURS: [&str; 6] = [".git", "bindings", "dist", "gen", "node_modules", "target"];

#[test]
fn a_core_crate_knows_only_what_lies_below_it() {
    for (name, allowed, in_tests) in KNOWLEDGE {
        let manifest = read(&format!("src-tauri/crates/{name}/Cargo.toml"));
        for (section, dependency) in dependencies(&manifest) {
            let tests_only = section.contains("dev-dependencies");
            let known = allowed.contains(&dependency.as_str())
                || tests_only && in_tests.contains(&dependency.as_str());
            assert!(
                !dependency.starts_with("lathe") || known,
                "{name} must not know {dependency}"
            );
        }
    }
}

#[test]
fn every_core_crate_has_a_place_in_the_order() {
    let crates: BTreeSet<_> = entries("src-tauri/crates").into_iter().collect();
    assert_eq!(
        crates,
        KNOWLEDGE
            .iter()
            .map(|(name, ..)| (*name).to_owned())
            .collect()
    );
}

#[test]
fn no_core_crate_reaches_tauri_even_through_others() {
    let graph = lock_file();
    for (name, ..) in KNOWLEDGE {
        let manifest = read(&format!("src-tauri/crates/{name}/Cargo.toml"));
        let package = manifest
            .split("name = \"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let reached = reachable(&graph, package.unwrap());
        for window in ["tauri", "wry", "tao", "webkit2gtk"] {
            assert!(!reached.contains(window), "{name} reaches {window}");
        }
    }
}

#[test]
fn no_cargo_feature_stands_between_our_own_crates() {
    for path in manifests() {
        for line in read(&path)
            .lines()
            .filter(|line| line.starts_with("lathe-"))
        {
            assert!(!line.contains("features"), "{path}: {line}");
        }
    }
}

#[test]
fn every_package_follows_the_workspace_lints() {
    for path in manifests() {
        assert!(
            read(&path).contains("[lints]\nworkspace = true\n"),
            "{path}"
        );
    }
}

#[test]
fn only_the_host_folder_knows_the_shells_javascript() {
    for path in sources(&["ui/src"], &["ts", "tsx"]) {
        let text = fs::read_to_string(&path).unwrap();
        // The test of all imports names it in its table.
        let in_host = path.starts_with(root().join("ui/src/host"))
            || path.ends_with("testing/imports.test.ts");
        assert!(
            in_host || !text.contains("@tauri-apps"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn no_source_file_is_too_long() {
    let folders = ["src-tauri", "tests", "ui/src"];
    let long: Vec<_> = sources(&folders, &["rs", "ts", "tsx", "css"])
        .into_iter()
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .collect();
    assert!(long.is_empty(), "split these: {long:#?}");
}

#[test]
fn the_page_may_run_only_its_own_scripts_and_reach_no_host() {
    let config: Value = serde_json::from_str(&read("tauri.conf.json")).unwrap();
    let policy = &config["app"]["security"]["csp"];
    let directives: Vec<(String, String)> = match policy {
        Value::String(text) => text
            .split(';')
            .filter_map(|directive| directive.trim().split_once(' '))
            .map(|(name, sources)| (name.to_owned(), sources.to_owned()))
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, sources)| {
                (
                    name.clone(),
                    sources.to_string().replace(['"', '[', ']', ','], " "),
                )
            })
            .collect(),
        other => panic!("there is no content security policy: {other}"),
    };
    assert!(
        directives.iter().any(|(name, _)| name == "default-src"),
        "no default-src"
    );
    for (name, sources) in directives {
        for source in sources.split_whitespace() {
            // Tauri's own channel and schemes have such names; they never leave the process.
            let remote = source.contains("//") && !source.ends_with(".localhost");
            assert!(
                !remote && source != "*" && source != "https:",
                "{name} reaches {source}"
            );
            let loose = ["'unsafe-inline'", "'unsafe-eval'"].contains(&source);
            assert!(
                !loose || name.starts_with("style-src"),
                "{name} allows {source}"
            );
        }
    }
}

#[test]
fn the_page_itself_has_no_inline_script_or_style() {
    let page = read("ui/index.html").to_lowercase();
    assert!(
        !page.contains("<style") && !page.contains(" style="),
        "an inline style"
    );
    assert!(
        !page.contains(" onload=") && !page.contains(" onclick="),
        "an inline handler"
    );
    for tag in page.split("<script").skip(1) {
        let (attributes, rest) = tag.split_once('>').unwrap();
        assert!(attributes.contains("src="), "an inline script");
        assert!(
            rest.trim_start().starts_with("</script>"),
            "a script with a body"
        );
    }
}

#[test]
fn the_documents_are_there_and_their_links_lead_somewhere() {
    for name in documents() {
        let text = read(&name);
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        assert!(text.len() > 200, "{name} says nothing");
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', '#', ' ']).next())
        {
            let outside = link.is_empty() || link.contains("://") || link.starts_with("mailto:");
            assert!(
                outside || folder.join(link).exists(),
                "{name} links to {link}"
            );
        }
        for place in ["/home/", "/root/", "/Users/", "/work/"] {
            assert!(
                !text.contains(place),
                "{name} names a path of one machine: {place}"
            );
        }
    }
    assert!(read("LICENSE").contains("MIT"));
}

/// In backticks; a folder counts if it is one of ours. `session/turn.rs` is short for the file in
/// the sources of that crate.
#[test]
fn every_path_that_a_document_names_exists() {
    let endings = [".rs", ".ts", ".tsx", ".css", ".toml", ".md", ".svg"];
    let folders = ["src-tauri/", "ui/", "tests/", "docs/"];
    let (mut checked, mut missing) = (0, Vec::new());
    for name in documents() {
        // What has gone may be named in the history.
        if name == "CHANGELOG.md" {
            continue;
        }
        for path in read(&name).split('`').skip(1).step_by(2) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./@".contains(c);
            let is_path = path.contains('/')
                && path.chars().all(plain)
                // A placeholder in a recipe.
                && !path.contains("NAME")
                && (endings.iter().any(|ending| path.ends_with(ending))
                    || folders.iter().any(|folder| path.starts_with(folder)));
            if is_path {
                checked += 1;
                if !exists(path) {
                    missing.push(format!("{name} names {path}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "these do not exist: {missing:#?}");
    assert!(checked > 80, "only {checked} paths were found");
}

fn exists(path: &str) -> bool {
    let short = path.split_once('/').is_some_and(|(name, rest)| {
        let package = root().join("src-tauri/crates").join(name);
        package.join("src").join(rest).exists() || package.join(rest).exists()
    });
    short || root().join(path).exists()
}

/// Every document for people, from the root of the repository.
fn documents() -> Vec<String> {
    let decisions = entries("docs/decisions").into_iter();
    let decisions = decisions.map(|name| format!("docs/decisions/{name}"));
    let others = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
    ];
    others
        .map(str::to_owned)
        .into_iter()
        .chain(decisions)
        .collect()
}

#[test]
fn the_screen_uses_the_houses_words() {
    let text = read("ui/src/i18n/en.ts").to_lowercase();
    let words: BTreeSet<_> = text.split(|c: char| !c.is_alphabetic()).collect();
    for word in ["approval", "chat", "checkpoint", "conversation"] {
        assert!(
            !words.contains(word),
            "the house does not say {word:?}; see DESIGN's words"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn read(path: &str) -> String {
    match fs::read_to_string(root().join(path)) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err(error) => panic!("{path}: {error}"),
    }
}

fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Every manifest of the workspace, below the root.
fn manifests() -> Vec<String> {
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
fn dependencies(manifest: &str) -> Vec<(String, String)> {
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
fn lock_file() -> BTreeMap<String, BTreeSet<String>> {
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

fn reachable<'a>(
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
fn sources(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
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
