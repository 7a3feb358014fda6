//! Permissions, empty folders, hard links, extended attributes and odd names.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::Path,
};

use lathe_snapshot::{ChangeKind, RelPath};

use crate::support::{World, names, set_mode};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_deleted_file_comes_back_with_its_permissions() {
    let world = World::new();
    let modes = [
        ("private", 0o600),
        ("read-only", 0o444),
        ("program", 0o700),
        ("shared", 0o664),
        ("usual", 0o644),
    ];
    for (name, bits) in modes {
        world.write(name, name);
        set_mode(&world.at(name), bits);
    }
    let before = world.take();
    for (name, _) in modes {
        world.remove(name);
    }
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    let restored: Vec<_> = modes
        .iter()
        .map(|(name, _)| (*name, mode(&world.at(name))))
        .collect();
    assert_eq!(restored, modes);
    assert_eq!(world.take().hash, before.hash);
}

#[test]
fn a_file_that_was_made_private_again_is_not_widened_by_an_edit() {
    let world = World::new();
    world.write("key", "1");
    set_mode(&world.at("key"), 0o600);
    let before = world.take();
    world.write("key", "2");
    set_mode(&world.at("key"), 0o644);
    let after = world.take();
    let outcome = world.revert(&before, &after);
    assert_eq!(outcome.conflicts, []);
    assert_eq!(
        (world.read("key"), mode(&world.at("key"))),
        ("1".into(), 0o600)
    );
}

#[test]
fn a_change_of_permissions_alone_is_seen_and_undone() {
    let world = World::new();
    world.write("file", "1");
    world.write("folder/inner", "1");
    set_mode(&world.at("file"), 0o600);
    set_mode(&world.at("folder"), 0o700);
    let before = world.take();
    set_mode(&world.at("file"), 0o644);
    set_mode(&world.at("folder"), 0o755);
    let after = world.take();

    let diff = world.repo.diff(before.hash, after.hash).unwrap();
    let kinds: Vec<_> = diff
        .iter()
        .map(|one| (one.path.to_string(), one.kind.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("file".to_owned(), ChangeKind::Mode),
            ("folder".to_owned(), ChangeKind::Mode)
        ]
    );
    let inode = fs::metadata(world.at("file")).unwrap().ino();
    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(names(&outcome.written), ["file", "folder"]);
    let now = (mode(&world.at("file")), mode(&world.at("folder")));
    assert_eq!(now, (0o600, 0o700));
    assert_eq!(fs::metadata(world.at("file")).unwrap().ino(), inode);
}

#[test]
fn permissions_that_the_user_changed_since_are_a_conflict() {
    let world = World::new();
    world.write("file", "1");
    let before = world.take();
    world.write("file", "2");
    let after = world.take();
    set_mode(&world.at("file"), 0o600);
    let outcome = world.revert(&before, &after);
    assert_eq!(names(outcome.conflicts.iter().map(|(at, _)| at)), ["file"]);
    assert_eq!(
        (world.read("file"), mode(&world.at("file"))),
        ("2".into(), 0o600)
    );
}

#[test]
fn a_removed_folder_comes_back_with_its_permissions() {
    let world = World::new();
    world.write("a/b/file", "1");
    set_mode(&world.at("a"), 0o750);
    set_mode(&world.at("a/b"), 0o700);
    let before = world.take();
    fs::remove_dir_all(world.at("a")).unwrap();
    let after = world.take();
    world.revert(&before, &after);
    assert_eq!(
        (mode(&world.at("a")), mode(&world.at("a/b"))),
        (0o750, 0o700)
    );
    assert_eq!(world.take().hash, before.hash);
}

#[test]
fn an_empty_folder_of_the_agent_is_removed_and_one_it_removed_is_made_again() {
    let world = World::new();
    fs::create_dir_all(world.at("was/empty")).unwrap();
    set_mode(&world.at("was/empty"), 0o700);
    let before = world.take();
    fs::remove_dir_all(world.at("was")).unwrap();
    fs::create_dir_all(world.at("made/deep")).unwrap();
    let after = world.take();
    assert_ne!(before.hash, after.hash);

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(mode(&world.at("was/empty")), 0o700);
    assert!(!world.exists("made"));
    assert_eq!(names(&outcome.removed_folders), ["made/deep"]);
    assert_eq!(world.take().hash, before.hash);
}

