use std::fs;

use lathe_snapshot::{Conflict, Reason, RestoreAction};

use crate::support::{World, names, path, steps};

#[test]
fn the_agents_edits_are_reverted() {
    let world = World::new();
    world.write("edited.txt", "before\n");
    world.write("deleted.txt", "kept\n");
    let before = world.take();
    let wanted = world.files();
    world.write("edited.txt", "after\n");
    world.remove("deleted.txt");
    world.write("new/deep/file.txt", "agent\n");
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(world.files(), wanted);
    assert_eq!(names(&outcome.written), ["deleted.txt", "edited.txt"]);
    assert!(!world.exists("new"));
    let (trashed, to) = &outcome.trashed[0];
    assert_eq!(trashed, &path("new/deep/file.txt"));
    assert_eq!(fs::read_to_string(to).unwrap(), "agent\n");
    assert_eq!(outcome.conflicts, []);
}

#[test]
fn a_revert_can_be_undone() {
    let world = World::new();
    world.write("a", "1");
    let before = world.take();
    world.write("a", "2");
    world.write("b/c", "new");
    let after = world.take();
    let wanted = world.files();
    world.revert(&before, &after);
    let reverted = world.take();
    assert_eq!(reverted.hash, before.hash);

    world.revert(&after, &reverted);

    assert_eq!(world.files(), wanted);
}

#[test]
fn a_file_the_user_edited_since_is_a_conflict_and_stays() {
    let world = World::new();
    world.write("mine", "1");
    world.write("other", "1");
    let before = world.take();
    world.write("mine", "agent");
    world.write("other", "agent");
    let after = world.take();
    world.write("mine", "user");

    let plan = world.plan(&["mine", "other"], &before, &after);
    assert_eq!(
        steps(&plan),
        [
            (
                "mine".into(),
                RestoreAction::Conflict(Conflict::ChangedSince)
            ),
            ("other".into(), RestoreAction::Write),
        ]
    );
    let outcome = world.repo.apply(&plan, &world.trash());
    assert_eq!(outcome.conflicts, [(path("mine"), Conflict::ChangedSince)]);
    assert_eq!(
        (world.read("mine"), world.read("other")),
        ("user".into(), "1".into())
    );
}

#[test]
fn an_edit_after_the_preview_is_seen_when_applying() {
    let world = World::new();
    world.write("write", "1");
    let before = world.take();
    world.write("write", "agent");
    world.write("delete", "agent");
    let after = world.take();
    let plan = world.plan(&["delete", "write"], &before, &after);
    world.write("write", "user");
    world.write("delete", "user");

    let outcome = world.repo.apply(&plan, &world.trash());

    let conflict = |at| (path(at), Conflict::ChangedSince);
    assert_eq!(outcome.conflicts, [conflict("delete"), conflict("write")]);
    assert_eq!(
        (world.read("write"), world.read("delete")),
        ("user".into(), "user".into())
    );
}

#[test]
fn a_file_the_user_deleted_since_stays_deleted() {
    let world = World::new();
    world.write("a", "1");
    let before = world.take();
    world.write("a", "agent");
    let after = world.take();
    world.remove("a");

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, [(path("a"), Conflict::ChangedSince)]);
    assert!(!world.exists("a"));
}

#[test]
fn a_folder_of_the_agent_stays_if_it_has_a_file_of_the_user() {
    let world = World::new();
    let before = world.take();
    world.write("made/agent.txt", "agent");
    let after = world.take();
    world.write("made/user.txt", "user");

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(
        world.files().into_keys().collect::<Vec<_>>(),
        ["made/user.txt"]
    );
}

#[test]
fn a_folder_that_was_empty_before_stays() {
    let world = World::new();
    fs::create_dir(world.at("empty")).unwrap();
    let before = world.take();
    world.write("empty/agent.txt", "agent");
    let after = world.take();
    world.revert(&before, &after);
    assert!(world.at("empty").is_dir() && !world.exists("empty/agent.txt"));
}

