//! apply_patch: permissions, results and undo.

use lathe_tools::{ContentHash, FailureKind};
use serde_json::{Value, json};

use super::patch_table::{all_files, with_files};
use super::support::Project;

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Update File: b\n*** Move to: dir/c\n@@\n-2\n+two\n*** Add File: d\n+new\n*** Delete File: e\n*** End Patch";

fn project() -> Project {
    with_files(&[("a", "1\n"), ("b", "2\n"), ("e", "5\n")])
}

fn input(patch: &str) -> Value {
    json!({ "patchText": patch })
}

#[tokio::test]
async fn one_question_names_every_file_and_shows_every_difference() {
    let project = project();
    let result = project.run("apply_patch", input(PATCH)).await.unwrap();
    let asks = project.host.asks.lock().clone();
    assert_eq!(asks.len(), 1);
    assert_eq!(asks[0].wants[0].permission, "edit");
    assert_eq!(asks[0].wants[0].patterns, ["a", "b", "dir/c", "d", "e"]);
    assert_eq!(asks[0].metadata["diff"], result.metadata["diff"]);
    let diff = result.metadata["diff"].as_str().unwrap();
    for part in [
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n",
        "+++ b/dir/c",
        "--- /dev/null\n+++ b/d\n",
        "--- a/e\n+++ /dev/null\n",
    ] {
        assert!(diff.contains(part), "{diff}");
    }
    let files: Vec<(&str, &str)> = result.metadata["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            (
                file["file"].as_str().unwrap(),
                file["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        files,
        [
            ("a", "modified"),
            ("dir/c", "renamed"),
            ("d", "added"),
            ("e", "deleted")
        ]
    );
    assert_eq!(
        result.output,
        "The patch was applied:\nUpdated a (+1 -1)\nMoved b to dir/c (+1 -1)\nAdded d (+1 -0)\nDeleted e (+0 -1)"
    );
    let edited = ["a", "b", "dir/c", "d", "e"].map(|name| project.path(name));
    assert_eq!(*project.host.edited.lock(), edited);
    let seen = project.cx.reads.hash_of(&project.path("dir/c"));
    assert_eq!(seen, Some(ContentHash::of(b"two\n")));
}

#[tokio::test]
async fn a_denied_or_unwritable_patch_leaves_every_file_alone() {
    let untouched = all_files(&project().cx.root);
    let denied = project().denying("edit");
    assert_eq!(
        denied.failure("apply_patch", input(PATCH)).await.kind,
        FailureKind::Denied
    );
    assert_eq!(all_files(&denied.cx.root), untouched);
    let unwritable = project();
    *unwritable.host.read_only.lock() = true;
    unwritable.failure("apply_patch", input(PATCH)).await;
    assert_eq!(all_files(&unwritable.cx.root), untouched);
}

#[tokio::test]
async fn a_file_changed_during_the_dialog_undoes_the_whole_patch() {
    for changed in ["a", "b", "e", "d", "dir/c"] {
        let project = project();
        let path = project.path(changed);
        let project = project.answering(move |_| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "the user's\n").unwrap();
            Ok(())
        });
        let failure = project.failure("apply_patch", input(PATCH)).await;
        assert!(
            failure.text.contains("No file of the patch was changed"),
            "{failure}"
        );
        let mut expected = all_files(&self::project().cx.root);
        expected.insert(changed.to_owned(), "the user's\n".to_owned());
        assert_eq!(all_files(&project.cx.root), expected, "{changed}");
        assert!(project.host.edited.lock().is_empty());
    }
}

/// Under its new name nothing would protect it.
#[tokio::test]
async fn a_file_that_may_not_be_read_is_not_moved() {
    let patch =
        input("*** Begin Patch\n*** Update File: .env\n*** Move to: notes.txt\n*** End Patch");
    let project = with_files(&[(".env", "KEY=1\n")]).denying("read");
    let untouched = all_files(&project.cx.root);
    let failure = project.failure("apply_patch", patch).await;
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(all_files(&project.cx.root), untouched);
    let asks = project.host.asks.lock().clone();
    let wants = asks[0].wants.iter();
    let wants: Vec<_> = wants
        .map(|want| (&*want.permission, want.patterns.join(" ")))
        .collect();
    let expected = [("edit", ".env notes.txt"), ("read", ".env")];
    assert_eq!(
        wants,
        expected.map(|(permission, path)| (permission, path.to_owned()))
    );
}

