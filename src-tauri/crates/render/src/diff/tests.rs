use lathe_protocol::view::{DiffLine, FoldReason};

use super::property_tests::apply;
use super::write_patch::unified;
use super::*;

fn options(path: &str) -> DiffOptions {
    DiffOptions::new(path)
}

/// The line as text, with marked words in brackets.
fn shape(line: &DiffLine) -> String {
    let sign = match line.kind {
        DiffLineKind::Context => ' ',
        DiffLineKind::Add => '+',
        DiffLineKind::Del => '-',
    };
    let text: String = line
        .spans
        .iter()
        .map(|span| {
            if span.mark {
                format!("[{}]", span.text)
            } else {
                span.text.clone()
            }
        })
        .collect();
    format!("{sign}{text}")
}

#[test]
fn a_change_is_drawn_with_its_words_marked_and_both_sides_coloured() {
    let before = "fn main() {\n    let count = 1;\n    print(count);\n}\n";
    let after = "fn main() {\n    let total = 1;\n    print(count);\n}\n";
    let view = file_diff(Some(before), Some(after), &options("src/main.rs"));
    insta::assert_json_snapshot!(view);
}

#[test]
fn the_heading_of_a_hunk_is_the_function_above_it() {
    let before = format!("fn first() {{\n{}}}\n", "    a();\n".repeat(20));
    let after = before.replacen("    a();\n}", "    b();\n}", 1);
    let view = file_diff(Some(&before), Some(&after), &options("a.rs"));
    let hunk = &view.hunks[0];
    assert_eq!(hunk.heading.as_deref(), Some("fn first() {"));
    assert_eq!(
        (
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines
        ),
        (18, 5, 18, 5)
    );
}

