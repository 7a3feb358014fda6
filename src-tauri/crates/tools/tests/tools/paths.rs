//! PROMISES 15: nothing outside the project is read or written without a permission.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lathe_tools::files::{self, Expected};
use lathe_tools::paths::{BadPath, Place};
use lathe_tools::{ContentHash, FailureKind, ToolFailure};
use serde_json::json;

use super::support::Project;

fn with_links() -> Project {
    let project = Project::new()
        .file("src/a.txt", "inside")
        .outside_file("secret/key.txt", "outside")
        .outside_file("home/notes.txt", "outside");
    symlink(project.outside("secret"), project.path("out")).unwrap();
    symlink("out", project.path("out2")).unwrap();
    symlink("../secret/key.txt", project.path("key")).unwrap();
    symlink("../secret/new.txt", project.path("dangling")).unwrap();
    symlink("src", project.path("in")).unwrap();
    symlink("loop2", project.path("loop1")).unwrap();
    symlink("loop1", project.path("loop2")).unwrap();
    project
}

#[tokio::test]
async fn every_path_out_of_the_project_asks_and_a_denial_reads_nothing() {
    let project = with_links().denying("external_directory");
    let secret = project.outside("secret");
    let home = project.outside("home");
    let root = project.cx.root.display().to_string();
    for (given, directory) in [
        ("../secret/key.txt".to_owned(), &secret),
        ("src/../../secret/key.txt".to_owned(), &secret),
        ("./src/./../../secret//key.txt".to_owned(), &secret),
        ("nowhere/../../secret/key.txt".to_owned(), &secret),
        (format!("{}/key.txt", secret.display()), &secret),
        (format!("{root}/../secret/key.txt"), &secret),
        ("out/key.txt".to_owned(), &secret),
        ("out2/key.txt".to_owned(), &secret),
        ("in/../out/key.txt".to_owned(), &secret),
        ("key".to_owned(), &secret),
        ("dangling".to_owned(), &secret),
        ("out/../secret/key.txt".to_owned(), &secret),
        ("~/notes.txt".to_owned(), &home),
    ] {
        project.host.asks.lock().clear();
        let failure = project.failure("read", json!({ "filePath": given })).await;
        assert_eq!(failure.kind, FailureKind::Denied, "{given}");
        let pattern = format!("{}/*", directory.display());
        let place = project.cx.resolve(&given).unwrap();
        let expected = [
            ("read".to_owned(), vec![place.shown().to_owned()]),
            ("external_directory".to_owned(), vec![pattern.clone()]),
        ];
        assert_eq!(project.asked_at_once(), expected, "{given}");
        assert_eq!(
            project.host.asks.lock()[0].wants[1].always,
            [pattern],
            "{given}"
        );
    }
}

#[tokio::test]
async fn paths_inside_the_project_do_not_ask() {
    let project = with_links();
    let root = project.cx.root.display().to_string();
    for given in [
        "src/a.txt".to_owned(),
        "./src/../src/a.txt".to_owned(),
        "in/a.txt".to_owned(),
        format!("{root}/in/a.txt"),
        format!(
            "../{}/src/a.txt",
            project.cx.root.file_name().unwrap().display()
        ),
    ] {
        project.host.asks.lock().clear();
        assert!(
            project
                .output("read", json!({ "filePath": given }))
                .await
                .contains("inside")
        );
        let expected = [("read".to_owned(), vec!["src/a.txt".to_owned()])];
        assert_eq!(project.asked(), expected, "{given}");
    }
}

#[tokio::test]
async fn searching_and_running_elsewhere_asks_too() {
    let project = with_links().denying("external_directory");
    let outside = project.outside("secret").display().to_string();
    let pattern = format!("{outside}/*");
    for (tool, first, input) in [
        ("list", &*outside, json!({ "path": "out" })),
        ("glob", "*", json!({ "pattern": "*", "path": "../secret" })),
        ("grep", "x", json!({ "pattern": "x", "path": "out2" })),
        (
            "bash",
            "ls",
            json!({ "command": "ls", "description": "d", "workdir": "out" }),
        ),
    ] {
        project.host.asks.lock().clear();
        assert_eq!(
            project.failure(tool, input).await.kind,
            FailureKind::Denied,
            "{tool}"
        );
        let expected = [
            (tool.to_owned(), vec![first.to_owned()]),
            ("external_directory".to_owned(), vec![pattern.clone()]),
        ];
        assert_eq!(project.asked_at_once(), expected, "{tool}");
    }
}

#[tokio::test]
async fn a_directory_name_with_wildcards_offers_no_always() {
    let project = Project::new()
        .outside_file("*/key.txt", "x")
        .denying("external_directory");
    project
        .failure("read", json!({ "filePath": "../*/key.txt" }))
        .await;
    let asks = project.host.asks.lock();
    assert_eq!(asks[0].wants[1].always, Vec::<String>::new());
}

#[test]
fn paths_that_cannot_be_used_are_refused() {
    let project = with_links();
    assert_eq!(project.cx.resolve(""), Err(BadPath::Empty));
    assert_eq!(project.cx.resolve("a\0b"), Err(BadPath::Nul));
    assert_eq!(project.cx.resolve("loop1/x"), Err(BadPath::Loop));
}

#[test]
fn a_dangling_link_is_checked_and_shown_by_its_target() {
    let project = with_links();
    let place = project.cx.resolve("dangling").unwrap();
    assert_eq!(place.path(), project.outside("secret/new.txt"));
    assert!(!place.is_inside());
    assert_eq!(project.cx.resolve(".").unwrap().shown(), ".");
}

