//! Random sequences of actions by a user and an agent: the user's data is never lost.

use std::{collections::BTreeMap, fs, path::Path};

use lathe_snapshot::{Snapshot, SnapshotRef};
use proptest::prelude::*;

use crate::support::{World, cases};

#[derive(Debug, Clone)]
enum Action {
    UserWrites(usize, bool),
    UserDeletes(usize),
    AgentWrites(usize, bool),
    AgentDeletes(usize),
    Revert(usize),
    RevertOne(usize, usize),
    Unrevert,
    CleanUp,
    Restart,
}

const PATHS: [&str; 8] = [
    "a",
    "b",
    "d/a",
    "d/b",
    "d/e/f",
    "a/x",
    "ignored.log",
    ".gitignore",
];

fn action() -> impl Strategy<Value = Action> {
    let which = 0..PATHS.len();
    prop_oneof![
        4 => (which.clone(), any::<bool>()).prop_map(|(n, big)| Action::UserWrites(n, big)),
        1 => which.clone().prop_map(Action::UserDeletes),
        4 => (which.clone(), any::<bool>()).prop_map(|(n, big)| Action::AgentWrites(n, big)),
        2 => which.clone().prop_map(Action::AgentDeletes),
        3 => (0..8usize).prop_map(Action::Revert),
        1 => (0..8usize, which).prop_map(|(n, p)| Action::RevertOne(n, p)),
        2 => Just(Action::Unrevert),
        1 => Just(Action::CleanUp),
        1 => Just(Action::Restart),
    ]
}

struct Simulation {
    world: World,
    /// The snapshots before and after each step of the agent.
    steps: Vec<(Snapshot, Snapshot)>,
    undo: Option<(Snapshot, Snapshot)>,
    /// The user's texts that must be at their paths.
    users: BTreeMap<&'static str, String>,
    /// The user's texts that were replaced; they must be in a snapshot or in the trash.
    replaced: Vec<String>,
    count: usize,
}

impl Simulation {
    fn text(&mut self, who: &str, big: bool) -> String {
        self.count += 1;
        let line = format!("{who} {}\n", self.count);
        // Over the limit for untracked files, which is 200 bytes here.
        line.repeat(if big { 40 } else { 1 })
    }

    /// Fails if a folder is at the path, or a file at one of its parents.
    fn write(&self, at: &str, text: &str) -> bool {
        let to = self.world.at(at);
        fs::create_dir_all(to.parent().unwrap()).is_ok() && fs::write(to, text).is_ok()
    }

    fn step(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.world.take();
        change(self);
        let after = self.world.take();
        self.steps.push((before, after));
    }

    fn run(&mut self, action: Action) {
        match action {
            Action::UserWrites(n, big) => {
                let text = match PATHS[n] {
                    ".gitignore" => format!("*.log\n# user {}\n", self.count),
                    _ => self.text("user", big),
                };
                if self.write(PATHS[n], &text) {
                    // The user may overwrite their own text.
                    self.users.insert(PATHS[n], text);
                }
            }
            Action::UserDeletes(n) => {
                if fs::remove_file(self.world.at(PATHS[n])).is_ok() {
                    self.users.remove(PATHS[n]);
                }
            }
            Action::AgentWrites(n, big) => self.step(|simulation| {
                let text = match PATHS[n] {
                    ".gitignore" => "# agent\n".to_owned(),
                    _ => simulation.text("agent", big),
                };
                if simulation.agent_may_touch(n) && simulation.write(PATHS[n], &text) {
                    simulation
                        .replaced
                        .extend(simulation.users.remove(PATHS[n]));
                }
            }),
            Action::AgentDeletes(n) => self.step(|simulation| {
                if simulation.agent_may_touch(n)
                    && fs::remove_file(simulation.world.at(PATHS[n])).is_ok()
                {
                    simulation
                        .replaced
                        .extend(simulation.users.remove(PATHS[n]));
                }
            }),
            Action::Revert(n) => self.revert(n, None),
            Action::RevertOne(n, at) => self.revert(n, Some(PATHS[at])),
            Action::Unrevert => {
                if let Some((target, post)) = self.undo.take() {
                    self.world.revert(&target, &post);
                }
            }
            Action::CleanUp => {
                self.release_unneeded();
                self.world.repo.collect_garbage().unwrap();
            }
            Action::Restart => self.world.reopen(),
        }
    }

