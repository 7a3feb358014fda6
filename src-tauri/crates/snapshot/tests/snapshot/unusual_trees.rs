//! Work trees with special files, nested repositories, ignored files and renamed folders.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener, process::CommandExt},
    process::Command,
};

use lathe_snapshot::{Mode, Reason, Skipped};

use crate::support::{World, names, set_mode};

fn skipped(path: &str, reason: Reason) -> Skipped {
    Skipped {
        path: path.into(),
        reason,
    }
}

fn fifo(world: &World, path: &str) {
    let made = Command::new("mkfifo").arg(world.at(path)).status().unwrap();
    assert!(made.success());
}

fn git(world: &World, at: &str, args: &[&str]) -> bool {
    Command::new("git")
        .current_dir(world.at(at))
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .output()
        .is_ok_and(|done| done.status.success())
}

#[test]
fn skipped_files_are_reported_and_the_others_are_taken() {
    let world = World::new();
    world.write("plain", "1");
    fifo(&world, "pipe");
    let _socket = UnixListener::bind(world.at("socket")).unwrap();
    let big = fs::File::create(world.at("binary")).unwrap();
    big.set_len(64 << 20).unwrap();
    world.write("odd\nname", "2");
    symlink("nowhere", world.at("dangling")).unwrap();
    symlink("/etc/passwd", world.at("outward")).unwrap();
    symlink("..", world.at("up")).unwrap();

    let taken = world.take();

    assert!(!taken.complete);
    assert_eq!(
        taken.skipped,
        [
            skipped("binary", Reason::TooLarge),
            skipped("pipe", Reason::Special),
            skipped("socket", Reason::Special),
        ]
    );
    let files = world.snapshot_files(taken.hash);
    assert_eq!(
        files
            .iter()
            .map(|(path, (mode, bytes))| (path.as_str(), *mode, bytes.as_slice()))
            .collect::<Vec<_>>(),
        [
            ("dangling", Mode::Link, &b"nowhere"[..]),
            ("odd\nname", Mode::File, b"2"),
            ("outward", Mode::Link, b"/etc/passwd"),
            ("plain", Mode::File, b"1"),
            ("up", Mode::Link, b".."),
        ]
    );
}

#[test]
fn an_incomplete_snapshot_deletes_nothing() {
    let world = World::new();
    fifo(&world, "pipe");
    fs::File::create(world.at("large"))
        .unwrap()
        .set_len(3 << 20)
        .unwrap();
    fs::create_dir(world.at("locked")).unwrap();
    let before = world.take();
    for path in ["pipe", "large"] {
        world.remove(path);
        world.write(path, "a file now");
    }
    let after = world.take();
    let outcome = world.revert(&before, &after);
    assert_eq!(outcome.trashed, []);
    assert_eq!(
        names(outcome.conflicts.iter().map(|(path, _)| path)),
        ["large", "pipe"]
    );
}

/// Root can read everything, so as root this test runs itself again as another user.
#[test]
fn unreadable_files_and_folders_are_reported_and_never_deleted() {
    if rustix::process::geteuid().is_root() {
        let again = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "unusual_trees::unreadable_files_and_folders_are_reported_and_never_deleted",
            ])
            .env("HOME", "/nonexistent")
            .uid(65534)
            .gid(65534)
            .output();
        match again {
            Ok(done) => assert!(
                done.status.success(),
                "{}",
                String::from_utf8_lossy(&done.stdout)
            ),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
        }
        return;
    }
    let world = World::new();
    world.write("secret", "1");
    world.write("closed/inner", "2");
    set_mode(&world.at("secret"), 0o000);
    set_mode(&world.at("closed"), 0o000);
    let before = world.take();
    set_mode(&world.at("secret"), 0o600);
    set_mode(&world.at("closed"), 0o700);
    assert_eq!(
        before.skipped,
        [
            skipped("closed", Reason::Unreadable),
            skipped("secret", Reason::Unreadable)
        ]
    );
    let after = world.take();
    assert!(after.complete);
    let outcome = world.revert(&before, &after);
    assert_eq!((outcome.trashed.len(), outcome.conflicts.len()), (0, 2));
}

