//! Hard links and extended attributes of removed and replaced files come back.

use std::{fs, os::unix::fs::MetadataExt};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::support::{World, set_mode};

fn inode(world: &World, name: &str) -> u64 {
    fs::metadata(world.at(name)).unwrap().ino()
}

fn link(world: &World, name: &str, too: &str) {
    fs::hard_link(world.at(name), world.at(too)).unwrap();
}

/// As editors and build tools write: a new file takes the name.
fn replace(world: &World, name: &str, content: &str) {
    world.write("beside", content);
    fs::rename(world.at("beside"), world.at(name)).unwrap();
}

#[test]
fn names_that_were_one_file_are_one_file_again() {
    let world = World::new();
    for (name, too) in [("kept", "removed"), ("old", "torn"), ("one", "two")] {
        world.write(name, name);
        link(&world, name, too);
    }
    let before = world.take();
    fs::remove_file(world.at("removed")).unwrap();
    replace(&world, "torn", "agent");
    fs::remove_file(world.at("one")).unwrap();
    fs::remove_file(world.at("two")).unwrap();
    let after = world.take();

    let kept = inode(&world, "kept");
    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(inode(&world, "kept"), kept);
    for (name, too) in [("kept", "removed"), ("old", "torn"), ("one", "two")] {
        assert_eq!(inode(&world, name), inode(&world, too), "{name}");
        assert_eq!(world.read(too), name);
    }
    assert_eq!(world.take().hash, before.hash);

    let outcome = world.revert(&after, &world.take());
    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.take().hash, after.hash);
    assert_eq!(
        (world.read("old"), world.read("torn")),
        ("old".into(), "agent".into())
    );
}

#[test]
fn a_name_is_not_joined_to_a_file_that_the_person_has_changed() {
    let world = World::new();
    world.write("mine", "before");
    link(&world, "mine", "removed");
    let before = world.take();
    fs::remove_file(world.at("removed")).unwrap();
    let after = world.take();
    world.write("mine", "person");

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(
        (world.read("mine"), world.read("removed")),
        ("person".into(), "before".into())
    );
    assert_ne!(inode(&world, "mine"), inode(&world, "removed"));
}

#[test]
fn a_file_that_is_linked_outside_of_the_project_gets_its_content_and_nothing_else_changes() {
    let world = World::new();
    let outside = tempfile::tempdir_in(world.tree().parent().unwrap()).unwrap();
    world.write("inside", "before");
    fs::hard_link(world.at("inside"), outside.path().join("store")).unwrap();
    let before = world.take();
    fs::remove_file(world.at("inside")).unwrap();
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.read("inside"), "before");
    assert_eq!(
        fs::read_to_string(outside.path().join("store")).unwrap(),
        "before"
    );
}

/// `None` where the file system has no attributes.
fn set(world: &World, name: &str, value: &str) -> Option<()> {
    setxattr(
        world.at(name),
        "user.tag",
        value.as_bytes(),
        XattrFlags::empty(),
    )
    .ok()
}

fn tag(world: &World, name: &str) -> Option<String> {
    let mut value = [0; 64];
    let length = getxattr(world.at(name), "user.tag", &mut value[..]).ok()?;
    Some(String::from_utf8(value[..length].to_vec()).unwrap())
}

#[test]
fn attributes_and_the_read_only_bit_of_a_removed_and_of_a_replaced_file_come_back() {
    let world = World::new();
    for name in ["removed", "replaced", "plain"] {
        world.write(name, "before");
    }
    for name in ["removed", "replaced"] {
        if set(&world, name, name).is_none() {
            return;
        }
        set_mode(&world.at(name), 0o444);
    }
    let before = world.take();
    fs::remove_file(world.at("removed")).unwrap();
    replace(&world, "replaced", "agent");
    replace(&world, "plain", "agent");
    set(&world, "plain", "person").unwrap();
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    for name in ["removed", "replaced"] {
        assert_eq!(tag(&world, name), Some(name.to_owned()));
        assert_eq!(fs::metadata(world.at(name)).unwrap().mode() & 0o7777, 0o444);
        assert_eq!(world.read(name), "before");
    }
    // It had none, and may have got it from the person.
    assert_eq!(tag(&world, "plain"), Some("person".to_owned()));
    assert_eq!(world.take().hash, before.hash);
}

#[test]
fn links_and_attributes_are_known_after_a_restart_and_a_clean_up() {
    let mut world = World::new();
    world.write("one", "before");
    link(&world, "one", "two");
    let tagged = set(&world, "one", "kept").is_some();
    let before = world.take();
    world.reopen();
    assert_eq!(world.take().reference, before.reference);
    world.repo.collect_garbage().unwrap();
    fs::remove_file(world.at("one")).unwrap();
    fs::remove_file(world.at("two")).unwrap();
    let after = world.take();
    world.reopen();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(inode(&world, "one"), inode(&world, "two"));
    assert_eq!(tag(&world, "two"), tagged.then(|| "kept".to_owned()));
}
