//! edit and write: permissions, preserved bytes, refusals and results.

use std::sync::Arc;

use lathe_tools::{ContentHash, FailureKind};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::Project;

fn edit(old: &str, new: &str) -> Value {
    json!({ "filePath": "a.txt", "oldString": old, "newString": new })
}

fn write(content: &str) -> Value {
    json!({ "filePath": "a.txt", "content": content })
}

async fn read(project: &Project) {
    project.output("read", json!({ "filePath": "a.txt" })).await;
    project.host.asks.lock().clear();
}

#[tokio::test]
async fn an_edit_asks_with_its_diff_and_reports_its_counts() {
    let project = Project::new().file("a.txt", "one\ntwo\nthree\n");
    read(&project).await;
    let result = project.run("edit", edit("two", "2\n2b")).await.unwrap();
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n";
    let filediff = json!({
        "file": "a.txt",
        "before": "one\ntwo\nthree\n",
        "after": "one\n2\n2b\nthree\n",
        "additions": 2,
        "deletions": 1,
        "status": "modified",
    });
    assert_eq!(result.output, "Edited a.txt: 1 place replaced (+2 -1).");
    assert_eq!(result.title, "a.txt");
    assert_eq!(result.metadata["diff"], diff);
    assert_eq!(result.metadata["filediff"], filediff);
    let asks = project.host.asks.lock().clone();
    assert_eq!(asks.len(), 1);
    assert_eq!(asks[0].wants[0].permission, "edit");
    assert_eq!(asks[0].wants[0].patterns, ["a.txt"]);
    assert_eq!(asks[0].metadata["diff"], diff);
    assert_eq!(asks[0].metadata["filediff"], filediff);
    assert_eq!(*project.host.edited.lock(), [project.path("a.txt")]);
}

#[tokio::test]
async fn a_lenient_match_is_shown_to_the_model() {
    let project = Project::new().file("a.txt", "    a();\n    b();\n");
    read(&project).await;
    let output = project
        .output("edit", edit("a();\nb();", "a();\nc();"))
        .await;
    assert!(output.contains("was not there as written"), "{output}");
    assert!(output.contains("-    b();\n+    c();"), "{output}");
}

#[tokio::test]
async fn a_file_is_changed_only_over_what_was_read() {
    for (tool, input) in [("edit", edit("x", "y")), ("write", write("y"))] {
        let project = Project::new().file("a.txt", "x");
        let failure = project.failure(tool, input.clone()).await;
        assert!(failure.text.contains("have not read"), "{failure}");
        read(&project).await;
        std::fs::write(project.path("a.txt"), "x, by the user").unwrap();
        let failure = project.failure(tool, input.clone()).await;
        assert!(failure.text.contains("changed since you read"), "{failure}");
        assert_eq!(project.content("a.txt"), "x, by the user");
        assert_eq!(project.asked(), []);
        read(&project).await;
        project.run(tool, input).await.unwrap();
    }
}

#[tokio::test]
async fn after_a_change_the_next_needs_no_read() {
    let project = Project::new();
    project.run("write", write("one\n")).await.unwrap();
    project.run("edit", edit("one", "two")).await.unwrap();
    project.run("write", write("three\n")).await.unwrap();
    assert_eq!(project.content("a.txt"), "three\n");
    let hash = project.cx.reads.hash_of(&project.path("a.txt"));
    assert_eq!(hash, Some(ContentHash::of(b"three\n")));
}

#[tokio::test]
async fn what_the_user_writes_while_the_dialog_is_open_survives() {
    for (tool, input) in [("edit", edit("x", "y")), ("write", write("y"))] {
        let project = Project::new().file("a.txt", "x");
        read(&project).await;
        let path = project.path("a.txt");
        let project = project.answering(move |_| {
            std::fs::write(&path, "x, and more").unwrap();
            Ok(())
        });
        let failure = project.failure(tool, input).await;
        assert!(failure.text.contains("in the meantime"), "{failure}");
        assert_eq!(project.content("a.txt"), "x, and more");
        assert!(project.host.edited.lock().is_empty());
    }
}

