//! Restores that are killed at every step, and what the next start makes of them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::PathRestore;
use crate::{Options, Outcome, Plan, Recovered, Round, SideRepo, TreeId, os::fault::Kill};

struct World {
    dir: TempDir,
    data: TempDir,
    repo: SideRepo,
}

struct Changed {
    before: TreeId,
    after: TreeId,
    original: State,
    agents: State,
}

impl Changed {
    /// Everything is as before the restore; or, if it came to its end, as the restore wanted it.
    fn assert_whole(&self, world: &World, recovered: &[Recovered]) {
        let now = world.state();
        if !recovered.is_empty() || now != self.original {
            assert_same(&now, &self.agents);
        }
        world.assert_nothing_is_left();
    }
}

/// Type, permissions and content of everything in a folder.
type State = BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn open(tree: &Path, data: &Path) -> SideRepo {
    let options = Options {
        keep_free: 0,
        ..Options::default()
    };
    SideRepo::open_with(data, tree, options).unwrap()
}

fn set_mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

impl World {
    fn new(data: TempDir) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = open(dir.path(), data.path());
        Self { dir, data, repo }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    fn restart(&mut self) {
        self.repo = open(self.dir.path(), self.data.path());
    }

    /// One change of every kind.
    fn changed_by_an_agent(&self) -> Changed {
        for n in 0..3 {
            self.write(&format!("edited/{n}"), "before");
        }
        self.write("removed/deep/file", "before");
        set_mode(&self.at("removed/deep"), 0o700);
        self.write("private", "before");
        set_mode(&self.at("private"), 0o600);
        self.write("linked", "before, and longer");
        fs::hard_link(self.at("linked"), self.at("linked too")).unwrap();
        for name in ["joined", "torn"] {
            self.write(name, "before");
            let too = self.at(&format!("{name} too"));
            fs::hard_link(self.at(name), too).unwrap();
        }
        self.write("was-file", "before");
        self.write("was-folder/inner", "before");
        fs::create_dir(self.at("was-empty")).unwrap();
        fs::create_dir(self.at("emptied")).unwrap();
        symlink("before", self.at("link")).unwrap();
        let before = self.repo.take("s").unwrap().hash;
        let original = self.state();

        for n in 0..3 {
            self.write(&format!("edited/{n}"), "after");
        }
        fs::remove_dir_all(self.at("removed")).unwrap();
        set_mode(&self.at("private"), 0o644);
        self.write("linked", "after");
        fs::remove_file(self.at("joined too")).unwrap();
        fs::remove_file(self.at("torn too")).unwrap();
        self.write("torn too", "after");
        fs::remove_file(self.at("was-file")).unwrap();
        self.write("was-file/inner", "after");
        fs::remove_dir_all(self.at("was-folder")).unwrap();
        self.write("was-folder", "after");
        fs::remove_dir(self.at("was-empty")).unwrap();
        self.write("was-empty", "after");
        fs::remove_dir(self.at("emptied")).unwrap();
        fs::create_dir(self.at("made-empty")).unwrap();
        self.write("new/deep/file", "after");
        fs::remove_file(self.at("link")).unwrap();
        symlink("after", self.at("link")).unwrap();
        let after = self.repo.take("s").unwrap().hash;
        let agents = self.state();
        Changed {
            before,
            after,
            original,
            agents,
        }
    }

    fn plan(&self, target: TreeId, post_image: TreeId) -> Plan {
        let paths = self.repo.changed_files(target, post_image).unwrap();
        let each = paths.into_iter().map(|path| PathRestore {
            path,
            target,
            post_image,
        });
        self.repo.plan_restore(&each.collect::<Vec<_>>()).unwrap()
    }

    fn apply(&self, plan: &Plan) -> Outcome {
        let trash = self.data.path().join("trash");
        let (outcome, round) = self.repo.apply_open(plan, &trash, "a revert");
        let _ = round.map(Round::commit);
        outcome
    }

    fn state(&self) -> State {
        let mut state = State::new();
        gather(self.dir.path(), &mut state);
        state
    }

    fn assert_nothing_is_left(&self) {
        let rounds = self.repo.rounds();
        let left = fs::read_dir(rounds).map_or(0, Iterator::count);
        assert_eq!(left, 0, "rounds");
        let stray = self.state().into_keys().find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".lathe-aside")
        });
        assert_eq!(stray, None);
    }
}

fn gather(dir: &Path, state: &mut State) {
    for entry in fs::read_dir(dir).unwrap() {
        let at = entry.unwrap().path();
        let meta = at.symlink_metadata().unwrap();
        let bits = meta.permissions().mode();
        let content = match meta.file_type() {
            kind if kind.is_dir() => {
                gather(&at, state);
                Vec::new()
            }
            kind if kind.is_symlink() => {
                let target = fs::read_link(&at).unwrap();
                target.into_os_string().into_encoded_bytes()
            }
            _ => fs::read(&at).unwrap(),
        };
        state.insert(at, (bits, content));
    }
}

fn is_soak() -> bool {
    std::env::var_os("LATHE_SOAK").is_some()
}