    /// A file that is in no snapshot (too large or ignored) cannot be restored. To protect it
    /// from the agent is the task of permissions.
    fn agent_may_touch(&self, n: usize) -> bool {
        let taken = self.world.take();
        !self.world.exists(PATHS[n]) || self.world.snapshot_files(taken.hash).contains_key(PATHS[n])
    }

    fn revert(&mut self, n: usize, only: Option<&str>) {
        let Some((target, _)) = self.steps.get(n).cloned() else {
            return;
        };
        let (_, post) = self.steps.last().unwrap().clone();
        let safety = self.world.take();
        match only {
            None => {
                self.world.revert(&target, &post);
            }
            Some(at) => {
                let plan = self.world.plan(&[at], &target, &post);
                self.world.repo.apply(&plan, &self.world.trash());
            }
        }
        let reverted = self.world.take();
        self.undo = Some((safety, reverted));
        self.note_replaced_texts();
    }

    /// A user's file that did not change during the agent's step is part of the post-image, so a
    /// revert may replace it. Then it must be in a snapshot or in the trash.
    fn note_replaced_texts(&mut self) {
        let world = &self.world;
        let gone: Vec<&str> = self
            .users
            .iter()
            .filter(|(at, text)| fs::read(world.at(at)).ok().as_deref() != Some(text.as_bytes()))
            .map(|(at, _)| *at)
            .collect();
        for at in gone {
            self.replaced.extend(self.users.remove(at));
        }
    }

    fn release_unneeded(&self) {
        let mut needed: Vec<SnapshotRef> = Vec::new();
        for (before, after) in self.steps.iter().chain(&self.undo) {
            needed.extend([before.reference.clone(), after.reference.clone()]);
        }
        let mut all = self.world.repo.references("session").unwrap();
        all.retain(|one| !needed.contains(one));
        self.world.repo.release(&all).unwrap();
    }

    fn check(&self) {
        for (at, text) in &self.users {
            let now = fs::read(self.world.at(at)).unwrap_or_default();
            assert_eq!(
                String::from_utf8_lossy(&now),
                *text,
                "{at} is the user's and in place"
            );
        }
        let mut kept = Vec::new();
        gather(&self.world.trash(), &mut kept);
        gather(&self.world.tree(), &mut kept);
        for reference in self.world.repo.references("session").unwrap() {
            kept.extend(
                self.world
                    .snapshot_files(reference.tree())
                    .into_values()
                    .map(|(_, bytes)| bytes),
            );
        }
        for text in &self.replaced {
            assert!(
                kept.iter().any(|bytes| bytes == text.as_bytes()),
                "{text:?} is lost"
            );
        }
    }
}

fn gather(dir: &Path, kept: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let at = entry.unwrap().path();
        if at.is_dir() {
            gather(&at, kept);
        } else {
            kept.push(fs::read(at).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(100, 2_000)))]

    #[test]
    fn the_users_data_is_never_lost(actions in prop::collection::vec(action(), 1..25)) {
        let options = lathe_snapshot::Options { untracked_limit: 200, ..crate::support::options() };
        let mut simulation = Simulation {
            world: World::with(options),
            steps: Vec::new(),
            undo: None,
            users: BTreeMap::new(),
            replaced: Vec::new(),
            count: 0,
        };
        simulation.world.write(".gitignore", "*.log\n");
        for action in actions {
            simulation.run(action);
            simulation.check();
        }
    }
}