#[tokio::test]
async fn a_file_made_while_the_dialog_is_open_survives() {
    for (tool, input) in [("edit", edit("", "y")), ("write", write("y"))] {
        let project = Project::new();
        let path = project.path("a.txt");
        let project = project.answering(move |_| {
            std::fs::write(&path, "the user's").unwrap();
            Ok(())
        });
        let failure = project.failure(tool, input).await;
        assert!(failure.text.contains("in the meantime"), "{failure}");
        assert_eq!(project.content("a.txt"), "the user's");
    }
}

#[tokio::test]
async fn a_denied_change_leaves_the_file_alone() {
    for (tool, input) in [("edit", edit("x", "y")), ("write", write("y"))] {
        let project = Project::new().file("a.txt", "x").denying("edit");
        read(&project).await;
        assert_eq!(project.failure(tool, input).await.kind, FailureKind::Denied);
        assert_eq!(project.content("a.txt"), "x");
    }
    let project = Project::new().denying("edit");
    project.failure("write", write("y")).await;
    assert!(!project.path("a.txt").exists());
}

#[tokio::test]
async fn nothing_is_written_while_the_store_cannot_write() {
    let project = Project::new().file("a.txt", "x");
    read(&project).await;
    *project.host.read_only.lock() = true;
    for (tool, input) in [("edit", edit("x", "y")), ("write", write("y"))] {
        let failure = project.failure(tool, input).await;
        assert!(failure.text.contains("cannot be written"), "{failure}");
        assert_eq!(project.content("a.txt"), "x");
    }
}

#[tokio::test]
async fn an_abort_during_the_dialog_writes_nothing() {
    let project = Project::new().file("a.txt", "x");
    read(&project).await;
    let cancel = project.cx.cancel.clone();
    let project = project.answering(move |_| {
        cancel.cancel();
        Ok(())
    });
    let failure = project.failure("edit", edit("x", "y")).await;
    assert_eq!(failure.kind, FailureKind::Aborted);
    assert_eq!(project.content("a.txt"), "x");
}

#[tokio::test]
async fn an_empty_old_string_creates_a_file_but_replaces_none() {
    let project = Project::new();
    let input = json!({ "filePath": "new dir/ü\n.txt", "oldString": "", "newString": "hello\r\n" });
    let result = project.run("edit", input.clone()).await.unwrap();
    assert_eq!(result.metadata["filediff"]["status"], "added");
    assert_eq!(project.content("new dir/ü\n.txt"), "hello\r\n");
    let failure = project.failure("edit", input).await;
    assert!(
        failure.text.contains("exists and is not empty"),
        "{failure}"
    );
    let project = Project::new().file("a.txt", "");
    project.run("edit", edit("", "filled\n")).await.unwrap();
    assert_eq!(project.content("a.txt"), "filled\n");
}

#[tokio::test]
async fn missing_binary_and_other_files_are_refused() {
    let project = Project::new().file("dir/x", "").file("a.txt", b"caf\xe9\n");
    read(&project).await;
    let failure = project.failure("edit", edit("caf", "tea")).await;
    assert!(failure.text.contains("not UTF-8"), "{failure}");
    let missing = json!({ "filePath": "none", "oldString": "a", "newString": "b" });
    let failure = project.failure("edit", missing).await;
    assert!(failure.text.contains("There is no file none"), "{failure}");
    let directory = json!({ "filePath": "dir", "content": "b" });
    let failure = project.failure("write", directory).await;
    assert!(failure.text.contains("it is a directory"), "{failure}");
}

