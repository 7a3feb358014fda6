use lathe_import::Program;

use crate::memory::{assert_drawn, fixture, import};

/// An answer over several lines with its usage once, parallel calls, a child before its parent, a
/// rewind, a compaction with a repeated record, subagents in each other, beside and between, a
/// resumed session, a damaged line, a parent that is not there, and every type that is left out.
#[test]
fn every_known_record_type_is_imported_or_counted() {
    let (memory, report) = import(Program::Claude, &fixture("claude"));
    assert_drawn("claude.txt", &memory, &report);
}

#[test]
fn permissions_are_not_imported() {
    let (memory, _) = import(Program::Claude, &fixture("claude"));
    assert!(memory.sessions.values().all(|one| one.permission.is_none()));
}
