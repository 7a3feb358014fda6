//! Opening a side repository, its limits, its permissions and its caches.

use std::fs;

use lathe_snapshot::{Options, Refused, SideRepo, SnapshotError};

use crate::support::{World, options};

#[test]
fn a_second_snapshot_reads_only_what_changed() {
    let mut world = World::new();
    for n in 0..50 {
        world.write(&format!("d{}/f{n}", n % 5), format!("{n}"));
    }
    wait_for_next_tick(&world, "d4/f49");
    assert_eq!(world.take_once().files_read, 50);
    assert_eq!(world.take_once().files_read, 0);
    world.write("d1/f1", "changed");
    wait_for_next_tick(&world, "d1/f1");
    assert_eq!(world.take_once().files_read, 1);
    world.reopen();
    assert_eq!(world.take_once().files_read, 0);
}

/// A file that is read in the clock tick in which it was written is read again next time. This
/// waits until the clock of the file system has moved on.
fn wait_for_next_tick(world: &World, newest: &str) {
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
fn a_project_over_its_size_limit_is_refused_with_a_reason() {
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
        Err(SnapshotError::OverLimit { limit: 20_000 })
    ));
    world.remove("noise");
    assert_eq!(world.snapshot_files(world.take().hash), world.files());
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
fn a_truncated_stat_cache_is_ignored() {
    let mut world = World::new();
    world.write("a/b", "1");
    let taken = world.take();
    let cache = world.repository_dir().join("known");
    let bytes = fs::read(&cache).unwrap();
    for len in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&cache, &bytes[..len]).unwrap();
        world.reopen();
        assert_eq!(world.take().hash, taken.hash);
    }
}

#[test]
fn temporary_files_of_a_killed_writer_are_removed() {
    let mut world = World::new();
    world.write("a", "1");
    world.take();
    let dir = world.repository_dir();
    let temporary = ["objects/pack/.tmp-1", ".tmp-2"];
    for name in temporary {
        fs::write(dir.join(name), "incomplete").unwrap();
    }
    world.reopen();
    world.take();
    assert!(temporary.iter().all(|name| !dir.join(name).exists()));
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_snapshots_and_trash() {
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