#[tokio::test]
async fn write_keeps_the_line_endings_and_byte_order_mark_of_the_file() {
    let rows = [
        ("a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n"),
        ("a\nb\n", "c\r\nd\r\n", "c\nd\n"),
        ("a\nb\n", "c\nd", "c\nd\n"),
        ("a", "c\nd", "c\nd"),
        ("\u{feff}a\n", "b\n", "\u{feff}b\n"),
        ("\u{feff}a\n", "\u{feff}b\n", "\u{feff}b\n"),
        ("a\n", "", ""),
    ];
    for (before, content, after) in rows {
        let project = Project::new().file("a.txt", before);
        read(&project).await;
        project.run("write", write(content)).await.unwrap();
        assert_eq!(project.content("a.txt"), after, "{before:?}");
    }
}

#[tokio::test]
async fn a_large_file_is_shown_by_its_patch_only() {
    let before = "line\n".repeat(200_000);
    let project = Project::new().file("a.txt", format!("{before}last\n"));
    read(&project).await;
    let result = project.run("edit", edit("last", "end")).await.unwrap();
    let filediff = &result.metadata["filediff"];
    assert_eq!(filediff.get("before"), None);
    assert!(
        filediff["patch"]
            .as_str()
            .unwrap()
            .contains("-last\n+end\n")
    );
    assert!(
        filediff["patch"]
            .as_str()
            .unwrap()
            .contains("@@ -199998,4 +199998,4 @@")
    );
}

#[tokio::test]
async fn one_request_names_everything_that_a_change_outside_needs() {
    let project = Project::new();
    std::fs::create_dir(project.outside("other")).unwrap();
    let path = project.outside("other/new.txt");
    project
        .run("write", json!({ "filePath": path, "content": "y" }))
        .await
        .unwrap();
    let directory = project.outside("other").display().to_string();
    let expected = [
        ("edit".to_owned(), vec![path.display().to_string()]),
        (
            "external_directory".to_owned(),
            vec![format!("{directory}/*")],
        ),
    ];
    assert_eq!(project.asked_at_once(), expected);
    let asks = project.host.asks.lock();
    assert_eq!(asks[0].metadata["filediff"]["status"], "added");
}

#[tokio::test]
async fn why_a_change_outside_fails_is_said_only_when_its_directory_is_allowed() {
    let project = Project::new().outside_file("other/a.txt", "x");
    let path = project.outside("other/a.txt");
    let input = json!({ "filePath": path, "oldString": "z", "newString": "y" });
    let failure = project.failure("edit", input).await;
    assert!(failure.text.contains("have not read"), "{failure}");
    let directory = project.outside("other").display().to_string();
    let expected = [(
        "external_directory".to_owned(),
        vec![format!("{directory}/*")],
    )];
    assert_eq!(project.asked_at_once(), expected);
}

