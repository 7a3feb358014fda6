//! Trees of earlier versions, without permissions and empty folders: nothing is concluded from
//! what they do not say.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::PathRestore;
use crate::{Options, Outcome, RelPath, SideRepo, TreeId};

fn set_mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

struct World {
    dir: tempfile::TempDir,
    repo: SideRepo,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tree")).unwrap();
        let options = Options {
            keep_free: 0,
            ..Options::default()
        };
        let (data, tree) = (dir.path().join("data"), dir.path().join("tree"));
        let repo = SideRepo::open_with(&data, &tree, options).unwrap();
        Self { dir, repo }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join("tree").join(name)
    }

    fn revert(&self, target: TreeId, post_image: TreeId) -> Outcome {
        let paths = self.repo.changed_files(target, post_image).unwrap();
        let each = paths.into_iter().map(|path| PathRestore {
            path,
            target,
            post_image,
        });
        let plan = self.repo.plan_restore(&each.collect::<Vec<_>>()).unwrap();
        self.repo.apply(&plan, &self.dir.path().join("trash"))
    }
}

#[test]
fn a_private_file_is_not_a_change_and_is_not_widened() {
    let world = World::new();
    for name in ["same", "edited"] {
        fs::write(world.at(name), "1").unwrap();
        set_mode(&world.at(name), 0o600);
    }
    let before = world
        .repo
        .take_as_before(&[("edited", b"0"), ("same", b"1")], b"");
    let after = world.repo.take("s").unwrap().hash;
    let changed = world.repo.changed_files(before, after).unwrap();
    assert_eq!(changed, [RelPath::new("edited").unwrap()]);

    let outcome = world.revert(before, after);

    assert_eq!(outcome.conflicts, []);
    assert_eq!(fs::read_to_string(world.at("edited")).unwrap(), "0");
    assert_eq!(
        [mode(&world.at("edited")), mode(&world.at("same"))],
        [0o600; 2]
    );
}

#[test]
fn an_empty_folder_that_was_there_is_not_removed() {
    let world = World::new();
    fs::create_dir(world.at("empty")).unwrap();
    fs::create_dir(world.at("made")).unwrap();
    let before = world.repo.take_as_before(&[], b"eempty\0");
    let after = world.repo.take("s").unwrap().hash;
    let outcome = world.revert(before, after);
    assert_eq!(outcome.removed_folders, [RelPath::new("made").unwrap()]);
    assert!(world.at("empty").is_dir());
    assert_eq!(outcome.conflicts, []);
}