#[test]
fn nested_repositories_are_taken_file_by_file_without_their_git_folder() {
    let world = World::new();
    world.write(".gitignore", "*.log\n");
    world.write("x.log", "ignored here");
    for (at, commits) in [("empty", false), ("full", true)] {
        world.write(&format!("{at}/.gitignore"), "skip\n");
        world.write(&format!("{at}/skip"), "0");
        world.write(&format!("{at}/code"), "1");
        world.write(&format!("{at}/y.log"), "its own rules");
        assert!(git(&world, at, &["init", "-q"]));
        if commits {
            assert!(git(&world, at, &["add", "-A"]) && git(&world, at, &["commit", "-qm", "m"]));
        }
    }
    // In a submodule, `.git` is a file.
    world.write("sub/.git", "gitdir: ../full/.git\n");
    world.write("sub/code", "2");
    let taken = world.take();
    assert!(taken.complete);
    assert_eq!(
        world
            .snapshot_files(taken.hash)
            .into_keys()
            .collect::<Vec<_>>(),
        [
            ".gitignore",
            "empty/.gitignore",
            "empty/code",
            "empty/y.log",
            "full/.gitignore",
            "full/code",
            "full/y.log",
            "sub/code",
        ]
    );
}

#[test]
fn tracked_files_are_taken_even_if_large_or_ignored() {
    let world = World::new();
    world.write("build/keep", "kept");
    world.write("model.bin", vec![1; 3 << 20]);
    assert!(git(&world, "", &["init", "-q"]) && git(&world, "", &["add", "-A"]));
    world.write(".gitignore", "build/\n*.tmp\n");
    world.write("build/out", "not tracked");
    world.write("a.tmp", "not tracked");
    world.write("other.bin", vec![2; 3 << 20]);
    let taken = world.take();
    assert_eq!(taken.skipped, [skipped("other.bin", Reason::TooLarge)]);
    assert_eq!(
        world
            .snapshot_files(taken.hash)
            .into_keys()
            .collect::<Vec<_>>(),
        [".gitignore", "build/keep", "model.bin"]
    );
}

#[test]
fn changed_ignore_rules_take_effect_at_once() {
    let world = World::new();
    world.write("deep/a/x.log", "1");
    world.write("deep/a/y.txt", "2");
    let keys = |world: &World| {
        world
            .snapshot_files(world.take().hash)
            .into_keys()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&world), ["deep/a/x.log", "deep/a/y.txt"]);
    world.write(".gitignore", "*.log\n");
    assert_eq!(keys(&world), [".gitignore", "deep/a/y.txt"]);
    world.write("deep/.gitignore", "!*.log\n*.txt\n");
    assert_eq!(
        keys(&world),
        [".gitignore", "deep/.gitignore", "deep/a/x.log"]
    );
    fs::create_dir_all(world.at(".git/info")).unwrap();
    world.write(".git/info/exclude", "deep\n");
    assert_eq!(keys(&world), [".gitignore"]);
}

#[test]
fn a_change_within_one_tick_of_the_clock_is_seen() {
    let world = World::new();
    world.write("a", "first");
    for n in 0..50 {
        let text = format!("{n:05}");
        world.write("a", &text);
        let taken = world.take();
        assert_eq!(world.snapshot_files(taken.hash)["a"].1, text.into_bytes());
    }
}

#[test]
fn folders_that_move_and_swap_are_followed() {
    let world = World::new();
    world.write("one/deep/x", "1");
    world.write("two/deep/x", "2");
    world.take();
    fs::rename(world.at("one"), world.at("three")).unwrap();
    fs::rename(world.at("two"), world.at("one")).unwrap();
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
    world.write("one/deep/x", "3");
    world.write("three/deep/y", "4");
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
    fs::remove_dir_all(world.at("three")).unwrap();
    world.write("three", "a file");
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
}

#[test]
fn a_change_through_a_hard_link_is_seen() {
    let world = World::new();
    let outside = world.data().join("outside");
    fs::write(&outside, "1").unwrap();
    fs::hard_link(&outside, world.at("inside")).unwrap();
    world.take();
    fs::write(&outside, "two").unwrap();
    assert_eq!(world.snapshot_files(world.take().hash)["inside"].1, b"two");
}

#[test]
fn a_tree_that_is_too_deep_is_reported() {
    let world = World::new();
    let deep = "d/".repeat(220);
    world.write(&format!("{deep}x"), "1");
    let taken = world.take();
    assert_eq!(taken.skipped.len(), 1);
    assert_eq!(taken.skipped[0].reason, Reason::TooDeep);
}