#[tokio::test]
async fn a_file_outside_asks_for_its_directory_first() {
    let project = Project::new()
        .outside_file("other/a.txt", "x")
        .denying("external_directory");
    let path = project.outside("other/a.txt");
    for (tool, input) in [
        (
            "edit",
            json!({ "filePath": path, "oldString": "x", "newString": "y" }),
        ),
        ("write", json!({ "filePath": path, "content": "y" })),
        (
            "write",
            json!({ "filePath": "../other/new", "content": "y" }),
        ),
    ] {
        assert_eq!(project.failure(tool, input).await.kind, FailureKind::Denied);
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x");
    assert!(!project.outside("other/new").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn the_mode_and_a_link_to_the_file_survive() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = Project::new().file("run.sh", "x\n");
    let path = project.path("run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", project.path("a.txt")).unwrap();
    read(&project).await;
    project.run("edit", edit("x", "y")).await.unwrap();
    project.run("write", write("z\n")).await.unwrap();
    assert_eq!(project.content("run.sh"), "z\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert!(project.path("a.txt").is_symlink());
    assert_eq!(project.asked()[0].1, ["run.sh"]);
}

/// PROMISES 15: between the check and the rename, a folder becomes a link out of the project.
#[cfg(unix)]
#[tokio::test]
async fn a_path_swapped_during_the_dialog_writes_nothing_outside() {
    use std::os::unix::fs::symlink;
    for (tool, file) in [
        ("edit", "dir/a.txt"),
        ("write", "dir/a.txt"),
        ("write", "dir/new.txt"),
        ("write", "dir/sub/new.txt"),
    ] {
        let project = Project::new()
            .file("dir/a.txt", "x")
            .outside_file("other/a.txt", "x");
        project
            .output("read", json!({ "filePath": "dir/a.txt" }))
            .await;
        let (dir, other) = (project.path("dir"), project.outside("other"));
        let moved = project.path("moved");
        let swap = Arc::new(move || {
            std::fs::rename(&dir, &moved).unwrap();
            symlink(&other, &dir).unwrap();
        });
        let project = project.answering(move |_| {
            swap();
            Ok(())
        });
        let input = if tool == "edit" {
            json!({ "filePath": file, "oldString": "x", "newString": "y" })
        } else {
            json!({ "filePath": file, "content": "y" })
        };
        let failure = project.failure(tool, input).await;
        assert!(failure.text.contains("lead elsewhere"), "{failure}");
        let names: Vec<_> = std::fs::read_dir(project.outside("other"))
            .unwrap()
            .collect();
        assert_eq!(names.len(), 1, "{file}");
        assert_eq!(
            std::fs::read_to_string(project.outside("other/a.txt")).unwrap(),
            "x"
        );
        assert_eq!(project.content("moved/a.txt"), "x");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_swapped_for_a_link_during_the_dialog_is_not_followed() {
    let project = Project::new()
        .file("a.txt", "x")
        .outside_file("secret", "x");
    read(&project).await;
    let (file, secret) = (project.path("a.txt"), project.outside("secret"));
    let project = project.answering(move |_| {
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&secret, &file).unwrap();
        Ok(())
    });
    let failure = project.failure("edit", edit("x", "y")).await;
    assert_eq!(failure.kind, FailureKind::Failed);
    assert_eq!(
        std::fs::read_to_string(project.outside("secret")).unwrap(),
        "x"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("LATHE_SOAK").is_some() { 2_000 } else { 100 }))]

    /// Whatever is accepted, the lines before and after the matched ones stay byte for byte.
    #[test]
    fn an_accepted_edit_changes_only_the_matched_region(
        lines in prop::collection::vec("[ \t]{0,3}[ab]{1,3}( [ab])?[ ]{0,2}", 4..12),
        endings in prop::collection::vec(any::<bool>(), 12),
        from in 0usize..8,
        count in 1usize..4,
        indent in "[ \t]{0,2}",
        new in "[xy\n ]{1,8}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let whole: Vec<String> = lines.iter().enumerate()
            .map(|(at, line)| format!("{at}{line}{}", if endings[at] { "\r\n" } else { "\n" }))
            .collect();
        let from = from.min(lines.len() - 1);
        let until = (from + count).min(lines.len());
        let old: String = (from..until).map(|at| format!("{indent}{at}{}\n", lines[at].trim_end())).collect();
        let project = Project::new().file("a.txt", whole.concat());
        let result = runtime.block_on(async {
            read(&project).await;
            project.run("edit", edit(&old, &new)).await
        });
        let after = project.content("a.txt");
        match result {
            Ok(_) => {
                prop_assert!(after.starts_with(&whole[..from].concat()), "{after:?}");
                let rest = whole[until..].concat();
                prop_assert!(after.ends_with(&rest), "{after:?} / {rest:?}");
                let middle = &after[whole[..from].concat().len()..after.len() - rest.len()];
                let ink = |text: &str| text.replace([' ', '\t', '\r', '\n'], "");
                prop_assert_eq!(ink(middle), ink(&new));
            }
            Err(_) => prop_assert_eq!(after, whole.concat()),
        }
    }
}
