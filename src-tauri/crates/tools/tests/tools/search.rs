//! list, glob and grep on real trees.

use std::time::{Duration, SystemTime};

use lathe_tools::{FailureKind, PermissionAsk, ToolFailure, Want};
use serde_json::json;

use super::support::Project;

fn age(project: &Project, name: &str, seconds: u64) {
    let file = std::fs::File::options()
        .write(true)
        .open(project.path(name))
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds))
        .unwrap();
}

fn lines(project: &Project, names: &[&str]) -> String {
    let paths: Vec<String> = names
        .iter()
        .map(|name| project.path(name).display().to_string())
        .collect();
    paths.join("\n")
}

#[tokio::test]
async fn glob_gives_the_newest_first() {
    let project = Project::new()
        .file("old.rs", "")
        .file("src/new.rs", "")
        .file("x.txt", "");
    age(&project, "old.rs", 100);
    let result = project
        .run("glob", json!({ "pattern": "*.rs" }))
        .await
        .unwrap();
    assert_eq!(result.output, lines(&project, &["src/new.rs", "old.rs"]));
    assert_eq!(result.metadata["count"], 2);
    assert_eq!(result.metadata["truncated"], false);
}

#[tokio::test]
async fn glob_patterns_with_a_slash_start_at_the_path() {
    let project = Project::new()
        .file("a/x.ts", "")
        .file("a/b/y.tsx", "")
        .file("b/x.ts", "")
        .file("x.ts", "");
    age(&project, "a/x.ts", 10);
    let both = lines(&project, &["a/b/y.tsx", "a/x.ts"]);
    assert_eq!(
        project
            .output("glob", json!({ "pattern": "a/**/*.{ts,tsx}" }))
            .await,
        both
    );
    assert_eq!(
        project
            .output("glob", json!({ "pattern": "**/*.ts*", "path": "a" }))
            .await,
        both
    );
    let absolute = format!("{}/a/*.ts", project.cx.root.display());
    let one = lines(&project, &["a/x.ts"]);
    assert_eq!(
        project.output("glob", json!({ "pattern": absolute })).await,
        one
    );
    for pattern in ["../*", "/etc/*", "", "a{b"] {
        let failure = project.failure("glob", json!({ "pattern": pattern })).await;
        assert_eq!(failure.kind, FailureKind::Failed, "{pattern}");
    }
}

#[tokio::test]
async fn ignored_files_are_left_out_hidden_ones_are_not() {
    let project = Project::new()
        .file(".gitignore", "target/\n*.log\n")
        .file("target/a.rs", "needle")
        .file("x.log", "needle")
        .file(".hidden/a.rs", "needle")
        .file(".git/config", "needle");
    let found = lines(&project, &[".hidden/a.rs"]);
    assert_eq!(
        project.output("glob", json!({ "pattern": "*.rs" })).await,
        found
    );
    let grep = project
        .run("grep", json!({ "pattern": "needle" }))
        .await
        .unwrap();
    assert_eq!(grep.output, format!("{found}:\n  1: needle"));
    let list = project.output("list", json!({})).await;
    let root = project.cx.root.display();
    assert_eq!(list, format!("{root}/\n  .hidden/\n    a.rs\n  .gitignore"));
}

#[tokio::test]
async fn glob_returns_the_hundred_newest_and_says_how_many_there_are() {
    let mut project = Project::new();
    for n in 0..130 {
        project = project.file(&format!("f{n}.txt"), "");
        age(&project, &format!("f{n}.txt"), 1_000 + n);
    }
    let result = project
        .run("glob", json!({ "pattern": "*.txt" }))
        .await
        .unwrap();
    let found: Vec<&str> = result
        .output
        .lines()
        .take_while(|line| !line.is_empty())
        .collect();
    let expected: Vec<String> = (0..100)
        .map(|n| project.path(&format!("f{n}.txt")).display().to_string())
        .collect();
    assert_eq!(found, expected);
    assert!(
        result.output.contains("newest 100 of 130"),
        "{}",
        result.output
    );
    assert_eq!(result.metadata["total"], 130);
    assert_eq!(result.metadata["truncated"], true);
}

#[tokio::test]
async fn strange_names_come_back_in_a_form_that_can_be_read() {
    let project = Project::new().file("two\nlines ü.txt", "needle\n");
    let path = project.path("two\nlines ü.txt");
    let output = project.output("glob", json!({ "pattern": "*.txt" })).await;
    assert_eq!(
        serde_json::from_str::<String>(&output).unwrap(),
        path.to_str().unwrap()
    );
    let again = project.output("read", json!({ "filePath": path })).await;
    assert!(again.contains("needle"));
    let grep = project.output("grep", json!({ "pattern": "needle" })).await;
    assert_eq!(grep, format!("{output}:\n  1: needle"));
}

#[tokio::test]
async fn grep_shows_lines_with_numbers_newest_file_first() {
    let project = Project::new()
        .file("old.rs", "fn a() {}\nfn b() {}\n")
        .file("new.rs", "//\r\nfn c() {}\r\n")
        .file("no.txt", "fn d() {}");
    age(&project, "old.rs", 100);
    let input = json!({ "pattern": r"^fn \w\(\)", "include": "*.rs" });
    let result = project.run("grep", input).await.unwrap();
    let (new, old) = (project.path("new.rs"), project.path("old.rs"));
    assert_eq!(
        result.output,
        format!(
            "{}:\n  2: fn c() {{}}\n\n{}:\n  1: fn a() {{}}\n  2: fn b() {{}}",
            new.display(),
            old.display()
        )
    );
    assert_eq!(result.metadata["matches"], 3);
    assert_eq!(result.metadata["files"], 2);
    assert_eq!(
        project.asked(),
        [("grep".to_owned(), vec![r"^fn \w\(\)".to_owned()])]
    );
}

