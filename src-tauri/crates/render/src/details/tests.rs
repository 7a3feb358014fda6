use lathe_protocol::ipc::{AnsweredQuestion, MatchedFile, MatchedLine, ToolBody, TreeEntry};
use lathe_protocol::view::{DiffStatus, Span};
use lathe_protocol::{Map, MessageId, PartId, SessionId, ToolPart};
use serde_json::{Value, json};

use super::*;

fn map(value: Value) -> Map {
    serde_json::from_value(value).unwrap_or_default()
}

fn call(tool: &str, input: Value) -> ToolPart {
    let ids = (
        PartId::parse("prt_1"),
        SessionId::parse("ses_1"),
        MessageId::parse("msg_1"),
    );
    let (Ok(part), Ok(session), Ok(message)) = ids else {
        panic!("ids")
    };
    let mut part = ToolPart::pending(part, session, message, "call", tool);
    assert!(part.start(map(input), 1.into()).is_ok());
    part
}

fn done(tool: &str, input: Value, output: &str, metadata: Value) -> ToolDetails {
    let mut part = call(tool, input);
    let ended = part.complete(
        output.into(),
        String::new(),
        map(metadata),
        vec![],
        2.into(),
    );
    assert!(ended.is_ok());
    render_tool_call(&part, &options())
}

fn options() -> DetailsOptions {
    DetailsOptions {
        root: Some("/p/lamp".to_owned()),
        whole: false,
    }
}

fn plain(lines: &[Vec<Span>]) -> Vec<String> {
    lines
        .iter()
        .map(|spans| spans.iter().map(|span| span.text.as_str()).collect())
        .collect()
}