#[test]
fn an_empty_folder_of_the_agent_stays_once_the_user_put_a_file_there() {
    let world = World::new();
    let before = world.take();
    fs::create_dir(world.at("made")).unwrap();
    let after = world.take();
    world.write("made/mine", "user");
    let outcome = world.revert(&before, &after);
    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.read("made/mine"), "user");
}

#[test]
fn an_empty_folder_and_a_file_can_take_each_others_place() {
    let world = World::new();
    fs::create_dir(world.at("a")).unwrap();
    world.write("b", "file");
    let before = world.take();
    fs::remove_dir(world.at("a")).unwrap();
    world.write("a", "agent");
    world.remove("b");
    fs::create_dir(world.at("b")).unwrap();
    let after = world.take();

    let outcome = world.revert(&before, &after);
    assert_eq!(outcome.conflicts, []);
    assert!(world.at("a").is_dir());
    assert_eq!(world.read("b"), "file");
    assert_eq!(world.take().hash, before.hash);

    let reverted = world.take();
    let outcome = world.revert(&after, &reverted);
    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.take().hash, after.hash);
}

#[test]
fn a_hard_link_is_kept_when_the_file_is_restored() {
    let world = World::new();
    world.write("one", "before, and longer than after");
    fs::hard_link(world.at("one"), world.at("two")).unwrap();
    let before = world.take();
    world.write("one", "after");
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    let inode = |at: &str| fs::metadata(world.at(at)).unwrap().ino();
    assert_eq!(inode("one"), inode("two"));
    assert_eq!(world.read("two"), "before, and longer than after");
    let (_, old) = &outcome.replaced[0];
    assert_eq!(fs::read_to_string(old).unwrap(), "after");
    assert_eq!(world.take().hash, before.hash);
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_stay_when_a_file_is_replaced() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let world = World::new();
    world.write("file", "1");
    let before = world.take();
    world.write("file", "2");
    let set = setxattr(world.at("file"), "user.mark", b"mine", XattrFlags::empty());
    if set.is_err() {
        return; // This file system has none.
    }
    let after = world.take();
    world.revert(&before, &after);
    let mut value = [0; 4];
    getxattr(world.at("file"), "user.mark", &mut value[..]).unwrap();
    assert_eq!((world.read("file").as_str(), &value), ("1", b"mine"));
}

#[test]
fn names_that_differ_only_in_bytes_that_are_not_text_are_told_apart() {
    let world = World::new();
    let all: Vec<&[u8]> = vec![b"n\xff", b"n\xfe", b"n"];
    let at = |name: &[u8]| world.tree().join(OsStr::from_bytes(name));
    for name in &all {
        fs::write(at(name), [b"old ", *name].concat()).unwrap();
    }
    let before = world.take();
    fs::write(at(b"n\xff"), "agent").unwrap();
    fs::remove_file(at(b"n\xfe")).unwrap();
    let after = world.take();
    let paths = world.repo.changed_files(before.hash, after.hash).unwrap();
    assert_eq!(
        paths,
        [
            RelPath::new(b"n\xfe").unwrap(),
            RelPath::new(b"n\xff").unwrap()
        ]
    );

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    for name in &all {
        assert_eq!(fs::read(at(name)).unwrap(), [b"old ", *name].concat());
    }
}

#[test]
fn a_file_with_the_name_of_our_list_is_left_out_and_said() {
    let world = World::new();
    world.write(".lathe-modes", "600 x\0");
    let taken = world.take();
    assert!(!taken.complete);
    assert_eq!(taken.skipped[0].path, ".lathe-modes");
}

#[test]
fn a_folder_with_ignored_files_only_is_a_folder_and_nothing_else() {
    let world = World::new();
    world.write(".gitignore", "*.log\n");
    fs::create_dir(world.at("logs")).unwrap();
    let empty = world.take();
    world.write("logs/a.log", "agent");
    let ignored = world.take();
    assert_eq!(empty.hash, ignored.hash);
    fs::remove_dir_all(world.at("logs")).unwrap();
    let before = world.take();
    world.write("logs/a.log", "agent");
    let after = world.take();
    assert_eq!(after.hash, empty.hash);

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.read("logs/a.log"), "agent");
}