#[tokio::test]
async fn grep_stops_at_a_hundred_matches_and_says_so() {
    let project = Project::new().file("a.txt", "x\n".repeat(150));
    let result = project
        .run("grep", json!({ "pattern": "x" }))
        .await
        .unwrap();
    assert_eq!(result.metadata["matches"], 100);
    assert_eq!(result.metadata["truncated"], true);
    let mut project = Project::new();
    for n in 0..100 {
        project = project.file(&format!("{n}.txt"), "x\n");
    }
    let result = project
        .run("grep", json!({ "pattern": "x" }))
        .await
        .unwrap();
    assert_eq!(result.metadata["matches"], 100);
    assert_eq!(result.metadata["truncated"], false);
    let result = project
        .file("more.txt", "x")
        .run("grep", json!({ "pattern": "x" }))
        .await
        .unwrap();
    assert_eq!(result.metadata["matches"], 100);
    assert_eq!(result.metadata["truncated"], true);
}

#[tokio::test]
async fn grep_handles_binary_empty_and_very_long_lines() {
    let project = Project::new()
        .file("a.bin", b"\0needle")
        .file("empty", "")
        .file("long.txt", format!("needle{}", "ü".repeat(5_000)));
    let result = project
        .run("grep", json!({ "pattern": "needle" }))
        .await
        .unwrap();
    let cut = format!("needle{}…", "ü".repeat(2_000 - 6));
    let path = project.path("long.txt");
    assert_eq!(result.output, format!("{}:\n  1: {cut}", path.display()));
}

#[tokio::test]
async fn grep_takes_one_file_and_patterns_across_lines() {
    let project = Project::new()
        .file("a.txt", "one\ntwo\n")
        .file("b.txt", "one\ntwo\n");
    let input = json!({ "pattern": r"one\ntwo", "path": "a.txt" });
    let path = project.path("a.txt");
    let expected = format!("{}:\n  1: one\n  2: two", path.display());
    assert_eq!(project.output("grep", input).await, expected);
    assert_eq!(
        project.output("grep", json!({ "pattern": "three" })).await,
        "No matches found."
    );
}

#[tokio::test]
async fn a_wrong_expression_or_directory_is_explained() {
    let project = Project::new();
    let failure = project.failure("grep", json!({ "pattern": "(" })).await;
    assert!(failure.text.contains("unclosed group"), "{failure}");
    for tool in ["grep", "glob"] {
        let failure = project
            .failure(tool, json!({ "pattern": "x", "path": "no/where" }))
            .await;
        assert_eq!(failure.text, "There is no directory no/where.");
    }
}

#[tokio::test]
async fn list_draws_a_tree_of_at_most_a_hundred_files() {
    let mut project = Project::new()
        .file("z.txt", "")
        .file("src/a.rs", "")
        .file("src/b/c.rs", "");
    let root = project.cx.root.display().to_string();
    let whole = format!("{root}/\n  src/\n    b/\n      c.rs\n    a.rs\n  z.txt");
    assert_eq!(project.output("list", json!({})).await, whole);
    let some = format!("{root}/\n  src/\n    a.rs");
    assert_eq!(
        project
            .output("list", json!({ "ignore": ["b/", "*.txt"] }))
            .await,
        some
    );
    for n in 0..120 {
        project = project.file(&format!("deep/er/{n}"), "");
    }
    let result = project.run("list", json!({})).await.unwrap();
    assert_eq!(result.metadata["count"], 100);
    assert_eq!(result.metadata["total"], 123);
    assert!(
        result.output.contains("  z.txt\n"),
        "files near the top are kept"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn searches_do_not_follow_links_out_of_the_project() {
    let project = Project::new()
        .file("a.txt", "needle")
        .outside_file("secret/b.txt", "needle");
    std::os::unix::fs::symlink(project.outside("secret"), project.path("dir")).unwrap();
    std::os::unix::fs::symlink(project.outside("secret/b.txt"), project.path("b.txt")).unwrap();
    let grep = project
        .run("grep", json!({ "pattern": "needle" }))
        .await
        .unwrap();
    assert_eq!(grep.metadata["matches"], 1);
    assert_eq!(project.asked().len(), 1);
}

#[tokio::test]
async fn grep_finds_nothing_in_files_that_may_not_be_read_and_says_how_many_there_are() {
    let is_secret = |want: &Want| want.permission == "read" && want.patterns[0].ends_with(".env");
    let secret = move |ask: &PermissionAsk| match ask.wants.iter().any(is_secret) {
        true => Err(ToolFailure::denied("no")),
        false => Ok(()),
    };
    let project = Project::new()
        .file(".env", "TOKEN=needle")
        .file("web/.env", "nothing of the kind")
        .file("a.txt", "needle")
        .answering(secret);
    let grep = project
        .run("grep", json!({ "pattern": "needle" }))
        .await
        .unwrap();
    let found = lines(&project, &["a.txt"]);
    let note = "(2 files were left out: they may not be read without a question.)";
    assert_eq!(grep.output, format!("{found}:\n  1: needle\n\n{note}"));
    assert_eq!(grep.metadata["leftOut"], 2);

    let by_name = json!({ "pattern": "needle", "path": ".env" });
    assert_eq!(
        project.failure("grep", by_name).await.kind,
        FailureKind::Denied
    );
    let by_name = json!({ "pattern": "needle", "path": "a.txt" });
    let grep = project.run("grep", by_name).await.unwrap();
    assert_eq!(grep.metadata["matches"], 1);
    let last = project.asked().pop().unwrap();
    assert_eq!(last, ("read".to_owned(), vec!["a.txt".to_owned()]));
}
