//! The rules of the house that a machine can check, on the tree as it is.
//!
//! That the generated files are current is checked next to their generator, in
//! `src-tauri/crates/protocol/tests/generated.rs`.

// A check may end at the first surprise.
#![allow(clippy::unwrap_used)]

#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/literals.rs"]
mod literals;
#[path = "tidy/page.rs"]
mod page;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/words.rs"]
mod words;

use std::collections::BTreeSet;
use std::fs;

use tree::{dependencies, entries, lock_file, manifests, reachable, read, root, sources};

/// What each core crate may know of the others, and what its tests may use on top.
const KNOWLEDGE: [(&str, &[&str], &[&str]); 25] = [
    ("files", &[], &[]),
    (
        "import",
        &["lathe-files", "lathe-protocol"],
        &["lathe-fuzz"],
    ),
    ("log", &["lathe-files"], &[]),
    ("protocol", &[], &["lathe-fuzz"]),
    ("contract", &["lathe-protocol"], &[]),
    ("mcp", &["lathe-files"], &[]),
    ("policy", &["lathe-protocol"], &["lathe-fuzz"]),
    (
        "provider",
        &["lathe-files", "lathe-protocol"],
        &["lathe-fuzz"],
    ),
    ("render", &["lathe-protocol"], &["lathe-fuzz"]),
    ("sandbox", &[], &[]),
    ("snapshot", &["lathe-files"], &[]),
    (
        "store",
        &["lathe-files", "lathe-import", "lathe-protocol"],
        &["lathe-fuzz"],
    ),
    ("tools", &["lathe-protocol"], &["lathe-fuzz"]),
    ("records", &["lathe-protocol", "lathe-store"], &[]),
    (
        "search",
        &["lathe-protocol", "lathe-records", "lathe-store"],
        &[],
    ),
    (
        "workspace",
        &[
            "lathe-files",
            "lathe-mcp",
            "lathe-policy",
            "lathe-protocol",
            "lathe-provider",
            "lathe-records",
            "lathe-sandbox",
            "lathe-tools",
        ],
        &["lathe-fuzz"],
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
        "permission",
        &[
            "lathe-files",
            "lathe-policy",
            "lathe-protocol",
            "lathe-records",
            "lathe-store",
            "lathe-tools",
            "lathe-workspace",
        ],
        &[],
    ),
    (
        "conversation",
        &[
            "lathe-policy",
            "lathe-protocol",
            "lathe-provider",
            "lathe-workspace",
        ],
        &[],
    ),
    (
        "session",
        &[
            "lathe-conversation",
            "lathe-files",
            "lathe-permission",
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
        "changes",
        &[
            "lathe-protocol",
            "lathe-records",
            "lathe-review",
            "lathe-session",
            "lathe-snapshot",
            "lathe-workspace",
        ],
        &["lathe-provider", "lathe-test-support"],
    ),
    (
        "folders",
        &[
            "lathe-files",
            "lathe-protocol",
            "lathe-records",
            "lathe-review",
            "lathe-session",
            "lathe-tools",
            "lathe-workspace",
        ],
        &[],
    ),
    (
        "server",
        &[
            "lathe-contract",
            "lathe-folders",
            "lathe-protocol",
            "lathe-session",
        ],
        &["lathe-provider", "lathe-test-support"],
    ),
    (
        "acp",
        &["lathe-protocol", "lathe-session"],
        &["lathe-provider", "lathe-test-support"],
    ),
    (
        "headless",
        &[
            "lathe-acp",
            "lathe-log",
            "lathe-protocol",
            "lathe-provider",
            "lathe-render",
            "lathe-server",
            "lathe-session",
            "lathe-store",
        ],
        &["lathe-test-support"],
    ),
];

/// Longer than this and a file is split.
const MOST_LINES: usize = 500;

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

/// What is handed around is a few handles. Stored and configured data may be wider, and so are
/// the options of a program.
#[test]
fn no_handle_of_the_session_has_more_than_ten_public_fields() {
    let wide: Vec<_> = sources(&["src-tauri/crates/session/src"], &["rs"])
        .into_iter()
        .flat_map(|path| public_fields(&fs::read_to_string(path).unwrap()))
        .filter(|(name, fields)| *fields > 10 && name != "Options")
        .collect();
    assert_eq!(wide, []);
}

/// The structs of a formatted source file, with the number of their public fields.
fn public_fields(source: &str) -> Vec<(String, usize)> {
    let mut structs: Vec<(String, usize)> = Vec::new();
    for line in source.lines() {
        if let Some((_, name)) = line.split_once("pub struct ") {
            let name = name.split(|c: char| !c.is_alphanumeric()).next();
            structs.push((name.unwrap_or_default().to_owned(), 0));
        } else if line.starts_with("    pub ")
            && !line.contains(" fn ")
            && let Some((_, fields)) = structs.last_mut()
        {
            *fields += 1;
        }
    }
    structs
}

#[test]
fn the_packages_that_the_product_is_built_on_are_in_use() {
    const PACKAGES: [&str; 10] = [
        "image",
        "pulldown_cmark",
        "reqwest",
        "serde",
        "serde_json",
        "similar",
        "tauri",
        "tauri_plugin_dialog",
        "tauri_plugin_store",
        "tokio",
    ];
    let files = sources(&["src-tauri/src", "src-tauri/crates"], &["rs"]);
    let texts: Vec<_> = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let is_used = |package: &&str| {
        let path = format!("{package}::");
        texts.iter().any(|text| text.contains(&path))
    };
    let unused: Vec<_> = PACKAGES.iter().filter(|one| !is_used(one)).collect();
    assert_eq!(unused, Vec::<&&str>::new());
}