/// A hard link in place of a file's own name.
#[cfg(unix)]
#[tokio::test]
async fn another_name_of_a_secret_is_moved_only_if_the_secret_may_be_read() {
    let project = with_files(&[(".env", "KEY=1\n")]);
    std::fs::hard_link(project.path(".env"), project.path("link")).unwrap();
    let is_secret =
        |want: &lathe_tools::context::Want| want.permission == "read" && want.patterns == [".env"];
    let project = project.answering(move |ask| match ask.wants.iter().any(is_secret) {
        true => Err(lathe_tools::ToolFailure::denied("no")),
        false => Ok(()),
    });
    let patch = "*** Begin Patch\n*** Update File: link\n*** Move to: notes.txt\n*** End Patch";
    let failure = project.failure("apply_patch", input(patch)).await;
    assert_eq!(failure.kind, FailureKind::Denied);
    assert!(!project.path("notes.txt").exists());
}

#[tokio::test]
async fn places_outside_ask_for_their_directory_first() {
    for patch in [
        "*** Add File: ../other/x\n+y",
        "*** Delete File: ../other/a",
        "*** Update File: a\n*** Move to: ../other/b",
    ] {
        let project = project()
            .outside_file("other/a", "x")
            .denying("external_directory");
        let patch = format!("*** Begin Patch\n{patch}\n*** End Patch");
        assert_eq!(
            project.failure("apply_patch", input(&patch)).await.kind,
            FailureKind::Denied
        );
        assert_eq!(project.content("a"), "1\n");
        assert_eq!(
            std::fs::read_dir(project.outside("other")).unwrap().count(),
            1
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn modes_survive_a_move_and_an_undo() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |project: &Project, name: &str| {
        project.path(name).metadata().unwrap().permissions().mode() & 0o777
    };
    let executable = |project: &Project, name: &str| {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path(name), mode).unwrap();
    };
    let project = self::project();
    executable(&project, "b");
    project.run("apply_patch", input(PATCH)).await.unwrap();
    assert_eq!(mode(&project, "dir/c"), 0o755);

    let project = self::project();
    executable(&project, "b");
    let path = project.path("e");
    let project = project.answering(move |_| {
        std::fs::write(&path, "changed").unwrap();
        Ok(())
    });
    project.failure("apply_patch", input(PATCH)).await;
    assert_eq!(mode(&project, "b"), 0o755);
}

/// PROMISES 15: between the check and the rename, the directory becomes a link out of the project.
#[cfg(unix)]
#[tokio::test]
async fn a_path_swapped_during_the_dialog_writes_nothing_outside() {
    for patch in [
        "*** Update File: dir/a\n@@\n-1\n+2",
        "*** Add File: dir/new\n+x",
        "*** Delete File: dir/a",
        "*** Update File: b\n*** Move to: dir/b",
    ] {
        let project = with_files(&[("dir/a", "1\n"), ("b", "2\n")]).outside_file("other/a", "1\n");
        let (dir, moved, other) = (
            project.path("dir"),
            project.path("moved"),
            project.outside("other"),
        );
        let project = project.answering(move |_| {
            std::fs::rename(&dir, &moved).unwrap();
            std::os::unix::fs::symlink(&other, &dir).unwrap();
            Ok(())
        });
        let patch = format!("*** Begin Patch\n{patch}\n*** End Patch");
        let failure = project.failure("apply_patch", input(&patch)).await;
        assert!(failure.text.contains("lead elsewhere"), "{failure}");
        let outside = all_files(&project.outside("other"));
        assert_eq!(
            outside.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), "1\n".to_owned())]
        );
        assert_eq!(project.content("moved/a"), "1\n");
        assert_eq!(project.content("b"), "2\n");
    }
}