/// After the check, a component of the path is replaced with a link to the outside.
#[test]
fn a_swap_between_check_and_use_reads_and_writes_nothing_outside() {
    let project = with_links();
    let file = project.cx.resolve("src/key.txt").unwrap();
    let new = project.cx.resolve("src/deep/new.txt").unwrap();
    std::fs::remove_dir_all(project.path("src")).unwrap();
    symlink(project.outside("secret"), project.path("src")).unwrap();
    assert!(files::open(&file).is_err());
    let hash = Expected::Content(ContentHash::of(b"outside"));
    assert!(files::replace(&file, b"hacked", hash).is_err());
    assert!(files::remove(&file, ContentHash::of(b"outside")).is_err());
    assert!(files::replace(&new, b"hacked", Expected::Absent).is_err());
    let link = project.cx.root.join("src2");
    let direct: Place = project.cx.resolve("src2").unwrap();
    symlink(project.outside("secret/key.txt"), &link).unwrap();
    assert!(files::open(&direct).is_err());
    assert!(files::replace(&direct, b"hacked", Expected::Absent).is_err());
    assert!(files::replace(&direct, b"hacked", hash).is_err());
    let secret = std::fs::read_to_string(project.outside("secret/key.txt")).unwrap();
    assert_eq!(secret, "outside");
    let names: Vec<_> = std::fs::read_dir(project.outside("secret"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1);
}

/// The same as a race: one thread swaps as fast as it can during reads and writes.
#[test]
fn a_racing_swap_never_reads_or_writes_outside() {
    let rounds = if std::env::var_os("LATHE_SOAK").is_some() {
        20_000
    } else {
        500
    };
    let project = with_links().file("dir/key.txt", "inside");
    let (dir, aside) = (project.path("dir"), project.path("aside"));
    let secret = project.outside("secret");
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&dir, &aside).unwrap();
                // A write that finds no folder creates one. Then the link cannot be created, and
                // the new folder must be replaced with the one that was moved aside.
                if symlink(&secret, &dir).is_ok() {
                    std::fs::remove_file(&dir).unwrap();
                }
                while std::fs::rename(&aside, &dir).is_err() {
                    let _ = std::fs::remove_dir_all(&dir);
                }
            }
        }
    });
    for round in 0..rounds {
        let Ok(place) = project.cx.resolve("dir/key.txt") else {
            continue;
        };
        if !place.is_inside() {
            continue;
        }
        let Ok(bytes) = files::read(&place, 1_000) else {
            continue;
        };
        assert_ne!(bytes, b"outside");
        let content = format!("inside {round}");
        let expected = Expected::Content(ContentHash::of(&bytes));
        let _ = files::replace(&place, content.as_bytes(), expected);
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    let secret = std::fs::read_to_string(project.outside("secret/key.txt")).unwrap();
    assert_eq!(secret, "outside");
    let place = project.cx.resolve("dir/key.txt").unwrap();
    let expected = Expected::Content(ContentHash::of(&files::read(&place, 1_000).unwrap()));
    files::replace(&place, b"at rest it works", expected).unwrap();
}

/// Asks about `.env`, as the rules do, and says no.
fn keeping_env(project: Project) -> Project {
    project.answering(|ask| {
        let read = ask.wants.iter().filter(|want| want.permission == "read");
        match read
            .flat_map(|want| &want.patterns)
            .any(|path| path == ".env")
        {
            true => Err(ToolFailure::denied("no")),
            false => Ok(()),
        }
    })
}

#[tokio::test]
async fn another_name_of_a_file_that_may_not_be_read_is_asked_about_as_that_file() {
    let project = keeping_env(
        Project::new()
            .file(".env", "TOKEN=needle")
            .file(".gitignore", ".env")
            .file("src/plain.txt", "needle"),
    );
    std::fs::hard_link(project.path(".env"), project.path("src/notes.txt")).unwrap();
    std::fs::hard_link(project.path("src/plain.txt"), project.path("src/same.txt")).unwrap();

    let input = json!({ "filePath": "src/notes.txt" });
    assert_eq!(
        project.failure("read", input).await.kind,
        FailureKind::Denied
    );
    let expected = [
        ("read".to_owned(), vec!["src/notes.txt".to_owned()]),
        ("read".to_owned(), vec![".env".to_owned()]),
    ];
    assert_eq!(project.asked_at_once(), expected);

    let by_name = json!({ "pattern": "needle", "path": "src/notes.txt" });
    assert_eq!(
        project.failure("grep", by_name).await.kind,
        FailureKind::Denied
    );
    let grep = project
        .run("grep", json!({ "pattern": "needle", "path": "src" }))
        .await
        .unwrap();
    assert_eq!(
        (&grep.metadata["files"], &grep.metadata["leftOut"]),
        (&json!(2), &json!(1))
    );
    assert!(!grep.output.contains("TOKEN"), "{}", grep.output);

    let input = json!({ "filePath": "src/same.txt" });
    assert!(project.output("read", input).await.contains("needle"));
}

#[tokio::test]
async fn a_project_folder_that_is_gone_is_not_made_again() {
    let project = Project::new();
    std::fs::remove_dir_all(&project.cx.root).unwrap();
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch";
    for (tool, input) in [
        ("write", json!({ "filePath": "a/b.txt", "content": "x" })),
        (
            "edit",
            json!({ "filePath": "a.txt", "oldString": "", "newString": "x" }),
        ),
        ("apply_patch", json!({ "patchText": patch })),
    ] {
        let failure = project.failure(tool, input).await;
        assert!(failure.text.contains("is gone"), "{tool}: {failure}");
        assert!(!project.cx.root.exists(), "{tool}");
    }
}
