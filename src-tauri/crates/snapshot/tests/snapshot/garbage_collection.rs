//! Garbage collection: what it removes, what it keeps, and joined packs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use lathe_snapshot::SideRepo;

use crate::support::{World, options, snapshot_files};

#[test]
fn only_released_snapshots_are_removed() {
    let mut world = World::new();
    let mut kept = Vec::new();
    for n in 0..30 {
        world.write("a/file", format!("{}{n}", "line\n".repeat(400)));
        world.write(&format!("b/{n}"), format!("{n}"));
        let taken = world.take();
        kept.push((taken, world.files()));
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
            assert_eq!(&world.snapshot_files(taken.hash), state, "{n}");
        } else {
            assert!(world.repo.files(taken.hash).is_err(), "{n}");
        }
    }
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
    // Again, now with objects that are stored as deltas.
    world.repo.release(&[kept[1].0.reference.clone()]).unwrap();
    world.repo.collect_garbage().unwrap();
    for (taken, state) in kept.iter().skip(3).step_by(2) {
        assert_eq!(&world.snapshot_files(taken.hash), state);
    }
}

#[test]
fn a_snapshot_after_another_process_removed_all_objects_is_complete() {
    let world = World::new();
    world.write("a/b", "1");
    let taken = world.take();
    world.repo.release(&[taken.reference]).unwrap();
    // The other process.
    let other = SideRepo::open_with(&world.data(), &world.tree(), options()).unwrap();
    other.collect_garbage().unwrap();
    world.write("c", "2");
    other.take("other").unwrap();
    other.collect_garbage().unwrap();
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
}

/// All files below a folder, by their relative path.
fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
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
fn an_interrupted_collection_loses_nothing_and_the_next_one_completes_it() {
    let world = World::new();
    let mut kept = Vec::new();
    for n in 0..8 {
        world.write("a/file", format!("{}{n}", "line\n".repeat(400)));
        let taken = world.take();
        if n == 3 {
            world.repo.collect_garbage().unwrap();
        }
        kept.push((taken, world.files()));
    }
    let released: Vec<_> = kept.drain(2..6).map(|(taken, _)| taken.reference).collect();
    let before = files_below(&world.data());
    world.repo.release(&released).unwrap();
    world.repo.collect_garbage().unwrap();
    let after = files_below(&world.data());

    // The order in which the files change: the refs, the mark, the new pack, the old packs.
    let order = |path: &Path| {
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
    changes.sort_by_key(|path| (order(path), *path));
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
        let check = |when: &str| {
            for (taken, state) in &kept {
                assert_eq!(&snapshot_files(&repo, taken.hash), state, "{when} {done}");
            }
            let now = repo.take("session").unwrap();
            assert_eq!(
                snapshot_files(&repo, now.hash),
                world.files(),
                "{when} {done}"
            );
        };
        check("after");
        repo.release(&released).unwrap();
        repo.collect_garbage().unwrap();
        check("collected after");
        assert!(released.iter().all(|one| !repo.contains(one.tree())));
        assert!(!repo.has_garbage());
    }
}

#[test]
fn packs_are_joined_when_there_are_many() {
    let world = World::new();
    let mut taken = Vec::new();
    while !world.repo.needs_repack() {
        world.write("a", format!("{}", taken.len()));
        taken.push((world.take(), world.files()));
        assert!(taken.len() < 100);
    }
    world.repo.collect_garbage().unwrap();
    assert!(!world.repo.needs_repack());
    for (taken, state) in &taken {
        assert_eq!(&world.snapshot_files(taken.hash), state);
    }
}

#[test]
fn a_released_snapshot_cannot_be_given_to_another_label() {
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
    world.repo.add_label("fork", &both).unwrap();
    let kept = world.repo.references("fork").unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].tree(), second.hash);
}

#[test]
fn git_finds_no_fault_in_the_side_repository() {
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
    let fsck = Command::new("git")
        .arg("--git-dir")
        .arg(world.repository_dir())
        .args(["fsck", "--full", "--strict"])
        .output()
        .unwrap();
    assert!(
        fsck.status.success(),
        "{}",
        String::from_utf8_lossy(&fsck.stderr)
    );
}
