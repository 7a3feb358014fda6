use lathe_snapshot::{Change, ChangeKind, Mode};

use crate::support::{World, names, path};

fn change(at: &str, kind: ChangeKind, additions: usize, deletions: usize) -> Change {
    Change {
        path: path(at),
        binary: false,
        additions,
        deletions,
        old_mode: (kind != ChangeKind::Added).then_some(Mode::File),
        new_mode: (kind != ChangeKind::Deleted).then_some(Mode::File),
        kind,
    }
}

#[test]
fn files_are_added_deleted_modified_or_renamed() {
    let world = World::new();
    world.write("keep.txt", "same\n");
    world.write("edit.txt", "a\nb\nc\n");
    world.write("gone/old.txt", "bye\n");
    world.write("lib/moved.rs", "one\ntwo\nthree\nfour\n");
    world.write("lib/edited.rs", "1\n2\n3\n4\n5\n6\n");
    let from = world.take();
    world.write("edit.txt", "a\nB\nc\nd\n");
    world.remove("gone/old.txt");
    world.write("new.txt", "x\ny\n");
    world.remove("lib/moved.rs");
    world.write("src/moved.rs", "one\ntwo\nthree\nfour\n");
    world.remove("lib/edited.rs");
    world.write("src/other.rs", "1\n2\n3\nfour\n5\n6\n");
    let to = world.take();

    let renamed = |from: &str| ChangeKind::Renamed { from: path(from) };
    assert_eq!(
        world.repo.diff(from.hash, to.hash).unwrap(),
        [
            change("edit.txt", ChangeKind::Modified, 2, 1),
            change("gone/old.txt", ChangeKind::Deleted, 0, 1),
            change("new.txt", ChangeKind::Added, 2, 0),
            change("src/moved.rs", renamed("lib/moved.rs"), 0, 0),
            change("src/other.rs", renamed("lib/edited.rs"), 1, 1),
        ]
    );
    assert_eq!(
        names(&world.repo.changed_files(from.hash, to.hash).unwrap()),
        [
            "edit.txt",
            "gone/old.txt",
            "lib/edited.rs",
            "lib/moved.rs",
            "new.txt",
            "src/moved.rs",
            "src/other.rs"
        ]
    );
}

#[test]
fn a_binary_file_has_no_line_counts() {
    let world = World::new();
    let from = world.take();
    world.write("picture", b"\x89PNG\0\0\n\n");
    let to = world.take();
    let binary = Change {
        binary: true,
        ..change("picture", ChangeKind::Added, 0, 0)
    };
    assert_eq!(world.repo.diff(from.hash, to.hash).unwrap(), [binary]);
}

#[cfg(unix)]
#[test]
fn a_change_of_mode_or_type_is_its_own_kind_of_change() {
    let world = World::new();
    world.write("run.sh", "#!/bin/sh\n");
    world.write("link", "text\n");
    let from = world.take();
    crate::support::set_mode(&world.at("run.sh"), 0o755);
    world.remove("link");
    std::os::unix::fs::symlink("run.sh", world.at("link")).unwrap();
    let to = world.take();
    assert_eq!(
        world.repo.diff(from.hash, to.hash).unwrap(),
        [
            Change {
                new_mode: Some(Mode::Link),
                ..change("link", ChangeKind::TypeChange, 1, 1)
            },
            Change {
                new_mode: Some(Mode::Executable),
                ..change("run.sh", ChangeKind::Mode, 0, 0)
            },
        ]
    );
}

#[test]
fn an_unknown_snapshot_is_an_error_that_names_it() {
    let world = World::new();
    let taken = world.take();
    let other = "0123456789012345678901234567890123456789".parse().unwrap();
    assert_eq!(
        world.repo.diff(taken.hash, other).unwrap_err().to_string(),
        "there is no snapshot 0123456789012345678901234567890123456789"
    );
}
