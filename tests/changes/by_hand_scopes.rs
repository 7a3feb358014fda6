//! Several turns, looked at one by one and together: keep, revert, undo and redo in random order and
//! in random scopes, with edits of a person in between, against a text that is made by hand.

use std::collections::{BTreeMap, BTreeSet};

use lathe_protocol::MessageId;
use lathe_protocol::ipc::{RevertLinesOptions, ReviewScope};
use lathe_test_support::dice::Dice;
use lathe_test_support::scripted_agent::Agent;

use crate::reviewing::{ALL, Reviewing, numbered, replaced, turn};

/// The agent changes two of these lines in each turn; a person edits others.
const AGENTS: [usize; 10] = [5, 7, 15, 17, 25, 27, 35, 37, 45, 47];
const MINE: [usize; 4] = [10, 20, 30, 40];

#[derive(Clone, Default, PartialEq, Debug)]
struct Hand {
    reverted: BTreeSet<usize>,
    kept: BTreeSet<usize>,
}

struct Story {
    agent: Agent,
    dice: Dice,
    turns: Vec<(MessageId, Vec<usize>)>,
    mine: BTreeMap<usize, String>,
    now: Hand,
    done: Vec<Hand>,
    undone: Vec<Hand>,
    log: Vec<String>,
}

impl Story {
    fn text(&self) -> String {
        let changed: Vec<usize> = self
            .turns
            .iter()
            .flat_map(|(_, lines)| lines.clone())
            .collect();
        let line = |at: usize| match self.mine.get(&at) {
            Some(mine) => format!("{mine}\n"),
            None if changed.contains(&at) && !self.now.reverted.contains(&at) => {
                format!("agent {at}\n")
            }
            None => format!("line {at}\n"),
        };
        (1..=50).map(line).collect()
    }

    async fn next_turn(&mut self) {
        let Some(lines) = AGENTS.chunks(2).nth(self.turns.len()) else {
            return;
        };
        let each = lines.iter().map(|at| format!("s/^line {at}$/agent {at}/"));
        let command = each.collect::<Vec<_>>().join(";");
        let id = self.agent.turn(&format!("sed -i '{command}' a.txt")).await;
        self.turns.push((id, lines.to_vec()));
        // What was done before is not undone across a turn here.
        self.done.clear();
        self.undone.clear();
        self.log.push(format!("turn {lines:?}"));
    }

    /// A scope, and the lines that it is about.
    fn scope(&mut self) -> (ReviewScope, Vec<usize>) {
        let at = self.dice.roll(self.turns.len() + 1);
        match self.turns.get(at) {
            Some((id, lines)) => (turn(id), lines.clone()),
            None => {
                let lines = self.turns.iter().flat_map(|(_, lines)| lines.clone());
                (ALL, lines.collect())
            }
        }
    }

    fn edit(&mut self, step: usize) {
        let at = MINE[self.dice.roll(MINE.len())];
        self.mine.insert(at, format!("mine {step}"));
        self.agent.app.write("a.txt", self.text());
        self.log.push(format!("I edit line {at}"));
    }

    async fn judge(&mut self, keeps: bool) {
        let (scope, lines) = self.scope();
        let some: Vec<usize> = lines
            .into_iter()
            .filter(|_| self.dice.roll(2) == 0)
            .collect();
        let files = self.agent.files(&scope).await;
        let Some(file) = files.first() else { return };
        assert_eq!(file.doubt, None, "{:#?}", self.log);
        let chosen = replaced("a.txt", &file.version, &some);
        let mut next = self.now.clone();
        self.log.push(format!("keep {keeps} {some:?} in {scope:?}"));
        match keeps {
            true => {
                self.agent.keep_in(&scope, &chosen).await;
                let there = some.iter().filter(|at| !self.now.reverted.contains(at));
                next.kept.extend(there);
            }
            false => {
                let options = RevertLinesOptions::default();
                self.agent.revert_in(&scope, &chosen, &options).await;
                next.reverted.extend(&some);
                if next.reverted != self.now.reverted {
                    next.kept.retain(|at| !some.contains(at));
                }
            }
        }
        if next != self.now {
            self.done.push(std::mem::replace(&mut self.now, next));
            self.undone.clear();
        }
    }