#[test]
fn a_file_can_replace_a_folder_and_a_folder_a_file() {
    let world = World::new();
    world.write("was-file", "file");
    world.write("was-folder/inner", "inner");
    let before = world.take();
    let wanted = world.files();
    world.remove("was-file");
    world.write("was-file/deep/x", "agent");
    world.remove("was-folder/inner");
    fs::remove_dir(world.at("was-folder")).unwrap();
    world.write("was-folder", "agent");
    let after = world.take();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(world.files(), wanted);
}

#[test]
fn a_folder_with_a_file_of_the_user_is_not_replaced_by_a_file() {
    let world = World::new();
    world.write("a", "file");
    let before = world.take();
    world.remove("a");
    world.write("a/agent", "agent");
    let after = world.take();
    world.write("a/user", "user");

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.conflicts, [(path("a"), Conflict::FolderInTheWay)]);
    assert_eq!(world.read("a/user"), "user");
}

#[test]
fn a_file_that_the_snapshot_ignored_is_never_deleted() {
    let world = World::new();
    world.write(".gitignore", "secret\n");
    world.write("secret", "user");
    let before = world.take();
    world.write(".gitignore", "");
    let after = world.take();
    assert!(world.snapshot_files(after.hash).contains_key("secret"));

    let outcome = world.revert(&before, &after);

    let conflict = Conflict::NotInSnapshot(Some(Reason::Ignored));
    assert_eq!(outcome.conflicts, [(path("secret"), conflict)]);
    assert_eq!(world.read("secret"), "user");
}

#[test]
fn a_file_that_was_too_large_for_the_snapshot_is_never_deleted() {
    let world = World::new();
    world.write("big", vec![7; 3 << 20]);
    let before = world.take();
    assert!(!before.complete);
    world.write("big", "small now");
    let after = world.take();

    let outcome = world.revert(&before, &after);

    let conflict = Conflict::NotInSnapshot(Some(Reason::TooLarge));
    assert_eq!(outcome.conflicts, [(path("big"), conflict)]);
    assert_eq!(world.read("big"), "small now");
}

#[test]
fn a_released_snapshot_deletes_nothing() {
    let world = World::new();
    let before = world.take();
    world.write("a", "agent");
    let after = world.take();
    world
        .repo
        .release(std::slice::from_ref(&before.reference))
        .unwrap();
    let plan = world.plan(&["a"], &before, &after);
    let conflict = RestoreAction::Conflict(Conflict::NotInSnapshot(None));
    assert_eq!(steps(&plan), [("a".into(), conflict)]);
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_folder_is_not_followed() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "agent").unwrap();
    world.write("dir/x", "1");
    let before = world.take();
    world.write("dir/x", "agent");
    world.write("dir/y", "agent");
    let after = world.take();
    fs::remove_dir_all(world.at("dir")).unwrap();
    std::os::unix::fs::symlink(outside.path(), world.at("dir")).unwrap();
    fs::write(outside.path().join("y"), "agent").unwrap();

    let outcome = world.revert(&before, &after);

    assert_eq!(outcome.written, []);
    assert_eq!(outcome.trashed, []);
    assert_eq!(
        fs::read_to_string(outside.path().join("x")).unwrap(),
        "agent"
    );
    assert_eq!(
        fs::read_to_string(outside.path().join("y")).unwrap(),
        "agent"
    );
}

#[cfg(unix)]
#[test]
fn a_private_file_stays_private_when_its_content_is_restored() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("key", "1");
    crate::support::set_mode(&world.at("key"), 0o600);
    let before = world.take();
    fs::write(world.at("key"), "2").unwrap();
    let after = world.take();
    world.revert(&before, &after);
    let mode = fs::metadata(world.at("key")).unwrap().permissions().mode();
    assert_eq!((world.read("key"), mode & 0o777), ("1".into(), 0o600));
}