fn code(details: &ToolDetails) -> (String, usize, Vec<String>) {
    match &details.body {
        Some(ToolBody::Code { path, first, lines }) => (path.clone(), *first, plain(lines)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_read_shows_the_lines_of_the_file_with_its_own_numbers() {
    let output = "    12\tfn main() {\n    13\t\tlet x = 1;\n\n(Lines 12 to 13 of 80. Continue with offset 14.)";
    let details = done(
        "read",
        json!({ "filePath": "/p/lamp/src/a.rs" }),
        output,
        json!({}),
    );
    assert_eq!(
        code(&details),
        (
            "src/a.rs".into(),
            12,
            vec!["fn main() {".into(), "\tlet x = 1;".into()]
        )
    );
    assert_eq!(
        details.note.as_deref(),
        Some("Lines 12 to 13 of 80. Continue with offset 14.")
    );
    let Some(ToolBody::Code { lines, .. }) = &details.body else {
        panic!("no code")
    };
    assert_eq!(lines[0][0].class.as_deref(), Some("hl-keyword"));
}

#[test]
fn a_read_in_the_older_format_shows_its_lines_too() {
    let output = "<file>\n00001| # Lamp\n00002| \n\n(End of file - total 2 lines)\n</file>";
    let details = done(
        "read",
        json!({ "filePath": "README.md" }),
        output,
        json!({}),
    );
    assert_eq!(
        code(&details),
        ("README.md".into(), 1, vec!["# Lamp".into(), String::new()])
    );
}

#[test]
fn search_matches_are_grouped_by_file_and_marked() {
    let output = "/p/lamp/notes.txt:\n  3: a lamp, a lamp\n  9: lamp\n\n/else/b.txt:\n  1: lamp";
    let details = done("grep", json!({ "pattern": "l.mp" }), output, json!({}));
    let span = |text: &str, mark| Span {
        text: text.into(),
        mark,
        ..Span::default()
    };
    let line = |number, spans| MatchedLine { number, spans };
    let expected = ToolBody::Matches {
        files: vec![
            MatchedFile {
                path: "notes.txt".into(),
                lines: vec![
                    line(
                        3,
                        vec![
                            span("a ", false),
                            span("lamp", true),
                            span(", a ", false),
                            span("lamp", true),
                        ],
                    ),
                    line(9, vec![span("lamp", true)]),
                ],
            },
            MatchedFile {
                path: "/else/b.txt".into(),
                lines: vec![line(1, vec![span("lamp", true)])],
            },
        ],
    };
    assert_eq!(details.body, Some(expected));
}

#[test]
fn a_directory_listing_is_a_tree() {
    let output = "/p/lamp/\n  src/\n    deep/\n      a.rs\n    b.rs\n  README.md";
    let details = done("list", json!({}), output, json!({}));
    let entry = |depth, name: &str, path: &str, directory| TreeEntry {
        depth,
        name: name.into(),
        path: path.into(),
        directory,
    };
    assert_eq!(
        details.body,
        Some(ToolBody::Tree {
            root: String::new(),
            entries: vec![
                entry(0, "src", "src", true),
                entry(1, "deep", "src/deep", true),
                entry(2, "a.rs", "src/deep/a.rs", false),
                entry(1, "b.rs", "src/b.rs", false),
                entry(0, "README.md", "README.md", false),
            ],
        })
    );
}

#[test]
fn found_files_are_a_list_of_paths() {
    let details = done("glob", json!({}), "/p/lamp/a.rs\n/p/lamp/b.rs", json!({}));
    let paths = vec!["a.rs".to_owned(), "b.rs".to_owned()];
    assert_eq!(details.body, Some(ToolBody::Paths { paths }));
    let details = done("glob", json!({}), "No files found.", json!({}));
    assert_eq!(
        (details.body, details.output.as_str()),
        (None, "No files found.")
    );
}

#[test]
fn a_command_is_shown_with_colours_and_copied_without_them() {
    let metadata = json!({ "output": "\u{1b}[32mok\u{1b}[0m\n", "outputPath": "/data/out.txt" });
    let details = done("bash", json!({ "command": "make" }), "ok", metadata);
    assert_eq!(
        details,
        ToolDetails {
            input: "{\n  \"command\": \"make\"\n}".into(),
            output: "ok".into(),
            error: None,
            body: Some(ToolBody::Terminal {
                html: "<span class=\"ansi-fg-2\">ok</span>".into(),
                cut: false,
            }),
            note: None,
            whole_output: Some("/data/out.txt".into()),
        }
    );
}

fn failed(tool: &str, input: Value, error: &str, metadata: Value) -> ToolDetails {
    let mut part = call(tool, input);
    assert!(
        part.fail(error.into(), Some(map(metadata)), 2.into())
            .is_ok()
    );
    render_tool_call(&part, &options())
}

#[test]
fn a_denied_command_has_no_output() {
    let details = failed(
        "bash",
        json!({ "command": "make" }),
        "Not allowed",
        json!({}),
    );
    assert_eq!(details.error.as_deref(), Some("Not allowed"));
    assert_eq!((details.output.as_str(), details.body), ("", None));
}

#[test]
fn an_aborted_command_shows_its_output_and_the_reason_separately() {
    let metadata = json!({ "output": "\u{1b}[32mok\u{1b}[0m\n", "cardCut": true });
    let details = failed("bash", json!({ "command": "make" }), "Aborted", metadata);
    assert_eq!(details.error.as_deref(), Some("Aborted"));
    assert_eq!(details.output, "ok");
    let html = "<span class=\"ansi-fg-2\">ok</span>".into();
    assert_eq!(details.body, Some(ToolBody::Terminal { html, cut: true }));
}

#[test]
fn an_output_without_its_start_is_marked_as_cut() {
    let cases = [
        ("one\ntwo\nthree\n", "\u{1b}[32mo\nthree\u{1b}[0m\n", true),
        (
            "one\ntwo\nthree\n\n\n(exit code 3)",
            "one\ntwo\nthree\n",
            false,
        ),
        ("one\ntwo\n\n<note>", "one\ntwo\n", false),
        ("(no output)", "x", false),
    ];
    for (output, card, expected) in cases {
        let details = done("bash", json!({}), output, json!({ "output": card }));
        let Some(ToolBody::Terminal { cut, .. }) = details.body else {
            panic!("no terminal")
        };
        assert_eq!(cut, expected, "{output}");
    }
}

#[test]
fn a_patch_that_was_not_applied_is_shown_as_text() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** End Patch";
    let input = json!({ "patchText": patch });
    let details = failed("apply_patch", input.clone(), "does not fit", json!({}));
    assert_eq!(code(&details).2.join("\n"), patch);
    assert_eq!(
        render_tool_call(&call("apply_patch", input), &options()).body,
        details.body
    );
}

#[test]
fn a_long_answer_is_shown_in_full() {
    let long = "so ".repeat(1_000);
    let input = json!({ "questions": [{ "question": "Why?" }, { "question": "When?" }] });
    let answers = json!({ "answers": [["Because", long]] });
    let details = done("question", input, "The user answered:", answers);
    let pair = |question: &str, answers| AnsweredQuestion {
        question: question.into(),
        answers,
    };
    let questions = vec![
        pair("Why?", vec!["Because".into(), long]),
        pair("When?", vec![]),
    ];
    assert_eq!(details.body, Some(ToolBody::Answers { questions }));
}

fn diffs(details: ToolDetails) -> Vec<(String, Option<String>, DiffStatus, usize, usize, usize)> {
    let Some(ToolBody::Diffs { files }) = details.body else {
        panic!("no diffs")
    };
    files
        .into_iter()
        .map(|file| {
            let lines = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
            (
                file.path,
                file.old_path,
                file.status,
                file.additions,
                file.deletions,
                lines,
            )
        })
        .collect()
}

#[test]
fn an_edit_shows_a_diff_of_both_texts() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let file = json!({ "file": "a.txt", "before": before, "after": before.replace('5', "five"), "status": "modified" });
    let details = done("edit", json!({}), "Edited", json!({ "filediff": file }));
    assert_eq!(
        diffs(details),
        [("a.txt".into(), None, DiffStatus::Modified, 1, 1, 8)]
    );

    let mut part = call("edit", json!({}));
    let file = json!({ "filediff": { "file": "a.txt", "before": before, "after": before.replace('5', "five") } });
    assert!(
        part.complete("".into(), "".into(), map(file), vec![], 2.into())
            .is_ok()
    );
    let whole = DetailsOptions {
        whole: true,
        ..options()
    };
    assert_eq!(
        diffs(render_tool_call(&part, &whole)),
        [("a.txt".into(), None, DiffStatus::Modified, 1, 1, 10)]
    );
}

#[test]
fn a_patch_shows_each_file_added_moved_or_deleted() {
    let files = json!({ "files": [
        { "file": "new.txt", "before": "", "after": "x\n", "status": "added" },
        { "file": "to.txt", "from": "from.txt", "before": "a\n", "after": "b\n", "status": "renamed" },
        { "file": "gone.txt", "before": "x\n", "after": "", "status": "deleted" },
        { "file": "big.txt", "patch": "--- a/big.txt\n+++ b/big.txt\n@@ -1 +1 @@\n-a\n+b\n" },
    ] });
    let details = done("apply_patch", json!({}), "applied", files);
    assert_eq!(
        diffs(details),
        [
            ("new.txt".into(), None, DiffStatus::Added, 1, 0, 1),
            (
                "to.txt".into(),
                Some("from.txt".into()),
                DiffStatus::Renamed,
                1,
                1,
                2
            ),
            ("gone.txt".into(), None, DiffStatus::Deleted, 0, 1, 1),
            ("big.txt".into(), None, DiffStatus::Modified, 1, 1, 2),
        ]
    );
}

#[test]
fn a_write_that_has_not_run_shows_what_it_would_write() {
    let part = call(
        "write",
        json!({ "filePath": "/p/lamp/a.txt", "content": "one\ntwo\n" }),
    );
    let details = render_tool_call(&part, &options());
    assert_eq!(
        diffs(details),
        [("a.txt".into(), None, DiffStatus::Added, 2, 0, 2)]
    );
}

#[test]
fn a_failed_call_shows_its_error_and_its_unparsed_arguments() {
    let ids = call("read", json!({}));
    let mut part = ToolPart::pending(ids.id, ids.session_id, ids.message_id, "call", "read");
    assert!(part.receive("{\"filePath\": ").is_ok());
    assert!(part.fail("not valid JSON".into(), None, 2.into()).is_ok());
    let details = render_tool_call(&part, &options());
    assert_eq!(
        (
            details.input.as_str(),
            details.error.as_deref(),
            details.output.as_str(),
            details.body
        ),
        ("{\"filePath\": ", Some("not valid JSON"), "", None)
    );
}

#[test]
fn json_from_a_server_is_indented() {
    let details = done("lamp_state", json!({}), "{\"on\":true}", json!({}));
    assert_eq!(
        code(&details),
        (
            "data.json".into(),
            1,
            vec!["{".into(), "  \"on\": true".into(), "}".into()]
        )
    );
    assert_eq!(details.output, "{\"on\":true}");
}

#[test]
fn a_page_and_a_task_are_rendered_as_markdown() {
    for tool in ["webfetch", "task"] {
        let details = done(tool, json!({}), "# Lamp\n\n(session_id: ses_2)", json!({}));
        let Some(ToolBody::Markdown { blocks }) = details.body else {
            panic!("no markdown")
        };
        assert_eq!(blocks[0], "<h1>Lamp</h1>\n");
        assert_eq!(blocks.len(), if tool == "task" { 1 } else { 2 });
    }
}

#[test]
fn a_running_command_shows_its_last_lines() {
    let mut part = call("bash", json!({ "command": "make" }));
    assert_eq!(live_output(&part), None);
    let printed: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    assert!(
        part.progress(None, map(json!({ "output": printed })))
            .is_ok()
    );
    let html = live_output(&part).unwrap_or_default();
    assert_eq!(html.lines().count(), 60);
    assert!(
        html.starts_with("line 141\n") && html.ends_with("line 200\n"),
        "{html}"
    );
}
