use lathe_import::Program;
use lathe_protocol::{Part, ToolState};
use serde_json::json;

use crate::memory::{assert_drawn, fixture, import, left_out};

/// A prompt of the person, on the given minute.
fn prompt(uuid: &str, parent: &str, minute: u32, words: &str) -> String {
    let record = json!({
        "type": "user", "uuid": uuid, "parentUuid": parent,
        "timestamp": format!("2026-01-01T00:{minute:02}:00Z"),
        "message": { "role": "user", "content": words },
    });
    format!("{record}\n")
}

fn summary(leaf: &str, title: &str) -> String {
    let record = json!({ "type": "summary", "summary": title, "leafUuid": leaf });
    format!("{record}\n")
}

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

/// A long result is in a file of the session's own folder; a record cannot name another file.
#[test]
fn a_result_in_a_file_of_its_own_is_read_from_the_sessions_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("projects/-home-user");
    let results = folder.join("aaaa/tool-results");
    std::fs::create_dir_all(&results).unwrap();
    std::fs::write(results.join("long.txt"), "all of it").unwrap();
    std::fs::write(folder.join("secret.txt"), "not for import").unwrap();
    let persisted = |path: &str| {
        format!(
            "<persisted-output>\nOutput too large (1MB). Full output saved to: {path}\n\nPreview:\nall\n</persisted-output>"
        )
    };
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} });
    let result = |id: &str, path: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": persisted(path) });
    let calls = [call("c1"), call("c2"), call("c3")];
    let outputs = [
        result(
            "c1",
            "/home/user/.claude/projects/-home-user/aaaa/tool-results/long.txt",
        ),
        result("c2", "../../secret.txt"),
        result("c3", "/nowhere/.."),
    ];
    let records = [
        json!({ "type": "user", "uuid": "1", "timestamp": "2026-01-01T00:00:00Z", "message": { "role": "user", "content": "Go" } }),
        json!({ "type": "assistant", "uuid": "2", "parentUuid": "1", "timestamp": "2026-01-01T00:00:01Z", "message": { "id": "m", "model": "claude", "content": calls } }),
        json!({ "type": "user", "uuid": "3", "parentUuid": "2", "timestamp": "2026-01-01T00:00:02Z", "message": { "role": "user", "content": outputs } }),
    ];
    let lines: Vec<_> = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(folder.join("aaaa.jsonl"), lines.concat()).unwrap();

    let (memory, report) = import(Program::Claude, home.path());
    let parts = memory
        .messages
        .values()
        .flatten()
        .flat_map(|one| &one.parts);
    let outputs: Vec<_> = parts
        .filter_map(|part| match part {
            Part::Tool(call) => match call.state() {
                ToolState::Completed(done) => Some(done.output.clone()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let wanted = [
        "all of it".to_owned(),
        persisted("../../secret.txt"),
        persisted("/nowhere/.."),
    ];
    assert_eq!(outputs, wanted);
    let line = "1 × tool_result: the file of its text is not there".to_owned();
    assert!(left_out(&report).contains(&line), "{:?}", left_out(&report));
}

#[test]
fn a_summary_of_another_session_gives_no_title() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("aaaa.jsonl");
    let lines = [
        summary("2", "Its own"),
        summary("elsewhere", "Of another session"),
        prompt("1", "", 0, "one"),
        prompt("2", "1", 1, "two"),
    ];
    std::fs::write(&file, lines.concat()).unwrap();
    let (memory, report) = import(Program::Claude, &file);
    let titles: Vec<_> = memory.sessions.values().map(|one| &one.title).collect();
    assert_eq!(titles, ["Its own"]);
    let wanted = ["1 × summary: it is of another session"];
    assert_eq!(left_out(&report), wanted);
}

/// The names of files are random, so they say nothing about which came first.
#[test]
fn a_resumed_session_is_a_fork_of_the_older_one_whatever_their_files_are_called() {
    for (older, newer) in [("aaaa", "bbbb"), ("bbbb", "aaaa")] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-home-user");
        std::fs::create_dir_all(&folder).unwrap();
        let first = prompt("1", "", 0, "one") + &prompt("2", "1", 1, "two");
        let resumed = first.clone() + &prompt("3", "2", 2, "three");
        std::fs::write(folder.join(format!("{older}.jsonl")), first).unwrap();
        std::fs::write(folder.join(format!("{newer}.jsonl")), resumed).unwrap();
        let (memory, _) = import(Program::Claude, home.path());
        let count = |id: &str| memory.messages[id].len();
        let forks: Vec<_> = memory
            .sessions
            .values()
            .filter_map(|one| {
                let from = one.forked_from.as_ref()?;
                Some((count(one.id.as_str()), count(from.session_id.as_str())))
            })
            .collect();
        assert_eq!(forks, [(3, 2)], "{older} {newer}");
    }
}
