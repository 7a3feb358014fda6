//! Importing again, stopping, and continuing.

use std::fs;
use std::path::Path;

use lathe_import::{Control, Program};

use crate::memory::{Memory, counts, fixture, import};

#[test]
fn a_second_import_adds_nothing_and_one_after_growth_adds_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("aaaa.jsonl");
    let line = |uuid: &str, parent: &str, text: &str| {
        let record = serde_json::json!({
            "type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": "2026-01-01T00:00:00Z",
            "message": { "role": "user", "content": text },
        });
        format!("{record}\n")
    };
    fs::write(&file, line("1", "", "one") + &line("2", "1", "two")).unwrap();
    let (mut memory, report) = import(Program::Claude, &file);
    assert_eq!(counts(&report), (1, 0, 0, 2, 0, 0));
    let first: Vec<_> = memory.messages.values().flatten().cloned().collect();

    let again = |memory: &mut Memory| {
        lathe_import::import(Program::Claude, &file, memory, &Control::default()).unwrap()
    };
    assert_eq!(counts(&again(&mut memory)), (0, 0, 1, 0, 0, 0));

    let grown = fs::read_to_string(&file).unwrap() + &line("3", "2", "three");
    fs::write(&file, grown).unwrap();
    assert_eq!(counts(&again(&mut memory)), (0, 1, 0, 3, 0, 0));
    let now: Vec<_> = memory.messages.values().flatten().cloned().collect();
    assert_eq!(now[..2], first[..]);
}

#[test]
fn an_import_that_was_stopped_continues_to_the_same_result() {
    for (program, name) in [(Program::Codex, "codex"), (Program::Claude, "claude")] {
        let path = fixture(name);
        let (whole, _) = import(program, &path);
        for after in 1..whole.written {
            let control = Control::default();
            let mut memory = Memory {
                stop_after: Some((after, control.clone())),
                ..Memory::default()
            };
            let report = lathe_import::import(program, &path, &mut memory, &control).unwrap();
            assert!(report.stopped, "{after}");
            memory.stop_after = None;
            lathe_import::import(program, &path, &mut memory, &Control::default()).unwrap();
            assert_eq!(memory.draw(), whole.draw(), "{after}");
            assert_eq!(memory.sessions, whole.sessions, "{after}");
        }
    }
}

#[test]
fn the_program_is_recognised_by_its_files() {
    let found = |path: &Path| lathe_import::find_at(path);
    assert_eq!(found(&fixture("codex")), Some(Program::Codex));
    assert_eq!(found(&fixture("claude")), Some(Program::Claude));
    assert_eq!(found(&fixture(".")), None);
    assert_eq!(Program::Codex.count(&fixture("codex")), 2);
    assert_eq!(Program::Claude.count(&fixture("claude")), 2);
}
