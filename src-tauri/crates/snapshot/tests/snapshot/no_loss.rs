//! Random interleavings of what people and agents do: no byte of the user's is ever lost.

use std::{collections::BTreeMap, fs, path::Path};

use lathe_snapshot::{Snapshot, SnapshotRef};
use proptest::prelude::*;

use crate::support::{World, cases, path};

#[derive(Debug, Clone)]
enum Act {
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

fn act() -> impl Strategy<Value = Act> {
    let which = 0..PATHS.len();
    prop_oneof![
        4 => (which.clone(), any::<bool>()).prop_map(|(n, big)| Act::UserWrites(n, big)),
        1 => which.clone().prop_map(Act::UserDeletes),
        4 => (which.clone(), any::<bool>()).prop_map(|(n, big)| Act::AgentWrites(n, big)),
        2 => which.clone().prop_map(Act::AgentDeletes),
        3 => (0..8usize).prop_map(Act::Revert),
        1 => (0..8usize, which).prop_map(|(n, p)| Act::RevertOne(n, p)),
        2 => Just(Act::Unrevert),
        1 => Just(Act::CleanUp),
        1 => Just(Act::Restart),
    ]
}

/// What the session keeps: one entry per agent step.
struct Play {
    world: World,
    steps: Vec<(Snapshot, Snapshot)>,
    undo: Option<(Snapshot, Snapshot)>,
    /// Where each of the user's texts must be findable: still at its path, or kept.
    users: BTreeMap<&'static str, String>,
    replaced: Vec<String>,
    count: usize,
}

impl Play {
    fn text(&mut self, who: &str, big: bool) -> String {
        self.count += 1;
        let line = format!("{who} {}\n", self.count);
        // Past the limit for untracked files, which is 200 here.
        line.repeat(if big { 40 } else { 1 })
    }

    /// Both can only write where a file may be.
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

    fn run(&mut self, act: Act) {
        match act {
            Act::UserWrites(n, big) => {
                let text = match PATHS[n] {
                    ".gitignore" => format!("*.log\n# user {}\n", self.count),
                    _ => self.text("user", big),
                };
                if self.write(PATHS[n], &text) {
                    // The user's own choice to write over it.
                    self.users.insert(PATHS[n], text);
                }
            }
            Act::UserDeletes(n) => {
                if fs::remove_file(self.world.at(PATHS[n])).is_ok() {
                    self.users.remove(PATHS[n]);
                }
            }
            Act::AgentWrites(n, big) => self.step(|play| {
                let text = match PATHS[n] {
                    ".gitignore" => "# agent\n".to_owned(),
                    _ => play.text("agent", big),
                };
                if play.agent_may_touch(n) && play.write(PATHS[n], &text) {
                    play.replaced.extend(play.users.remove(PATHS[n]));
                }
            }),
            Act::AgentDeletes(n) => self.step(|play| {
                if play.agent_may_touch(n) && fs::remove_file(play.world.at(PATHS[n])).is_ok() {
                    play.replaced.extend(play.users.remove(PATHS[n]));
                }
            }),
            Act::Revert(n) => self.revert(n, None),
            Act::RevertOne(n, at) => self.revert(n, Some(PATHS[at])),
            Act::Unrevert => {
                if let Some((target, post)) = self.undo.take() {
                    self.world.revert(&target, &post);
                }
            }
            Act::CleanUp => {
                self.release_unneeded();
                self.world.repo.collect_garbage().unwrap();
            }
            Act::Restart => self.world.reopen(),
        }
    }

    /// What no snapshot holds (too large, ignored) an agent's tool could destroy for good;
    /// that is for permissions to prevent, not for us.
    fn agent_may_touch(&self, n: usize) -> bool {
        let taken = self.world.take();
        !self.world.exists(PATHS[n]) || self.world.held(taken.hash).contains_key(PATHS[n])
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
                let plan = self
                    .world
                    .repo
                    .plan_restore(&[path(at)], target.hash, post.hash)
                    .unwrap();
                self.world.repo.apply(&plan, &self.world.trash());
            }
        }
        let reverted = self.world.take();
        self.undo = Some((safety, reverted));
        self.forget_what_the_revert_replaced();
    }

    /// A user's file that stood unchanged through the agent's step may be part of a
    /// post-image; if a revert took it back, it must be in a snapshot or in the trash.
    fn forget_what_the_revert_replaced(&mut self) {
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
                    .held(reference.tree())
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
    fn no_byte_of_the_users_is_lost(acts in prop::collection::vec(act(), 1..25)) {
        let options = lathe_snapshot::Options { untracked_limit: 200, ..crate::support::options() };
        let mut play = Play {
            world: World::with(options),
            steps: Vec::new(),
            undo: None,
            users: BTreeMap::new(),
            replaced: Vec::new(),
            count: 0,
        };
        play.world.write(".gitignore", "*.log\n");
        for act in acts {
            play.run(act);
            play.check();
        }
    }
}
