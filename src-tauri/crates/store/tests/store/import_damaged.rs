//! Whatever an exported session contains, it is imported, or refused and nothing of it is left.
//!
//! A text that failed is stored beside this file and tried first from then on.

use lathe_fuzz::fuzz;
use proptest::prelude::*;

use crate::import::import_fixture;
use crate::support::*;

const PIECES: [&str; 16] = [
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "-1",
    "1e999",
    "\"../../x\"",
    "\"\\u0000\"",
    "\"id\"",
    "\"sessionID\"",
    "\u{202e}",
];

/// Where a piece of the text is replaced, in parts per 10,000, how much of it, and by what.
fn damage() -> impl Strategy<Value = Vec<(usize, usize, &'static str)>> {
    let one = (
        0_usize..10_000,
        0_usize..30,
        prop::sample::select(&PIECES[..]),
    );
    prop::collection::vec(one, 1..6)
}

fn damaged(text: &str, damage: &[(usize, usize, &str)]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, length, piece) in damage {
        let from = text.len() * at / 10_000;
        let to = (from + length).min(text.len());
        text.splice(from..to, piece.chars());
    }
    text.into_iter().collect()
}

#[test]
fn a_damaged_export_is_imported_or_refused() {
    let runtime = runtime();
    // Each case opens a store, which takes a moment.
    fuzz(64, damage(), |damage| {
        runtime.block_on(async {
            let test = TestStore::new().await;
            let file = test.root().join("session.json");
            std::fs::write(&file, damaged(&import_fixture("exported.json"), &damage)).unwrap();
            let imported = test.store.import_from(&file).await;
            let sessions = test.store.all_sessions().await.unwrap().items.len();
            let added = imported.map_or(0, |imported| imported.added.len());
            assert_eq!(sessions, added);
            let report = test.store.check().await.unwrap();
            assert_eq!(report.damaged, []);
        });
    });
}