    async fn undo(&mut self) {
        if let Some(before) = self.done.pop() {
            self.agent.undo().await;
            self.undone.push(std::mem::replace(&mut self.now, before));
            self.log.push("undo".into());
        }
    }

    async fn redo(&mut self) {
        if let Some(after) = self.undone.pop() {
            self.agent.redo().await;
            self.done.push(std::mem::replace(&mut self.now, after));
            self.log.push("redo".into());
        }
    }

    async fn check(&self) {
        assert_eq!(self.agent.app.read("a.txt"), self.text(), "{:#?}", self.log);
        let kept: Vec<usize> = self.now.kept.iter().copied().collect();
        let shown = self.agent.kept(&ALL, "a.txt").await;
        assert_eq!(shown, kept, "{:#?}", self.log);
        let left = |lines: &[usize]| {
            let left = lines.iter().filter(|at| !self.now.reverted.contains(at));
            left.count()
        };
        for (id, lines) in &self.turns {
            let files = self.agent.files(&turn(id)).await;
            let shown: usize = files.iter().map(|file| file.additions).sum();
            assert_eq!(shown, left(lines), "{lines:?} {:#?}", self.log);
        }
    }

    /// The text before the agent, with what the person wrote.
    fn without_agent(&self) -> String {
        let line = |at: usize| match self.mine.get(&at) {
            Some(mine) => format!("{mine}\n"),
            None => format!("line {at}\n"),
        };
        (1..=50).map(line).collect()
    }

    /// The agent moves or removes the file at last: it comes back with the person's lines.
    async fn comes_back_after(&self, command: &str, path: &str) {
        self.agent.turn(command).await;
        let file = self.agent.whole(&ALL, path).await;
        self.agent.revert(&file).await;
        let back = format!("a.txt {}", self.without_agent());
        assert_eq!(self.agent.tree(), [back], "{:#?}", self.log);
    }

    /// A person changes a line of the agent, who goes on: then nothing is reverted unasked.
    async fn is_asked_about_an_overlap(&mut self, at: usize) {
        self.mine.insert(at, "mine, and not the agent's".to_owned());
        self.agent.app.write("a.txt", self.text());
        self.agent.turn("sed -i 's/^line 50$/end/' a.txt").await;
        let now = self.agent.app.read("a.txt");
        let file = self.agent.whole(&ALL, "a.txt").await;
        let left = self.agent.revert(&file).await;
        assert!(left.done.iter().all(|file| file.change.is_open()));
        assert_eq!(self.agent.app.read("a.txt"), now, "{:#?}", self.log);
    }
}

async fn tell(seed: u64, steps: usize) {
    let mut story = Story {
        agent: Agent::start().await.file("a.txt", &numbered(1..=50)),
        dice: Dice::new(seed),
        turns: Vec::new(),
        mine: BTreeMap::new(),
        now: Hand::default(),
        done: Vec::new(),
        undone: Vec::new(),
        log: vec![format!("seed {seed}")],
    };
    story.next_turn().await;
    story.next_turn().await;
    for step in 0..steps {
        match story.dice.roll(10) {
            0 => story.next_turn().await,
            1 => story.edit(step),
            2 | 3 => story.judge(true).await,
            4..=6 => story.judge(false).await,
            7 => story.undo().await,
            8 => story.redo().await,
            _ if story.dice.roll(3) == 0 => {
                story.agent = story.agent.restart().await;
                story.log.push("restart".into());
            }
            _ => {}
        }
        story.check().await;
    }
    let first = story.turns[0].1[0];
    match seed % 3 {
        0 => story.comes_back_after("mv a.txt b.txt", "b.txt").await,
        1 => story.comes_back_after("rm a.txt", "a.txt").await,
        _ if !story.now.reverted.contains(&first) => story.is_asked_about_an_overlap(first).await,
        _ => {}
    }
}

#[tokio::test]
async fn whatever_is_done_in_whichever_scope_the_files_are_as_by_hand() {
    let (seeds, steps) = match std::env::var_os("LATHE_SOAK") {
        Some(_) => (300, 30),
        None => (6, 18),
    };
    for seed in 0..seeds {
        tell(seed, steps).await;
    }
}
