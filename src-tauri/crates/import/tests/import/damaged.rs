//! Damaged files: never a panic, and nothing is lost silently.

use std::collections::BTreeSet;
use std::fs;

use lathe_fuzz::fuzz;
use lathe_import::Program;
use proptest::prelude::*;

use crate::memory::{fixture, import, left_out};

fn file(program: Program) -> (String, Vec<u8>) {
    let path = match program {
        Program::Codex => {
            "codex/sessions/2026/11/18/rollout-2026-11-18T14-45-48-01a1ef1e-fddf-7673-9157-7992ed100b1f.jsonl"
        }
        Program::Claude => {
            "claude/projects/-home-user-fern-shop/11111111-aaaa-4aaa-8aaa-000000000001.jsonl"
        }
    };
    let path = fixture(path);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    (name, fs::read(path).unwrap())
}

fn import_bytes(program: Program, bytes: &[u8]) -> (crate::memory::Memory, lathe_import::Report) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file(program).0);
    fs::write(&path, bytes).unwrap();
    import(program, &path)
}

fn program() -> impl Strategy<Value = Program> {
    prop_oneof![Just(Program::Codex), Just(Program::Claude)]
}

#[test]
fn damaged_bytes_never_panic() {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let changes = prop::collection::vec(change, 1..40);
    let end = any::<prop::sample::Index>();
    fuzz(150, (program(), changes, end), |(program, changes, end)| {
        let (_, mut bytes) = file(program);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        let (memory, report) = import_bytes(program, &bytes);
        // Either there is a session, or the report says why there is none.
        let says_why = !report.problems.is_empty() || !left_out(&report).is_empty();
        assert!(!memory.sessions.is_empty() || says_why);
    });
}

#[test]
fn every_damaged_line_is_counted() {
    let picked = prop::collection::vec(any::<prop::sample::Index>(), 1..6);
    fuzz(150, (program(), picked), |(program, picked)| {
        let (_, bytes) = file(program);
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        lines.pop();
        // The first line names the session.
        let picked = picked.iter().map(|one| 1 + one.index(lines.len() - 1));
        let picked: BTreeSet<usize> = picked.collect();
        let is_whole = |line: &Vec<u8>| serde_json::from_slice::<serde_json::Value>(line).is_ok();
        let before = lines.iter().filter(|line| !is_whole(line)).count();
        let broken = picked.iter().filter(|at| is_whole(&lines[**at])).count();
        for at in &picked {
            let half = lines[*at].len() / 2;
            lines[*at].truncate(half);
        }
        let (_, report) = import_bytes(program, &lines.join(&b'\n'));
        let line = format!("{} × line: it is damaged", before + broken);
        let counted = left_out(&report);
        assert!(counted.contains(&line), "{line} not in {counted:?}");
    });
}
