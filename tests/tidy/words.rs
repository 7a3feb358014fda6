//! What people read that comes from Rust, and the README, against `docs/words.md`. The texts of the
//! window have the same test in `ui/src/i18n/copy.test.ts`.

use super::tree::read;

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

/// The lines of a source file that people read: those with a text, and doc comments of fields, which
/// are the help.
fn spoken(source: &str) -> impl Iterator<Item = &str> {
    let lines = source.lines().map(str::trim);
    lines.filter(|line| line.contains('"') || line.starts_with("/// "))
}

/// In small letters, with a space around each word.
fn in_words(text: &str) -> String {
    let letters = text.to_lowercase().replace('\'', "’");
    let words = letters.split(|c: char| !c.is_alphanumeric() && c != '’' && c != '-');
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
