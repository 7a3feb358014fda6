//! Limits: what is always allowed, and what goes first.

use std::fs;

use lathe_snapshot::{Coverage, Options, Reason, SideRepo, SnapshotError};

use crate::support::{World, names, options, path};

/// Bytes that neither compress nor are like those of another seed.
fn noise(seed: u32, bytes: u32) -> Vec<u8> {
    let mix = |n: u32| (n ^ n >> 15).wrapping_mul(0x2c1b_3c6d);
    let words = (0..bytes / 4).map(|n| mix(mix(n + seed * 1_000_003)));
    words.flat_map(u32::to_le_bytes).collect()
}

#[test]
fn at_the_limit_and_on_a_full_disk_what_exists_is_still_reverted() {
    let mut world = World::new();
    world.write("file", "before");
    let before = world.take();
    world.write("file", "agent");
    let after = world.take();
    for refused in [
        Options {
            limit: 1,
            ..options()
        },
        Options {
            keep_free: u64::MAX,
            ..options()
        },
    ] {
        world.reopen_with(refused);
        assert!(world.repo.take("session").is_err());

        let safety = world.repo.take_safety("session").unwrap();
        assert_eq!(safety.hash, after.hash);
        let outcome = world.revert(&before, &safety);
        assert_eq!(names(&outcome.written), ["file"]);
        assert_eq!(world.read("file"), "before");

        let reverted = world.repo.take_safety("session").unwrap();
        let outcome = world.revert(&safety, &reverted);
        assert_eq!(names(&outcome.written), ["file"]);
        assert_eq!(world.read("file"), "agent");
    }
}

#[test]
fn the_oldest_snapshots_that_may_go_make_room() {
    let mut world = World::new();
    let mut taken = Vec::new();
    for n in 0..10 {
        world.write("noise", noise(n, 40_000));
        taken.push(world.take_once().reference);
    }
    world.reopen_with(Options {
        limit: 340_000,
        ..options()
    });
    world.write("noise", noise(99, 40_000));
    let full = world.repo.take("session");
    assert!(
        matches!(full, Err(SnapshotError::OverLimit { .. })),
        "{full:?}"
    );

    // The first is in use.
    let released = world.repo.make_room(&taken[1..]).unwrap();

    assert_eq!(released, taken[1..4]);
    assert!(world.repo.contains(taken[0].tree()));
    assert!(world.repo.contains(taken[4].tree()));
    assert!(world.repo.take("session").is_ok());
}

#[test]
fn a_snapshot_says_for_which_paths_it_can_speak() {
    let world = World::new();
    world.write(".gitignore", "*.log\n");
    world.write("a.log", "ignored");
    world.write("big", vec![1; 3 << 20]);
    world.write("file", "1");
    let taken = world.take();

    let coverage = world.repo.coverage(taken.hash).unwrap();

    let of = |at: &str| coverage.of(&path(at));
    assert_eq!(of("file"), Coverage::Covered);
    assert_eq!(of("nothing/there"), Coverage::Covered);
    assert_eq!(of("a.log"), Coverage::LeftOut(Reason::Ignored));
    assert_eq!(of("big"), Coverage::LeftOut(Reason::TooLarge));
    let all = coverage.left_out().unwrap();
    assert_eq!(
        all.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
        ["a.log", "big"]
    );
    world.repo.release(&[taken.reference]).unwrap();
    let released = world.repo.references("session").unwrap();
    world.repo.release(&released).unwrap();
    let coverage = world.repo.coverage(taken.hash).unwrap();
    assert_eq!(coverage.of(&path("file")), Coverage::Unknown);
}

#[test]
fn single_paths_are_compared_with_a_snapshot_without_a_scan() {
    let world = World::new();
    for name in ["same", "edited", "deleted"] {
        world.write(name, name);
    }
    let taken = world.take();
    world.write("edited", "2");
    world.remove("deleted");
    world.write("new", "2");
    world.write("not asked", "2");
    let paths = ["deleted", "edited", "new", "none", "same"].map(path);
    let changed = world.repo.changed_since(taken.hash, &paths).unwrap();
    assert_eq!(names(&changed), ["deleted", "edited", "new"]);
}

#[cfg(unix)]
#[test]
fn a_project_that_was_moved_keeps_its_snapshots() {
    let dir = tempfile::tempdir().unwrap();
    let (data, old, new) = (
        dir.path().join("data"),
        dir.path().join("old"),
        dir.path().join("new"),
    );
    fs::create_dir(&old).unwrap();
    fs::write(old.join("a"), "1").unwrap();
    let open = |at: &std::path::Path| SideRepo::open_with(&data, at, options()).unwrap();
    let taken = open(&old).take("session").unwrap();
    fs::rename(&old, &new).unwrap();

    assert!(SideRepo::exists(&data, &new));
    let repo = open(&new);

    assert_eq!(repo.references("session").unwrap(), [taken.reference]);
    assert_eq!(repo.take("session").unwrap().hash, taken.hash);
    assert_eq!(lathe_snapshot::AbandonedRepo::find(&data).unwrap().len(), 0);
}

#[test]
fn a_project_is_also_known_by_the_history_of_its_repository() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let make = |name: &str, history: &str| {
        let at = dir.path().join(name);
        fs::create_dir_all(at.join(".git/logs")).unwrap();
        fs::write(at.join(".git/logs/HEAD"), history).unwrap();
        fs::write(at.join("file"), "1").unwrap();
        at
    };
    let open = |at: &std::path::Path| SideRepo::open_with(&data, at, options()).unwrap();
    let old = make("old", "0 1 me 17 +0\tclone: from x\nmore\n");
    let taken = open(&old).take("session").unwrap().reference;

    // A copy is another project while the first one is there.
    let copy = make("copy", "0 1 me 17 +0\tclone: from x\n");
    assert_eq!(open(&copy).references("session").unwrap(), []);
    fs::remove_dir_all(&old).unwrap();
    let other = make("other", "0 1 me 18 +0\tclone: from x\n");
    assert_eq!(open(&other).references("session").unwrap(), []);
    let moved = make("moved", "0 1 me 17 +0\tclone: from x\nmore\nand more\n");
    let taken = [taken];
    assert_eq!(open(&moved).references("session").unwrap(), taken);
    let has_content = |at: &std::path::Path| {
        let image = open(at).image_in(taken[0].tree(), &path("file"));
        image.is_ok_and(|image| image.content.is_some())
    };
    assert!(has_content(&moved));

    // It was a copy, and the first one had been on a disk that was not there.
    make("old", "0 1 me 17 +0\tclone: from x\nmore\n");
    assert_eq!(open(&old).references("session").unwrap(), taken);
    let repo = open(&moved);
    repo.release(&taken).unwrap();
    repo.collect_garbage().unwrap();
    assert_eq!(open(&moved).references("session").unwrap(), []);
    assert!(has_content(&old), "each has its own");
}

#[test]
fn a_repository_of_the_home_folder_does_not_swallow_the_folders_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let Some(home) = std::env::home_dir().filter(|home| home.is_dir()) else {
        return;
    };
    let below = home.join("no such folder");
    assert_eq!(SideRepo::root_for(&data, &home, &below), below);
    assert_eq!(SideRepo::root_for(&data, &home, &home), home);
    let project = dir.path().join("project");
    fs::create_dir_all(project.join("inner")).unwrap();
    let root = SideRepo::root_for(&data, &project, &project.join("inner"));
    assert_eq!(root, project);
}
