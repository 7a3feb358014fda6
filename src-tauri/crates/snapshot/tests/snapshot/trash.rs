//! Replaced and deleted files are in the trash, as themselves and not as copies.

use std::{fs, io::Write};

use lathe_snapshot::Conflict;

use crate::support::{World, path};

#[test]
fn an_append_through_an_open_handle_is_found_in_the_trash() {
    let world = World::new();
    world.write("log", "before\n");
    let before = world.take();
    world.write("log", "agent\n");
    world.write("new", "agent\n");
    let after = world.take();
    let open = |at: &str| {
        fs::OpenOptions::new()
            .append(true)
            .open(world.at(at))
            .unwrap()
    };
    let (mut replaced, mut deleted) = (open("log"), open("new"));

    let outcome = world.revert(&before, &after);
    replaced.write_all(b"person\n").unwrap();
    deleted.write_all(b"person\n").unwrap();

    assert_eq!(world.read("log"), "before\n");
    let (at, to) = &outcome.replaced[0];
    assert_eq!(at, &path("log"));
    assert_eq!(fs::read_to_string(to).unwrap(), "agent\nperson\n");
    let (at, to) = &outcome.trashed[0];
    assert_eq!(at, &path("new"));
    assert_eq!(fs::read_to_string(to).unwrap(), "agent\nperson\n");
}

#[test]
fn nothing_of_a_restore_is_left_in_the_users_folders_or_in_our_own() {
    let world = World::new();
    for n in 0..20 {
        world.write(&format!("d/{n}"), "1");
    }
    let before = world.take();
    for n in 0..10 {
        world.write(&format!("d/{n}"), "2");
        world.write(&format!("e/{n}"), "2");
    }
    let after = world.take();
    let wanted = world.snapshot_files(before.hash);
    world.revert(&before, &after);
    assert_eq!(world.files(), wanted);
    let rounds = fs::read_dir(world.repository_dir().join("rounds")).unwrap();
    assert_eq!(rounds.count(), 0);
}

/// Between two file systems a file can only be copied.
#[cfg(target_os = "linux")]
#[test]
fn a_trash_on_another_file_system_gets_copies() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let world = World::with_data(elsewhere.path());
    world.write("edited", "1");
    world.write("deleted", "1");
    let before = world.take();
    let wanted = world.files();
    world.write("edited", "agent");
    world.remove("deleted");
    world.write("new", "agent");
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.files(), wanted);
    for (_, to) in outcome.trashed.iter().chain(&outcome.replaced) {
        assert_eq!(fs::read_to_string(to).unwrap(), "agent");
        assert!(to.starts_with(elsewhere.path()));
    }
    assert_eq!((outcome.trashed.len(), outcome.replaced.len()), (1, 1));
}

/// A copy would not have what is written to the file later.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_open_for_writing_is_not_replaced_by_a_copy() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let world = World::with_data(elsewhere.path());
    world.write("log", "before\n");
    let before = world.take();
    world.write("log", "agent\n");
    world.write("new", "agent\n");
    let after = world.take();
    let open = |at: &str| {
        fs::OpenOptions::new()
            .append(true)
            .open(world.at(at))
            .unwrap()
    };
    let (mut replaced, mut deleted) = (open("log"), open("new"));

    let outcome = world.revert(&before, &after);
    replaced.write_all(b"person\n").unwrap();
    deleted.write_all(b"person\n").unwrap();

    let conflicts = [path("log"), path("new")].map(|at| (at, Conflict::OpenElsewhere));
    assert_eq!(outcome.conflicts, conflicts);
    assert_eq!(world.read("log"), "agent\nperson\n");
    assert_eq!(world.read("new"), "agent\nperson\n");
    assert_eq!(world.files().len(), 2, "nothing else is left in the folder");
}
