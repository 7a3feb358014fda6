//! A git repository that is configured to run programs when it is read.

use std::{fs, os::unix::fs::symlink};

use crate::support::{World, set_mode};

/// Configures everything that git would run, so that it leaves a trace. Returns the trace's path.
fn make_hostile(world: &World) -> String {
    let trace = world.data().join("ran");
    let script = format!("#!/bin/sh\ntouch {}\n", trace.display());
    world.write("evil.sh", &script);
    set_mode(&world.at("evil.sh"), 0o755);
    let evil = world.at("evil.sh").display().to_string();
    fs::create_dir_all(world.at(".git/hooks")).unwrap();
    fs::create_dir_all(world.at(".git/objects/info")).unwrap();
    fs::create_dir_all(world.at(".git/refs")).unwrap();
    for hook in [
        "post-index-change",
        "pre-commit",
        "fsmonitor-watchman",
        "reference-transaction",
    ] {
        fs::copy(world.at("evil.sh"), world.at(&format!(".git/hooks/{hook}"))).unwrap();
    }
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write(
        ".git/config",
        format!(
            "[core]\n\tfsmonitor = {evil}\n\thooksPath = {evil}\n\tsshCommand = {evil}\n\
             \teditor = {evil}\n\tworktree = /\n\tbare = true\n\texcludesFile = {evil}\n\
             [include]\n\tpath = {evil}\n[filter \"f\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\
             \tprocess = {evil}\n\trequired = true\n[diff \"d\"]\n\ttextconv = {evil}\n\
             \tcommand = {evil}\n[merge \"m\"]\n\tdriver = {evil}\n[extensions]\n\tworktreeConfig = true\n"
        ),
    );
    world.write(".git/objects/info/alternates", "/etc\n../../..\n");
    world.write(
        ".gitattributes",
        "* filter=f diff=d merge=m text eol=crlf\n",
    );
    world.write("code.txt", "line\n");
    // A bare repository as ordinary files of the work tree.
    world.write("bare/HEAD", "ref: refs/heads/main\n");
    world.write("bare/config", format!("[core]\n\tfsmonitor = {evil}\n"));
    world.write("bare/objects/x", "");
    world.write("bare/refs/x", "");
    world.write("nested/.git", format!("gitdir: {evil}\n"));
    world.write("nested/file", "1");
    trace.display().to_string()
}

#[test]
fn taking_comparing_and_restoring_runs_no_program_and_changes_no_git_folder() {
    let world = World::new();
    let trace = make_hostile(&world);
    let git_before: Vec<_> = world
        .files()
        .into_iter()
        .filter(|(path, _)| path.starts_with(".git/"))
        .collect();

    let before = world.take();
    world.write("code.txt", "agent\n");
    world.write("new.txt", "agent\n");
    let after = world.take();
    world.repo.diff(before.hash, after.hash).unwrap();
    let outcome = world.revert(&before, &after);
    world.repo.collect_garbage().unwrap();

    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.read("code.txt"), "line\n", "no filter touched it");
    assert!(!fs::exists(&trace).unwrap(), "something ran");
    let git_after: Vec<_> = world
        .files()
        .into_iter()
        .filter(|(path, _)| path.starts_with(".git/"))
        .collect();
    assert_eq!(git_after, git_before);
    assert_eq!(
        world.snapshot_files(before.hash)["bare/HEAD"].1,
        b"ref: refs/heads/main\n"
    );
}

#[test]
fn rule_files_and_indexes_that_are_pipes_or_links_are_ignored() {
    let world = World::new();
    world.write("a", "1");
    fs::create_dir_all(world.at(".git/info")).unwrap();
    for pipe in [".git/index", ".git/info/exclude", ".gitignore"] {
        let made = std::process::Command::new("mkfifo")
            .arg(world.at(pipe))
            .status()
            .unwrap();
        assert!(made.success());
    }
    world.write("dir/b", "2");
    symlink("/dev/zero", world.at("dir/.gitignore")).unwrap();
    let taken = world.take();
    let files: Vec<_> = world.snapshot_files(taken.hash).into_keys().collect();
    assert_eq!(files, ["a", "dir/.gitignore", "dir/b"]);
}

#[test]
fn an_invalid_git_index_tracks_nothing() {
    let world = World::new();
    world.write("a", "1");
    world.write(".gitignore", "*.log\n");
    world.write("x.log", "1");
    for index in [
        &b"DIRC\0\0\0\x02\xff\xff\xff\xff"[..],
        b"DIRC\0\0\0\x04\0\0\0\x01",
        &[0xff; 500],
    ] {
        world.write(".git/index", index);
        let files: Vec<_> = world
            .snapshot_files(world.take().hash)
            .into_keys()
            .collect();
        assert_eq!(files, [".gitignore", "a"]);
    }
}
