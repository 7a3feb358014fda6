//! With random trees and edits: a snapshot restores exactly what was there.

use std::fs;

use lathe_snapshot::{ChangeKind, Mode};
use proptest::prelude::*;

use crate::support::{Files, World, cases};

/// Few names, so that a path is a file in one tree and a folder in the next.
fn file_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c.txt", "new\nline", "ü", " "]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn content() -> impl Strategy<Value = (Mode, Vec<u8>)> {
    let line = prop::sample::select(vec!["x\n", "y\n", "longer line\n", "\r\n", "end"]);
    let text = prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat().into_bytes());
    let bytes = prop_oneof![4 => text, 1 => prop::collection::vec(any::<u8>(), 0..300)];
    let mode = if cfg!(unix) {
        prop::sample::select(vec![Mode::File, Mode::File, Mode::Executable, Mode::Link])
    } else {
        prop::sample::select(vec![Mode::File])
    };
    (mode, bytes).prop_map(|(mode, bytes)| match mode {
        Mode::Link => (mode, b"../some/where".to_vec()),
        _ => (mode, bytes),
    })
}

/// A tree in which no path is both a file and a folder.
fn tree() -> impl Strategy<Value = Files> {
    prop::collection::btree_map(file_path(), content(), 0..10).prop_map(|mut state| {
        let paths: Vec<String> = state.keys().cloned().collect();
        state.retain(|path, _| {
            !paths
                .iter()
                .any(|other| other.starts_with(&format!("{path}/")))
        });
        state
    })
}

fn make(world: &World, state: &Files) {
    for entry in fs::read_dir(world.tree()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, (mode, bytes)) in state {
        put(world, path, *mode, bytes);
    }
}

fn put(world: &World, path: &str, mode: Mode, bytes: &[u8]) {
    #[cfg(unix)]
    if mode == Mode::Link {
        let at = world.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(std::str::from_utf8(bytes).unwrap(), at).unwrap();
        return;
    }
    world.write(path, bytes);
    #[cfg(unix)]
    if mode == Mode::Executable {
        crate::support::set_mode(&world.at(path), 0o755);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40, 2_000)))]

    #[test]
    fn any_snapshot_can_be_restored_exactly(states in prop::collection::vec(tree(), 2..5)) {
        let mut world = World::new();
        let mut taken = Vec::new();
        for (n, state) in states.iter().enumerate() {
            make(&world, state);
            let snapshot = world.take();
            prop_assert!(snapshot.complete);
            prop_assert_eq!(&world.snapshot_files(snapshot.hash), state);
            taken.push(snapshot);
            if n == 1 {
                world.repo.collect_garbage().unwrap();
                world.reopen();
            }
        }
        let mut now = taken.len() - 1;
        for target in (0..taken.len()).rev() {
            let outcome = world.revert(&taken[target], &taken[now]);
            prop_assert_eq!(outcome.conflicts, vec![]);
            prop_assert_eq!(&world.files(), &states[target]);
            prop_assert_eq!(world.take().hash, taken[target].hash);
            now = target;
        }
    }

    #[test]
    fn a_diff_applied_to_the_old_tree_gives_the_new_one(old in tree(), new in tree()) {
        let world = World::new();
        make(&world, &old);
        let from = world.take();
        make(&world, &new);
        let to = world.take();
        let mut built = old.clone();
        for change in world.repo.diff(from.hash, to.hash).unwrap() {
            let path = change.path.to_string();
            prop_assert_eq!(change.new_mode.is_none(), change.kind == ChangeKind::Deleted);
            match &change.kind {
                ChangeKind::Deleted => {
                    built.remove(&path);
                    continue;
                }
                ChangeKind::Renamed { from } => {
                    built.remove(&from.to_string());
                }
                ChangeKind::Added => prop_assert!(!old.contains_key(&path)),
                ChangeKind::Modified | ChangeKind::Mode | ChangeKind::TypeChange => {
                    prop_assert_eq!(change.old_mode, old.get(&path).map(|(mode, _)| *mode));
                }
            }
            let bytes = world.repo.blob(to.hash, &change.path).unwrap();
            built.insert(path, (change.new_mode.unwrap(), bytes));
        }
        prop_assert_eq!(built, new);
    }
}
