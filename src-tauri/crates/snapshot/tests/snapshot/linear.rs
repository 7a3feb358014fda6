//! The cost of a revert is by what changed. It is counted in reads of folders, not in time.

use lathe_snapshot::ChangeKind;

use crate::support::World;

/// With one read of the folder per file this would take hours.
#[test]
fn many_files_in_one_folder_are_compared_and_reverted() {
    let world = World::new();
    world.write("many/kept", "1");
    let before = world.take();
    for n in 0..3_000 {
        // Many files with the same content: pairing them for renames must not compare all.
        world.write(&format!("many/{n}"), format!("{}", n % 2));
    }
    let after = world.take();
    let diff = world.repo.diff(before.hash, after.hash).unwrap();
    assert_eq!(diff.len(), 3_000);
    for change in &diff {
        let one = world.repo.diff_path(&change.path, before.hash, after.hash);
        assert_eq!(one.unwrap().unwrap().kind, ChangeKind::Added);
    }
    let outcome = world.revert(&before, &after);
    assert_eq!(outcome.trashed.len(), 3_000);
    let reverted = world.take();
    assert_eq!(reverted.hash, before.hash);
    let outcome = world.revert(&after, &reverted);
    assert_eq!(outcome.written.len(), 3_000);
    assert_eq!(world.take().hash, after.hash);
}