#[test]
fn a_missing_line_break_at_the_end_is_marked() {
    let view = file_diff(Some("a\nb"), Some("a\nb\n"), &options("a"));
    let ends: Vec<(String, bool)> = view.hunks[0]
        .lines
        .iter()
        .map(|line| (shape(line), line.no_newline))
        .collect();
    assert_eq!(
        ends,
        [
            (" a".into(), false),
            ("-b".into(), true),
            ("+b".into(), false)
        ]
    );
    assert_eq!(
        unified(Some("a\nb"), Some("a\nb\n"), &options("x y")),
        "--- a/x y\n+++ b/x y\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    );
}

#[test]
fn a_new_file_and_a_deleted_file_have_one_side() {
    let view = file_diff(None, Some("a\nb\n"), &options("a"));
    assert_eq!(
        (view.status, view.additions, view.deletions),
        (DiffStatus::Added, 2, 0)
    );
    assert_eq!(view.hunks[0].old_start, 0);
    let view = file_diff(Some("a\n"), None, &options("a"));
    assert_eq!(
        (view.status, view.additions, view.deletions),
        (DiffStatus::Deleted, 0, 1)
    );
    assert_eq!(
        unified(None, Some("a\n"), &options("n")),
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+a\n"
    );
}

#[test]
fn generated_and_long_files_are_folded_unless_unfold_is_set() {
    let long = "x\n".repeat(4_000);
    let minified = "x".repeat(20_000);
    let cases = [
        ("a/Cargo.lock", "a\n", Some(FoldReason::LockFile)),
        ("app.min.js", "a\n", Some(FoldReason::Minified)),
        ("app.js", minified.as_str(), Some(FoldReason::Minified)),
        ("a.pb.go", "a\n", Some(FoldReason::Generated)),
        ("a.rs", "// @generated\n", Some(FoldReason::Generated)),
        ("a.rs", long.as_str(), Some(FoldReason::TooLong)),
        ("a.rs", "a\n", None),
    ];
    for (path, after, reason) in cases {
        let view = file_diff(Some(""), Some(after), &options(path));
        assert_eq!(view.folded, reason, "{path}");
        assert_eq!(view.hunks.is_empty(), reason.is_some(), "{path}");
        let open = DiffOptions {
            unfold: true,
            ..options(path)
        };
        assert_eq!(
            apply("", &file_diff(Some(""), Some(after), &open).hunks),
            after
        );
    }
}

#[test]
fn binary_and_renamed_files_are_recognised() {
    let view = file_diff(Some("a"), Some("\0"), &options("a"));
    assert_eq!((view.status, view.hunks.len()), (DiffStatus::Binary, 0));
    let renamed = DiffOptions {
        old_path: Some("old.rs".into()),
        ..options("new.rs")
    };
    let view = file_diff(Some("a\n"), Some("a\n"), &renamed);
    assert_eq!(
        (view.status, view.old_path.as_deref()),
        (DiffStatus::Renamed, Some("old.rs"))
    );
    assert_eq!(view.hunks, []);
}

#[test]
fn carriage_returns_are_shown_only_if_some_lines_have_none() {
    let shown = |before: &str, after: &str| {
        let view = file_diff(Some(before), Some(after), &options("a"));
        let line = view.hunks[0].lines.last().cloned();
        line.and_then(|line| line.spans.last().and_then(|span| span.shown.clone()))
    };
    assert_eq!(shown("a\r\n", "b\r\n").as_deref(), Some(""));
    assert_eq!(shown("a\n", "a\r\n").as_deref(), Some("␍"));
}

#[test]
fn a_git_patch_of_several_files_is_parsed() {
    let patch = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1,2 +1,2 @@ fn x()\n-old\n+new\n same\n\
        diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+--- x\n\
        diff --git a/c d/c b/c d/c\nold mode 100644\nnew mode 100755\n\
        diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n\
        diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n\
        diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\ndeleted file mode 100644\n\
        --- \"a/caf\\303\\251\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n";
    let files: Vec<_> = parse_unified(patch, false)
        .into_iter()
        .map(|file| (file.path, file.status, file.additions, file.deletions))
        .collect();
    assert_eq!(
        files,
        [
            ("src/a.rs".to_owned(), DiffStatus::Modified, 1, 1),
            ("b".to_owned(), DiffStatus::Added, 1, 0),
            ("c d/c".to_owned(), DiffStatus::Mode, 0, 0),
            ("to".to_owned(), DiffStatus::Renamed, 0, 0),
            ("p.png".to_owned(), DiffStatus::Binary, 0, 0),
            ("café".to_owned(), DiffStatus::Deleted, 0, 1),
        ]
    );
}

#[test]
fn a_patch_of_the_javascript_package_is_parsed() {
    let patch = "Index: /p/a.ts\n=====\n--- /p/a.ts\t2024\n+++ /p/a.ts\t2024\n@@ -1,1 +1,1 @@\n-let a\n+let b\n";
    let files = parse_unified(patch, false);
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].path, "/p/a.ts");
    assert_eq!(
        files[0].hunks[0]
            .lines
            .iter()
            .map(shape)
            .collect::<Vec<_>>(),
        ["-let [a]", "+let [b]"]
    );
}

#[test]
fn hidden_characters_in_a_change_are_shown() {
    let view = file_diff(Some("a\n"), Some("a\u{202e}\n"), &options("a.rs"));
    let line = &view.hunks[0].lines[1];
    let span = line.spans.iter().find(|span| span.text == "\u{202e}");
    assert_eq!(
        span.and_then(|span| span.shown.as_deref()),
        Some("\\u{202e}")
    );
}

#[test]
fn a_long_diff_is_complete_but_coloured_only_up_to_a_limit() {
    let before: String = (0..6_000).map(|n| format!("let a{n} = 1;\n")).collect();
    let after = before.replace("0 = 1;", "0 = 2;");
    let view = file_diff(Some(&before), Some(&after), &options("a.rs"));
    let coloured = |line: &DiffLine| line.spans.iter().any(|span| span.class.is_some());
    let lines: Vec<&DiffLine> = view.hunks.iter().flat_map(|hunk| &hunk.lines).collect();
    assert!(lines.first().is_some_and(|line| coloured(line)));
    assert!(lines.last().is_some_and(|line| !coloured(line)));
    assert!(lines.iter().filter(|line| coloured(line)).count() <= crate::highlight::MAX_LINES);
    assert_eq!(apply(&before, &view.hunks), after);
}
