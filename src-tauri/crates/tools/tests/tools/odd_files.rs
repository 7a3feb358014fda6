//! Every tool that takes a file, with unusual names and contents.

use serde_json::{Value, json};

use super::support::Project;

/// Names that are difficult for quoting, sorting, display or option parsing.
const NAMES: [&str; 10] = [
    "with blanks.txt",
    "größe-日本語.txt",
    "emoji 👩‍💻.txt",
    "two\nlines.txt",
    "tab\there.txt",
    "-rf.txt",
    "it's \"quoted\" $HOME `x`.txt",
    "star*[a]?.txt",
    "turned\u{202e}txt.exe",
    "\u{1b}[31mred.txt",
];

fn is_clean(text: &str) -> bool {
    !text
        .chars()
        .any(|c| c != '\n' && c != '\t' && lathe_protocol::text::is_deceptive(c))
}

/// Runs the tool and checks that its title contains no deceptive characters.
async fn done(project: &Project, tool: &str, input: Value) -> String {
    let output = project.run(tool, input).await.unwrap();
    assert!(is_clean(&output.title), "{tool}: {:?}", output.title);
    output.output
}

#[cfg(unix)]
#[tokio::test]
async fn a_strange_name_is_a_name_like_any_other() {
    for name in NAMES {
        let project = Project::new().file(&format!("dir/{name}"), "one\ntwo\n");
        let path = format!("dir/{name}");
        let read = done(&project, "read", json!({ "filePath": path })).await;
        assert!(read.contains("two"), "{name:?}");
        let edit = json!({ "filePath": path, "oldString": "two", "newString": "2" });
        assert!(is_clean(&done(&project, "edit", edit).await), "{name:?}");
        assert_eq!(project.content(&path), "one\n2\n", "{name:?}");
        let write = json!({ "filePath": path, "content": "needle\n" });
        assert!(is_clean(&done(&project, "write", write).await), "{name:?}");
        assert_eq!(project.content(&path), "needle\n", "{name:?}");

        for (tool, input) in [
            ("list", json!({ "path": "dir" })),
            ("glob", json!({ "pattern": "**/*" })),
            ("grep", json!({ "pattern": "needle" })),
        ] {
            let output = done(&project, tool, input).await;
            assert!(is_clean(&output), "{tool}: {output:?}");
            let plain = name
                .split(['\n', '\t', '\u{202e}', '\u{1b}', '"', '\u{200d}'])
                .next();
            assert!(output.contains(plain.unwrap()), "{tool}: {output:?}");
        }
        let quoted = format!("'{}'", name.replace('\'', r"'\''"));
        let command = json!({ "command": format!("cat -- {quoted}"), "description": "show it", "workdir": "dir" });
        assert_eq!(
            done(&project, "bash", command).await,
            "needle\n",
            "{name:?}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn patches_take_every_name_that_fits_on_a_line() {
    for name in NAMES.iter().filter(|name| !name.contains('\n')) {
        let project = Project::new().file(name, "1\n2\n");
        let patch = format!(
            "*** Begin Patch\n*** Update File: {name}\n@@\n-2\n+two\n*** Add File: new {name}\n+x\n*** End Patch"
        );
        let output = done(&project, "apply_patch", json!({ "patchText": patch })).await;
        assert!(is_clean(&output), "{output:?}");
        assert_eq!(project.content(name), "1\ntwo\n", "{name:?}");
        assert_eq!(project.content(&format!("new {name}")), "x\n", "{name:?}");
    }
}

#[tokio::test]
async fn an_empty_file_can_be_read_searched_filled_and_patched() {
    let project = Project::new().file("a.txt", "").file("b.txt", "");
    let path = json!({ "filePath": "a.txt" });
    assert!(done(&project, "read", path).await.contains("empty"));
    let grep = done(&project, "grep", json!({ "pattern": "x" })).await;
    assert_eq!(grep, "No matches found.");
    let edit = json!({ "filePath": "a.txt", "oldString": "x", "newString": "y" });
    let failure = project.failure("edit", edit).await;
    assert!(failure.text.contains("was not found"), "{failure}");
    let write = json!({ "filePath": "a.txt", "content": "filled" });
    done(&project, "write", write).await;
    assert_eq!(project.content("a.txt"), "filled");
    let patch = "*** Begin Patch\n*** Update File: b.txt\n@@\n+new\n*** End Patch";
    done(&project, "apply_patch", json!({ "patchText": patch })).await;
    assert_eq!(project.content("b.txt"), "new\n");
}

#[tokio::test]
async fn a_binary_file_is_neither_shown_nor_changed() {
    let bytes = b"\x7fELF\0\0\x01\x02needle\xff\xfe\0".repeat(100);
    let project = Project::new().file("a.bin", &bytes);
    let failure = project
        .failure("read", json!({ "filePath": "a.bin" }))
        .await;
    assert!(failure.text.contains("binary"), "{failure}");
    let grep = done(&project, "grep", json!({ "pattern": "needle" })).await;
    assert_eq!(grep, "No matches found.");
    let patch = "*** Begin Patch\n*** Update File: a.bin\n@@\n-needle\n+x\n*** End Patch";
    for (tool, input) in [
        (
            "edit",
            json!({ "filePath": "a.bin", "oldString": "needle", "newString": "x" }),
        ),
        ("write", json!({ "filePath": "a.bin", "content": "x" })),
        ("apply_patch", json!({ "patchText": patch })),
    ] {
        let failure = project.failure(tool, input).await;
        assert!(!failure.text.is_empty(), "{tool}");
        assert_eq!(
            std::fs::read(project.path("a.bin")).unwrap(),
            bytes,
            "{tool}"
        );
    }
    assert!(project.host.edited.lock().is_empty());
}

#[tokio::test]
async fn line_endings_of_every_file_survive_every_change() {
    let project = Project::new()
        .file("edit.txt", "a\r\nb\r\nc\r\n")
        .file("patch.txt", "a\r\nb\r\nc\r\n")
        .file("write.txt", "a\r\nb\r\n");
    for name in ["edit.txt", "write.txt"] {
        let read = done(&project, "read", json!({ "filePath": name })).await;
        assert!(!read.contains('\r'), "{read:?}");
    }
    let edit = json!({ "filePath": "edit.txt", "oldString": "b\nc", "newString": "B\nC\nD" });
    done(&project, "edit", edit).await;
    let write = json!({ "filePath": "write.txt", "content": "x\ny\n" });
    done(&project, "write", write).await;
    let patch = "*** Begin Patch\n*** Update File: patch.txt\n@@\n a\n-b\n+B\n+B2\n*** End Patch";
    done(&project, "apply_patch", json!({ "patchText": patch })).await;
    assert_eq!(project.content("edit.txt"), "a\r\nB\r\nC\r\nD\r\n");
    assert_eq!(project.content("write.txt"), "x\r\ny\r\n");
    assert_eq!(project.content("patch.txt"), "a\r\nB\r\nB2\r\nc\r\n");
    let grep = done(&project, "grep", json!({ "pattern": "D$" })).await;
    assert!(grep.ends_with("4: D"), "{grep:?}");
}

#[tokio::test]
async fn a_huge_file_is_read_in_parts_searched_and_edited() {
    let line = "a line of a file that is far larger than any answer may be\n";
    let text = format!("{}needle\n{}", line.repeat(200_000), line.repeat(1_000));
    let project = Project::new().file("huge.txt", &text);
    let result = project
        .run("read", json!({ "filePath": "huge.txt" }))
        .await
        .unwrap();
    assert!(result.output.len() < 300_000, "{}", result.output.len());
    assert_eq!(result.metadata["truncated"], true);
    let near = json!({ "filePath": "huge.txt", "offset": 200_001, "limit": 1 });
    assert!(done(&project, "read", near).await.contains("needle"));
    let grep = done(&project, "grep", json!({ "pattern": "^needle$" })).await;
    assert!(grep.ends_with("200001: needle"), "{grep:?}");
    let edit = json!({ "filePath": "huge.txt", "oldString": "needle", "newString": "pin" });
    done(&project, "edit", edit).await;
    assert_eq!(project.content("huge.txt"), text.replace("needle", "pin"));
}