/// Kills a restore after each number of steps, until it survives. `then` gets each world after
/// the kill, with the state before the restore.
fn for_every_kill(
    data: impl Fn() -> Option<TempDir>,
    every: usize,
    mut then: impl FnMut(&mut World, &Kill, &Changed),
) {
    for steps in (0..).step_by(every) {
        let Some(data) = data() else { return };
        let mut world = World::new(data);
        let changed = world.changed_by_an_agent();
        let (before, after) = (changed.before, changed.after);
        let plan = world.plan(before, after);
        let kill = Kill::after(steps);
        let outcome = world.apply(&plan);
        let survived = kill.survived();
        kill.over();
        world.restart();
        if survived {
            assert_eq!(outcome.conflicts, []);
            world.assert_nothing_is_left();
            assert!(steps > 20, "only {steps} steps");
            return;
        }
        then(&mut world, &kill, &changed);
        if world.state() == changed.original {
            continue;
        }
        // And then the revert can be made.
        let outcome = world.apply(&world.plan(before, after));
        assert_eq!(outcome.conflicts, [], "after {steps} steps");
        assert_eq!(
            world.repo.take("s").unwrap().hash,
            before,
            "after {steps} steps"
        );
    }
}

fn same_disk() -> Option<TempDir> {
    tempfile::tempdir().ok()
}

/// `None` where there is no second file system.
fn other_disk() -> Option<TempDir> {
    tempfile::tempdir_in("/dev/shm").ok()
}

#[test]
fn a_killed_restore_is_rolled_back_and_leaves_nothing() {
    let every = if is_soak() { 1 } else { 3 };
    for data in [same_disk as fn() -> _, other_disk] {
        for_every_kill(data, every, |world, _, changed| {
            let recovered = world.repo.recover().unwrap();
            assert!(
                recovered.iter().all(|one| one.left.is_empty()),
                "{recovered:?}"
            );
            changed.assert_whole(world, &recovered);
            assert_eq!(world.repo.recover().unwrap(), []);
        });
    }
}

fn assert_same(now: &State, wanted: &State) {
    let different: Vec<_> = wanted
        .iter()
        .filter(|(path, found)| now.get(*path) != Some(found))
        .chain(now.iter().filter(|(path, _)| !wanted.contains_key(*path)))
        .map(|(path, found)| (path, found, now.get(path)))
        .collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn a_roll_back_that_is_killed_too_is_finished_by_the_next_one() {
    let every = if is_soak() { 1 } else { 13 };
    for data in [same_disk as fn() -> _, other_disk] {
        let mut again = 0;
        for_every_kill(data, every, |world, kill, changed| {
            again += if is_soak() { 1 } else { 5 };
            kill.set(again % 40);
            let first = world.repo.recover();
            kill.over();
            world.restart();
            let mut recovered = world.repo.recover().unwrap();
            recovered.extend(first.into_iter().flatten());
            changed.assert_whole(world, &recovered);
        });
    }
}

#[test]
fn what_a_person_wrote_after_the_kill_stays() {
    let every = if is_soak() { 1 } else { 11 };
    for data in [same_disk as fn() -> _, other_disk] {
        let mut worlds = 0;
        for steps in (0..).step_by(every) {
            let Some(data) = data() else { break };
            let mut world = World::new(data);
            let changed = world.changed_by_an_agent();
            let plan = world.plan(changed.before, changed.after);
            let kill = Kill::after(steps);
            world.apply(&plan);
            if kill.survived() {
                break;
            }
            kill.over();
            worlds += 1;
            let is_own = |path: &Path| !path.to_string_lossy().contains(".lathe-aside");
            let files: Vec<PathBuf> = world.state().into_keys().collect();
            let files = files.into_iter().filter(|at| is_own(at));
            let files: Vec<_> = files
                .filter(|at| at.symlink_metadata().unwrap().is_file())
                .collect();
            for at in &files {
                fs::write(at, "person").unwrap();
            }
            world.restart();
            world.repo.recover().unwrap();
            for at in &files {
                let now = fs::read_to_string(at).unwrap_or_default();
                assert_eq!(now, "person", "{} after {steps} steps", at.display());
            }
        }
        assert!(worlds != 1);
    }
}

#[test]
fn a_restore_is_final_only_when_it_is_committed() {
    let mut world = World::new(same_disk().unwrap());
    let changed = world.changed_by_an_agent();
    let plan = world.plan(changed.before, changed.after);
    let trash = world.data.path().join("trash");

    let (outcome, round) = world.repo.apply_open(&plan, &trash, "message 7");
    assert_eq!(outcome.conflicts, []);
    // Its owner is alive.
    assert_eq!(world.repo.recover().unwrap(), []);
    drop(round);
    world.restart();
    let open = world.repo.open_rounds().unwrap();
    assert_eq!(
        open.iter().map(|one| one.note()).collect::<Vec<_>>(),
        ["message 7"]
    );
    drop(open);
    let recovered = world.repo.recover().unwrap();
    assert_eq!((recovered.len(), &recovered[0].left[..]), (1, &[][..]));
    assert_same(&world.state(), &changed.agents);

    let (_, round) = world.repo.apply_open(&plan, &trash, "message 8");
    round.unwrap().commit().unwrap();
    world.restart();
    assert_eq!(world.repo.recover().unwrap(), []);
    assert_eq!(world.repo.take("s").unwrap().hash, changed.before);
}

#[test]
fn a_restore_that_nothing_else_knows_of_is_rolled_back_when_the_repository_is_opened() {
    let mut world = World::new(same_disk().unwrap());
    let changed = world.changed_by_an_agent();
    let plan = world.plan(changed.before, changed.after);
    let kill = Kill::after(40);
    world.repo.apply(&plan, &world.data.path().join("trash"));
    assert!(!kill.survived());
    kill.over();
    assert_ne!(world.state(), changed.agents);

    world.restart();

    assert_eq!(world.repo.recovered().len(), 1);
    assert_same(&world.state(), &changed.agents);
    world.assert_nothing_is_left();
}
