//! The documents, and the words on screen.

use std::collections::BTreeSet;

use super::tree::{entries, read, root};

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
