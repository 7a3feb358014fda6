//! What people read that comes from Rust, and the README, against `docs/words.md`. The texts of the
//! window have the same test in `ui/src/i18n/copy.test.ts`.

use std::fs;

use super::literals::literals;
use super::tree::{read, root, sources};

const TEXTS: [&str; 4] = [
    "src-tauri/src/texts.rs",
    "src-tauri/crates/headless/src/texts.rs",
    "src-tauri/crates/headless/src/args.rs",
    "src-tauri/crates/render/src/page/texts.rs",
];

#[test]
fn texts_for_people_use_no_word_that_is_to_be_avoided() {
    let avoid = words_to_avoid();
    assert!(avoid.len() > 20, "{avoid:?}");
    let readme = read("README.md");
    let mut found = Vec::new();
    let lines = TEXTS.iter().flat_map(|path| {
        let source = read(path);
        spoken(&source).map(str::to_owned).collect::<Vec<_>>()
    });
    let mut checked = 0;
    for line in lines.chain(readme.lines().map(str::to_owned)) {
        checked += 1;
        let words = in_words(&line);
        for word in &avoid {
            if words.contains(&in_words(word)) {
                found.push(format!("{word}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(checked > 200, "only {checked} lines");
}

/// Texts that others define, and such as no one reads.
const NOT_FOR_PEOPLE: [&str; 9] = [
    "cancelled",
    "/chat/completions",
    "try again in ",
    "{}/taken back {number}",
    "taken back {number}",
    "/source/subagent/thread_spawn/parent_thread_id",
    "the reading thread failed",
    "the new process has no thread",
    // The script of the guardian.
    "$all",
];

/// The errors of the core are shown in the window as they are.
#[test]
fn errors_of_the_core_use_no_word_that_is_to_be_avoided() {
    let avoid = words_to_avoid();
    let (mut found, mut checked) = (Vec::new(), 0);
    for path in sources(&["src-tauri/crates", "src-tauri/src"], &["rs"]) {
        let below = path.strip_prefix(root()).unwrap();
        let name = below.display().to_string().replace('\\', "/");
        // The crate of the conversation writes for models alone.
        let others = ["tests", "/benches/", "/crates/conversation/"];
        if others.iter().any(|part| name.contains(part)) {
            continue;
        }
        for text in literals(&fs::read_to_string(&path).unwrap()) {
            checked += 1;
            let words = in_words(&text);
            let bad = avoid.iter().find(|word| words.contains(&in_words(word)));
            let known = NOT_FOR_PEOPLE.iter().any(|known| text.contains(known));
            if let Some(word) = bad.filter(|_| !known) {
                found.push(format!("{name}: {word}: {text}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(checked > 5000, "only {checked} texts");
}

/// The lines of a source file that people read: those with a text, and doc comments of fields, which
/// are the help.
fn spoken(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().map(str::trim);
    lines.filter(|line| line.contains('"') || line.starts_with("/// "))
}

/// In small letters, with a space around each word.
fn in_words(text: &str) -> String {
    let letters = text.to_lowercase().replace('\'', "’");
    let words = letters.split(|c: char| !c.is_alphanumeric() && !"’-_".contains(c));
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// The first column of the last table.
fn words_to_avoid() -> Vec<String> {
    let page = read("docs/words.md");
    let (_, table) = page.split_once("## Words to avoid\n").unwrap();
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|word| word.trim().to_owned())
        .collect()
}
