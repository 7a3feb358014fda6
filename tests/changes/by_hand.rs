//! Keep, revert, undo and redo in random order, against a tree that is computed by hand.

use std::collections::BTreeSet;

use lathe_protocol::ipc::{KeptState, ReviewSelection};

use crate::reviewing::{ALL, Reviewing, numbered, replaced};
use lathe_test_support::dice::Dice;
use lathe_test_support::scripted_agent::Agent;

/// What a story by hand says about a file of replaced lines, and about one that the agent made.
#[derive(Clone, Default, PartialEq, Debug)]
struct Hand {
    reverted: BTreeSet<usize>,
    kept: BTreeSet<usize>,
    made_is_gone: bool,
}

const MADE: &str = "d/made.txt";

/// The lines that the agent changed; a person edits others.
const AGENTS: [usize; 5] = [5, 15, 25, 35, 45];
const MINE: [usize; 4] = [10, 20, 30, 40];

/// Every line of keep, revert, undo and redo against a tree that is computed by hand.
async fn tell(seed: u64, steps: usize) {
    let mut dice = Dice::new(seed);
    let mut agent = Agent::start().await.file("a.txt", &numbered(1..=50));
    let command: Vec<String> = AGENTS
        .iter()
        .map(|line| format!("s/line {line}$/agent {line}/"))
        .collect();
    agent
        .turn(&format!(
            "sed -i '{}' a.txt; mkdir d; printf 'made\\n' > {MADE}",
            command.join(";")
        ))
        .await;
    let mut mine: Vec<Option<usize>> = vec![None; MINE.len()];
    let mut now = Hand::default();
    let (mut done, mut undone): (Vec<Hand>, Vec<Hand>) = (Vec::new(), Vec::new());
    let mut shown = agent.files(&ALL).await[0].version.clone();
    let mut log = vec![format!("seed {seed}")];
    for step in 0..steps {
        let some: Vec<usize> = AGENTS.into_iter().filter(|_| dice.roll(2) == 0).collect();
        let files = agent.files(&ALL).await;
        let replaced_file = files.iter().find(|file| file.path == "a.txt");
        let made = files.iter().find(|file| file.path == MADE);
        assert_eq!(made.is_none(), now.made_is_gone, "{log:#?}");
        if let Some(file) = replaced_file.filter(|_| shown.is_empty() || dice.roll(2) == 0) {
            shown.clone_from(&file.version);
        }
        let lines = replaced("a.txt", &shown, &some);
        match dice.roll(9) {
            0 => {
                let at = dice.roll(MINE.len());
                mine[at] = Some(step);
                let text: Vec<String> =
                    agent.app.read("a.txt").lines().map(str::to_owned).collect();
                let edited =
                    text.iter()
                        .enumerate()
                        .map(|(line, text)| match line + 1 == MINE[at] {
                            true => format!("mine {step}\n"),
                            false => format!("{text}\n"),
                        });
                agent.app.write("a.txt", edited.collect::<String>());
                log.push(format!("I edit line {}", MINE[at]));
            }
            1 | 2 if replaced_file.is_some() => {
                let version = replaced_file.map(|file| file.version.as_str());
                let fresh = replaced("a.txt", version.unwrap_or_default(), &some);
                agent.keep(&fresh).await;
                let mut next = now.clone();
                next.kept
                    .extend(some.iter().filter(|line| !now.reverted.contains(line)));
                if next != now {
                    done.push(std::mem::replace(&mut now, next));
                    undone.clear();
                }
                log.push(format!("keep {some:?}"));
            }
            3 | 4 if !shown.is_empty() => {
                agent.revert(&lines).await;
                let mut next = now.clone();
                next.reverted.extend(&some);
                next.kept.retain(|line| !some.contains(line));
                if next.reverted != now.reverted {
                    done.push(std::mem::replace(&mut now, next));
                    undone.clear();
                }
                log.push(format!("revert {some:?}"));
            }
            5 => {
                if let Some(before) = done.pop() {
                    agent.undo().await;
                    undone.push(std::mem::replace(&mut now, before));
                    log.push("undo".into());
                }
            }
            7 => {
                if let Some(file) = made {
                    let whole = ReviewSelection::File {
                        path: MADE.into(),
                        version: file.version.clone(),
                    };
                    agent.revert(&whole).await;
                    let mut next = now.clone();
                    next.made_is_gone = true;
                    done.push(std::mem::replace(&mut now, next));
                    undone.clear();
                    log.push("revert the new file".into());
                }
            }
            8 if dice.roll(3) == 0 => {
                agent = agent.restart().await;
                // A page that was loaded before is gone, and with it the versions that it showed.
                shown.clear();
                log.push("restart".into());
            }
            _ => {
                if let Some(after) = undone.pop() {
                    agent.redo().await;
                    done.push(std::mem::replace(&mut now, after));
                    log.push("redo".into());
                }
            }
        }
        let by_hand: String = (1..=50)
            .map(|line| {
                let edited = MINE
                    .iter()
                    .position(|at| *at == line)
                    .and_then(|at| mine[at]);
                match edited {
                    Some(step) => format!("mine {step}\n"),
                    None if AGENTS.contains(&line) && !now.reverted.contains(&line) => {
                        format!("agent {line}\n")
                    }
                    None => format!("line {line}\n"),
                }
            })
            .collect();
        assert_eq!(agent.app.read("a.txt"), by_hand, "{log:#?}");
        let made = std::fs::read_to_string(agent.app.path(MADE)).ok();
        let expected = (!now.made_is_gone).then(|| "made\n".to_owned());
        assert_eq!(made, expected, "{log:#?}");
        let (changes, id) = (&agent.changes(), &agent.app.session.id);
        let shape = changes.review_file(id, &ALL, "a.txt", false).await;
        let mut kept = BTreeSet::new();
        for hunk in shape.iter().flat_map(|shape| &shape.hunks) {
            if hunk.kept == KeptState::All {
                kept.insert(hunk.new_start + 3);
            }
        }
        assert_eq!(kept, now.kept, "{log:#?}");
    }
}

#[tokio::test]
async fn whatever_is_kept_reverted_undone_and_edited_the_files_are_as_by_hand() {
    let (seeds, steps) = match std::env::var_os("LATHE_SOAK") {
        Some(_) => (500, 40),
        None => (6, 25),
    };
    for seed in 0..seeds {
        tell(seed, steps).await;
    }
}
