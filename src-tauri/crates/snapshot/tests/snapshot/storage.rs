use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use lathe_snapshot::{Options, Refused, SideRepo, SnapshotError};

use crate::support::{World, held, options};

#[test]
fn a_second_snapshot_reads_only_what_changed() {
    let mut world = World::new();
    for n in 0..50 {
        world.write(&format!("d{}/f{n}", n % 5), format!("{n}"));
    }
    until_stamps_are_old(&world, "d4/f49");
    assert_eq!(world.take_plainly().files_read, 50);
    assert_eq!(world.take_plainly().files_read, 0);
    world.write("d1/f1", "changed");
    until_stamps_are_old(&world, "d1/f1");
    assert_eq!(world.take_plainly().files_read, 1);
    world.reopen();
    assert_eq!(world.take_plainly().files_read, 0);
}

/// A file read in the very tick in which it was written is read again next time; this waits
/// until the file system's clock has moved on.
fn until_stamps_are_old(world: &World, newest: &str) {
    let modified = |path: &std::path::Path| fs::metadata(path).unwrap().modified().unwrap();
    let probe = world.data().join("probe");
    let written = modified(&world.at(newest));
    loop {
        fs::write(&probe, "x").unwrap();
        let ahead = modified(&probe).duration_since(written).unwrap();
        if ahead > std::time::Duration::from_millis(30) {
            return;
        }
    }
}

#[test]
fn the_same_content_for_the_same_label_is_the_same_snapshot() {
    let world = World::new();
    world.write("a", "1");
    assert_eq!(world.take().reference, world.take().reference);
    let other = world.repo.take("other").unwrap();
    assert_eq!(other.hash, world.take().hash);
    assert_ne!(other.reference, world.take().reference);
}

#[test]
fn clean_up_drops_only_what_is_released() {
    let mut world = World::new();
    let mut kept = Vec::new();
    for n in 0..30 {
        world.write("a/file", format!("{}{n}", "line\n".repeat(400)));
        world.write(&format!("b/{n}"), format!("{n}"));
        let taken = world.take();
        kept.push((taken, world.state()));
    }
    let released: Vec<_> = kept
        .iter()
        .step_by(2)
        .map(|(taken, _)| taken.reference.clone())
        .collect();
    world.repo.release(&released).unwrap();
    let before = world.repo.disk_use().unwrap();
    let after = world.repo.collect_garbage().unwrap();
    assert!(after < before / 3, "{after} of {before}");

    world.reopen();
    for (n, (taken, state)) in kept.iter().enumerate() {
        if n % 2 == 1 {
            assert_eq!(&world.held(taken.hash), state, "{n}");
        } else {
            assert!(world.repo.files(taken.hash).is_err(), "{n}");
        }
    }
    assert_eq!(world.held(world.take().hash), world.state());
    // Once more: now over objects that are stored as changes.
    world.repo.release(&[kept[1].0.reference.clone()]).unwrap();
    world.repo.collect_garbage().unwrap();
    for (taken, state) in kept.iter().skip(3).step_by(2) {
        assert_eq!(&world.held(taken.hash), state);
    }
}

#[test]
fn a_snapshot_after_a_clean_up_that_dropped_everything_is_whole() {
    let world = World::new();
    world.write("a/b", "1");
    let taken = world.take();
    world.repo.release(&[taken.reference]).unwrap();
    // Another process cleans up.
    let other = SideRepo::open_with(&world.data(), &world.tree(), options()).unwrap();
    other.collect_garbage().unwrap();
    world.write("c", "2");
    other.take("other").unwrap();
    other.collect_garbage().unwrap();
    assert_eq!(world.held(world.take().hash), world.state());
}

/// Files below a folder, by their path in it.
fn files_of(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(dir).unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

#[test]
fn a_clean_up_that_ends_anywhere_loses_nothing_and_the_next_one_finishes_it() {
    let world = World::new();
    let mut kept = Vec::new();
    for n in 0..8 {
        world.write("a/file", format!("{}{n}", "line\n".repeat(400)));
        let taken = world.take();
        if n == 3 {
            world.repo.collect_garbage().unwrap();
        }
        kept.push((taken, world.state()));
    }
    let gone: Vec<_> = kept.drain(2..6).map(|(taken, _)| taken.reference).collect();
    let before = files_of(&world.data());
    world.repo.release(&gone).unwrap();
    world.repo.collect_garbage().unwrap();
    let after = files_of(&world.data());

    // In the order in which they happen: the mark, the refs, the new pack, the old ones.
    let rank = |path: &Path| {
        let name = path.to_string_lossy();
        match after.contains_key(path) {
            true if name.ends_with("generation") => 1,
            true if name.ends_with("packed-refs") => 0,
            true if name.ends_with(".pack") => 3,
            true => 4,
            false if name.contains("refs/lathe") => 2,
            false if name.ends_with(".idx") => 5,
            false => 6,
        }
    };
    let mut changes: Vec<&PathBuf> = before.keys().chain(after.keys()).collect();
    changes.retain(|path| before.get(*path) != after.get(*path));
    changes.sort_by_key(|path| (rank(path), *path));
    changes.dedup();
    assert!(changes.len() > 10, "{changes:?}");

    for done in 0..=changes.len() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = before.clone();
        for path in &changes[..done] {
            match after.get(*path) {
                Some(bytes) => files.insert((*path).clone(), bytes.clone()),
                None => files.remove(*path),
            };
        }
        for (path, bytes) in &files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let repo = SideRepo::open_with(dir.path(), &world.tree(), options()).unwrap();
        let whole = |when: &str| {
            for (taken, state) in &kept {
                assert_eq!(&held(&repo, taken.hash), state, "{when} {done}");
            }
            let now = repo.take("session").unwrap();
            assert_eq!(held(&repo, now.hash), world.state(), "{when} {done}");
        };
        whole("after");
        repo.release(&gone).unwrap();
        repo.collect_garbage().unwrap();
        whole("cleaned up after");
        assert!(gone.iter().all(|one| !repo.holds(one.tree())));
        assert!(!repo.has_garbage());
    }
}

