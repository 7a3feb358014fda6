//! What a stranger's repository does not get out of git.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::worktree::{self, Start};
use super::*;

/// A repository with one commit, in a folder of its own.
async fn repository() -> (TempDir, PathBuf) {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.txt"), "one\n").unwrap();
    git(&root, &["init", "--quiet"]).await;
    git(&root, &["config", "user.name", "Test"]).await;
    git(&root, &["config", "user.email", "test@localhost"]).await;
    commit_all(&root).await;
    (outside, root)
}

async fn git(folder: &Path, args: &[&str]) {
    Git::guarded(folder).run(args).await.unwrap();
}

async fn commit_all(root: &Path) {
    git(root, &["add", "--all"]).await;
    git(root, &["commit", "--quiet", "--message", "Go"]).await;
}

#[tokio::test]
async fn a_filter_that_is_set_for_new_worktrees_alone_does_not_run() {
    let (outside, root) = repository().await;
    fs::write(root.join(".gitattributes"), "* filter=x\n").unwrap();
    commit_all(&root).await;
    let mark = outside.path().join("ran");
    let filter = format!(
        "[filter \"x\"]\n\tsmudge = touch '{}'; cat\n",
        mark.display()
    );
    for (condition, name) in [("gitdir:worktrees/", "one"), ("onbranch:lathe/**", "two")] {
        fs::write(root.join(".git/evil.inc"), &filter).unwrap();
        let key = format!("includeIf.{condition}.path");
        git(&root, &["config", &key, "evil.inc"]).await;
        let original = Git::open(&root, None).await.unwrap();
        assert!(original.is_trusted());
        let made = worktree::create(&original, name, Start::Files).await;
        let file = made.unwrap().join("a.txt");
        assert_eq!(fs::read_to_string(file).unwrap(), "one\n");
        assert!(!mark.exists(), "{condition}");
        git(&root, &["config", "--unset", &key]).await;
    }
}

#[tokio::test]
async fn files_that_never_end_are_not_read_because_a_repository_names_them() {
    let (_outside, root) = repository().await;
    for key in ["core.attributesFile", "core.excludesFile", "mailmap.file"] {
        git(&root, &["config", key, "/dev/zero"]).await;
    }
    let untrusted = Git::open(&root, None).await.unwrap();
    assert!(!untrusted.is_trusted());
    let author = untrusted.line(&["log", "-1", "--format=%aN"]).await;
    assert_eq!(author.unwrap(), "Test");
    assert_eq!(untrusted.status().await.unwrap().unstaged, 0);
}

#[tokio::test]
async fn git_that_waits_or_prints_for_ever_is_stopped() {
    let (_outside, root) = repository().await;
    let open = Git::open(&root, None).await.unwrap();
    let attributes = root.join(".gitattributes");
    let made = Command::new("mkfifo").arg(&attributes).status().await;
    assert!(made.unwrap().success());
    let short = Limits {
        time: Duration::from_millis(300),
        ..Limits::of(&["status"])
    };
    let waiting = ["check-attr", "filter", "a.txt"];
    let stopped = open.output_within(short, &waiting, Vec::new()).await;
    let error = stopped.unwrap_err().to_string();
    assert_eq!(error, "git took too long and was stopped");
    let small = Limits {
        bytes: 10,
        ..Limits::of(&["status"])
    };
    let printing = ["rev-parse", "HEAD"];
    let stopped = open.output_within(small, &printing, Vec::new()).await;
    let error = stopped.unwrap_err().to_string();
    assert_eq!(error, "git printed too much and was stopped");
}

#[tokio::test]
async fn a_filter_of_a_repository_inside_does_not_run() {
    let (outside, root) = repository().await;
    let inner = root.join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("b.txt"), "one\n").unwrap();
    fs::write(inner.join(".gitattributes"), "* filter=x\n").unwrap();
    git(&inner, &["init", "--quiet"]).await;
    git(&inner, &["config", "user.name", "Test"]).await;
    git(&inner, &["config", "user.email", "test@localhost"]).await;
    commit_all(&inner).await;
    commit_all(&root).await;
    // As `git submodule add` leaves it.
    let moved = root.join(".git/modules/inner");
    fs::create_dir(root.join(".git/modules")).unwrap();
    fs::rename(inner.join(".git"), &moved).unwrap();
    fs::write(inner.join(".git"), "gitdir: ../.git/modules/inner\n").unwrap();
    git(&inner, &["config", "core.worktree", "../../../inner"]).await;
    fs::write(root.join("a.txt"), "two\n").unwrap();
    let mark = outside.path().join("ran");
    let open = Git::open(&root, None).await.unwrap();
    // As long as its settings are plain, nothing is refused.
    open.stash("").await.unwrap();
    open.unstash().await.unwrap();
    let filter = format!("touch '{}'; cat", mark.display());
    git(&inner, &["config", "filter.x.clean", &filter]).await;
    fs::write(inner.join("b.txt"), "two\n").unwrap();
    assert!(open.is_trusted());
    let stashed = open.stash("").await.unwrap_err().to_string();
    let saved = open.save_all("Go").await.unwrap_err().to_string();
    let merged = open.merge("HEAD", &BTreeMap::new()).await;
    assert!(stashed.starts_with("A repository inside this one"));
    assert_eq!([saved, merged.unwrap_err().to_string()], [&*stashed; 2]);
    assert!(!mark.exists());
}

#[tokio::test]
async fn a_script_of_the_checkout_that_a_setting_names_is_trusted_as_it_is() {
    let (_outside, root) = repository().await;
    fs::create_dir(root.join("my tools")).unwrap();
    for script in ["clean.sh", "my tools/smudge.sh"] {
        fs::write(root.join(script), "cat\n").unwrap();
    }
    let settings = [
        ("filter.x.clean", "sh ./clean.sh %f"),
        ("filter.x.smudge", "sh 'my tools/smudge.sh'"),
    ];
    for (key, value) in settings {
        git(&root, &["config", key, value]).await;
    }
    let hash = async || Git::programs(&root).await.unwrap().hash;
    let shown = hash().await;
    assert_eq!(
        Git::programs(&root.join("my tools")).await.unwrap().hash,
        shown
    );
    for script in ["clean.sh", "my tools/smudge.sh"] {
        fs::write(root.join(script), "evil\n").unwrap();
        assert_ne!(hash().await, shown, "{script}");
        fs::write(root.join(script), "cat\n").unwrap();
        assert_eq!(hash().await, shown);
    }
    fs::write(root.join("clean.sh"), "evil\n").unwrap();
    let open = Git::open(&root, Some(&shown)).await.unwrap();
    assert!(!open.is_trusted());
}

#[tokio::test]
async fn a_new_worktree_has_its_files_through_a_trusted_script_of_the_checkout() {
    let (_outside, root) = repository().await;
    fs::write(root.join(".gitattributes"), "a.txt filter=x\n").unwrap();
    fs::write(root.join("smudge.sh"), "sed s/one/two/\n").unwrap();
    commit_all(&root).await;
    git(&root, &["config", "filter.x.smudge", "sh ./smudge.sh"]).await;
    let trusted = Git::programs(&root).await.unwrap().hash;
    for (decided, name, content) in [(Some(&*trusted), "one", "two\n"), (None, "two", "one\n")] {
        let original = Git::open(&root, decided).await.unwrap();
        let made = worktree::create(&original, name, Start::Files).await;
        let file = made.unwrap().join("a.txt");
        assert_eq!(fs::read_to_string(file).unwrap(), content);
    }
}
