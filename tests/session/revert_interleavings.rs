//! Edits of a person, turns of the agent, reverts and undos in random order: no change of the
//! person is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use futures::{StreamExt, stream};
use lathe_protocol::MessageId;
use lathe_protocol::ipc::RevertTarget;
use lathe_session::Failed;

use lathe_test_support::dice::Dice;
use lathe_test_support::scripted_agent::Agent;

const FILES: [&str; 4] = ["a.txt", "b.txt", "made/c.txt", "made/deep/d.txt"];

struct Story {
    agent: Agent,
    dice: Dice,
    /// The last change of the person to each file that was not changed by the agent since.
    mine: BTreeMap<&'static str, Option<String>>,
    /// Files that the agent or a revert removed. If the person removes such a file, too, the
    /// result is the same, so it cannot be checked.
    removed: BTreeSet<&'static str>,
    turns: Vec<MessageId>,
    log: Vec<String>,
}

impl Story {
    async fn tell(seed: u64, steps: usize) {
        let agent = Agent::start().await.file("a.txt", "start\n");
        let mut story = Story {
            agent,
            dice: Dice::new(seed),
            mine: BTreeMap::new(),
            removed: BTreeSet::new(),
            turns: Vec::new(),
            log: vec![format!("seed {seed}")],
        };
        for step in 0..steps {
            let before = story.there();
            story.step(step).await;
            let after = story.there();
            let gone = before.difference(&after).copied();
            let by_others = gone.filter(|file| !story.mine.contains_key(file));
            story.removed.extend(by_others);
            story.check();
        }
    }

    fn there(&self) -> BTreeSet<&'static str> {
        let there = FILES.into_iter();
        there
            .filter(|file| self.agent.app.path(file).exists())
            .collect()
    }

    async fn step(&mut self, step: usize) {
        let file = FILES[self.dice.roll(FILES.len())];
        let path = self.agent.app.path(file);
        match self.dice.roll(8) {
            0 | 1 => {
                let content = format!("mine {step}\n");
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &content).unwrap();
                self.mine.insert(file, Some(content));
                self.log.push(format!("I write {file}"));
            }
            2 => {
                if fs::remove_file(&path).is_ok() {
                    match self.removed.contains(file) {
                        true => self.mine.remove(file),
                        false => self.mine.insert(file, None),
                    };
                    self.log.push(format!("I remove {file}"));
                }
            }
            3 | 4 => {
                let command = match self.dice.roll(3) {
                    0 => format!("rm -f {file}"),
                    1 => format!("mkdir -p $(dirname {file}); echo agent {step} >> {file}"),
                    _ => format!("mkdir -p $(dirname {file}); echo agent {step} > {file}"),
                };
                self.turns.push(self.agent.turn(&command).await);
                self.mine.remove(file);
                self.log.push(format!("the agent runs {command}"));
            }
            5 => {
                if let Some(message_id) = self.some_turn().await {
                    let target = RevertTarget::Message {
                        message_id,
                        keep_files: false,
                    };
                    self.revert(target).await;
                }
            }
            6 => {
                let message_id = None;
                let path = file.to_owned();
                self.revert(RevertTarget::File { message_id, path }).await;
            }
            _ => {
                let app = &self.agent.app;
                let undone = app.sessions.unrevert(&app.session.id).await;
                assert!(
                    matches!(undone, Ok(_) | Err(Failed::Refused(_))),
                    "{undone:?}"
                );
                app.sessions.clean_up(0).await;
                self.log.push("all comes back, and a clean-up".into());
            }
        }
    }

    /// A message that has not been removed by a later prompt.
    async fn some_turn(&mut self) -> Option<MessageId> {
        let messages = self.agent.app.messages().await;
        let there = |id: &MessageId| messages.iter().any(|message| message.info.id() == id);
        self.turns.retain(there);
        let count = self.turns.len();
        (count > 0).then(|| self.turns[self.dice.roll(count)].clone())
    }

    async fn revert(&mut self, target: RevertTarget) {
        let app = &self.agent.app;
        let done = app.sessions.revert(&app.session.id, &target).await;
        assert!(matches!(done, Ok(_) | Err(Failed::Refused(_))), "{done:?}");
        self.log.push(format!("back to {target:?}"));
    }

    fn check(&self) {
        for (file, wanted) in &self.mine {
            let found = fs::read_to_string(self.agent.app.path(file)).ok();
            assert_eq!(&found, wanted, "{file} after {:#?}", self.log);
        }
    }
}

#[tokio::test]
async fn no_change_of_the_person_is_lost_in_any_order_of_events() {
    let (stories, steps) = match std::env::var_os("LATHE_SOAK") {
        Some(_) => (2_000, 12),
        None => (6, 10),
    };
    // Several in parallel: each mostly waits for the disk and for shells.
    let each = stream::iter(1..=stories);
    each.for_each_concurrent(4, |seed| Story::tell(seed, steps))
        .await;
}