#[test]
fn packs_are_joined_when_there_are_many() {
    let world = World::new();
    let mut taken = Vec::new();
    while !world.repo.wants_joining() {
        world.write("a", format!("{}", taken.len()));
        taken.push((world.take(), world.state()));
        assert!(taken.len() < 100);
    }
    world.repo.collect_garbage().unwrap();
    assert!(!world.repo.wants_joining());
    for (taken, state) in &taken {
        assert_eq!(&world.held(taken.hash), state);
    }
}

#[test]
fn what_was_released_cannot_be_kept_for_another() {
    let world = World::new();
    world.write("a", "1");
    let first = world.take();
    world.write("a", "2");
    let second = world.take();
    world
        .repo
        .release(std::slice::from_ref(&first.reference))
        .unwrap();
    let both = [first.reference, second.reference];
    world.repo.keep_for("fork", &both).unwrap();
    let kept = world.repo.references("fork").unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].tree(), second.hash);
}

#[test]
fn past_its_cap_a_project_is_refused_with_a_reason() {
    let world = World::with(Options {
        limit: 20_000,
        ..options()
    });
    world.write("small", "1");
    world.take();
    let noise: Vec<u8> = (0..100_000u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    world.write("noise", noise);
    assert!(matches!(
        world.repo.take("s"),
        Err(SnapshotError::OverCap { limit: 20_000 })
    ));
    world.remove("noise");
    assert_eq!(world.held(world.take().hash), world.state());
}

#[cfg(unix)]
#[test]
fn a_nearly_full_disk_is_refused_with_a_reason() {
    let world = World::with(Options {
        keep_free: u64::MAX,
        ..options()
    });
    assert!(matches!(
        world.repo.take("s"),
        Err(SnapshotError::DiskNearlyFull { keep: u64::MAX })
    ));
}

#[test]
fn root_home_and_our_own_data_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("inside/data");
    let refused = |worktree: &std::path::Path| SideRepo::open(&data, worktree).err().unwrap();
    assert!(matches!(refused(dir.path()), Refused::HoldsOurData));
    assert!(matches!(refused(&data), Refused::HoldsOurData));
    let sample = data.join("sample/tea-timer");
    let stored = data.join("storage/part");
    for folder in [&sample, &stored] {
        std::fs::create_dir_all(folder).unwrap();
    }
    assert!(matches!(refused(&stored), Refused::HoldsOurData));
    assert!(SideRepo::open(&data, &sample).is_ok());
    assert!(matches!(
        refused(&dir.path().join("none")),
        Refused::NotADirectory { .. }
    ));
    if let Some(home) = std::env::home_dir().filter(|home| home.is_dir()) {
        assert!(matches!(refused(&home), Refused::HomeDirectory));
    }
    #[cfg(unix)]
    assert!(matches!(refused("/".as_ref()), Refused::RootDirectory));
}

#[test]
fn a_label_cannot_be_a_path() {
    let world = World::new();
    for label in ["", "..", "a/b", "a b", "ä"] {
        assert!(
            matches!(world.repo.take(label), Err(SnapshotError::BadLabel(_))),
            "{label}"
        );
    }
}

#[test]
fn a_torn_stat_cache_is_forgotten() {
    let mut world = World::new();
    world.write("a/b", "1");
    let taken = world.take();
    let side = fs::read_dir(world.data().join("snapshot"))
        .unwrap()
        .next()
        .unwrap();
    let cache = side.unwrap().path().join("known");
    let bytes = fs::read(&cache).unwrap();
    for len in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&cache, &bytes[..len]).unwrap();
        world.reopen();
        assert_eq!(world.take().hash, taken.hash);
    }
}

#[test]
fn what_a_killed_writer_left_is_removed() {
    let mut world = World::new();
    world.write("a", "1");
    world.take();
    let side = fs::read_dir(world.data().join("snapshot"))
        .unwrap()
        .next()
        .unwrap();
    let side = side.unwrap().path();
    let torn = ["objects/pack/.tmp-1", ".tmp-2"];
    for name in torn {
        fs::write(side.join(name), "torn").unwrap();
    }
    world.reopen();
    world.take();
    assert!(torn.iter().all(|name| !side.join(name).exists()));
}

/// Our packs, read by the program whose format they have.
#[test]
fn git_finds_nothing_wrong_with_the_side_repository() {
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let world = World::new();
    for n in 0..20 {
        world.write("a/file", format!("{}{n}", "some line\n".repeat(300)));
        world.write(&format!("b/{n}"), "x");
        world.take();
        if n == 15 {
            world.repo.collect_garbage().unwrap();
        }
    }
    world.repo.collect_garbage().unwrap();
    let side = fs::read_dir(world.data().join("snapshot"))
        .unwrap()
        .next()
        .unwrap();
    let fsck = Command::new("git")
        .arg("--git-dir")
        .arg(side.unwrap().path())
        .args(["fsck", "--full", "--strict"])
        .output()
        .unwrap();
    assert!(
        fsck.status.success(),
        "{}",
        String::from_utf8_lossy(&fsck.stderr)
    );
}

#[cfg(unix)]
#[test]
fn what_was_taken_back_and_what_was_kept_is_nobody_elses_business() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let before = world.take();
    world.write("secret/a.txt", "1");
    let after = world.take();
    world.revert(&before, &after);
    assert!(!world.exists("secret/a.txt"));
    for folder in [world.data().join("snapshot"), world.trash()] {
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
    }
}
