//! What each step did to the work tree, as its parts tell.
//!
//! A step is known by two trees. What was taken back by hand counts as a step of its own, so
//! that a file's changes form one unbroken chain from the first tree to what is there now; a
//! chain that is broken says that somebody else changed the file in between.

use std::collections::BTreeMap;
use std::ops::Range;

use lathe_protocol::{MessageId, MessageWithParts, Part};
use lathe_snapshot::{RelPath, Result, SideRepo, TreeId};

/// One step, with where its parts stand in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrees {
    /// The position of its message.
    pub message: usize,
    /// The positions of its parts in that message.
    pub parts: Range<usize>,
    pub start: TreeId,
    pub finish: TreeId,
    /// The files it says it changed.
    pub named: Vec<String>,
    /// Only these files count, and only where a step before changed them.
    pub taken_back: bool,
    /// Trees between the calls of the step: each the one before the part at that position.
    pub between: Vec<(usize, TreeId)>,
}

/// The key under which a tool part keeps the tree before it ran.
pub const TREE_BEFORE_CALL: &str = "snapshot";

/// Those steps of a history whose two trees are both known, in order.
pub fn read(messages: &[MessageWithParts]) -> Vec<StepTrees> {
    let each = messages.iter().enumerate();
    each.flat_map(|(at, message)| read_message(at, message))
        .collect()
}

fn read_message(message: usize, content: &MessageWithParts) -> Vec<StepTrees> {
    let mut steps: Vec<StepTrees> = Vec::new();
    let mut open: Option<(usize, TreeId)> = None;
    let mut between = Vec::new();
    for (at, part) in content.parts.iter().enumerate() {
        match part {
            Part::StepStart(part) => {
                open = tree(part.snapshot.as_deref()).map(|tree| (at, tree));
                between.clear();
            }
            Part::Tool(part) => {
                let before = part.extra.0.get(TREE_BEFORE_CALL);
                let before = tree(before.and_then(|hash| hash.as_str()));
                between.extend(before.map(|tree| (at, tree)));
            }
            Part::StepFinish(part) => {
                let finish = tree(part.snapshot.as_deref());
                if let (Some((from, start)), Some(finish)) = (open.take(), finish) {
                    steps.push(StepTrees {
                        message,
                        parts: from..at + 1,
                        start,
                        finish,
                        named: Vec::new(),
                        taken_back: false,
                        between: std::mem::take(&mut between),
                    });
                }
            }
            Part::Patch(part) => {
                if let Some(step) = steps.last_mut().filter(|step| !step.taken_back) {
                    step.named.extend(part.files.iter().cloned());
                    step.parts.end = at + 1;
                }
            }
            Part::Snapshot(part) => {
                let back = part.reverted_files.as_ref();
                let after = back.and_then(|back| tree(Some(&back.after)));
                if let (Some(back), Some(start), Some(finish)) =
                    (back, tree(Some(&part.snapshot)), after)
                {
                    steps.push(StepTrees {
                        message,
                        parts: at..at + 1,
                        start,
                        finish,
                        named: back.files.clone(),
                        taken_back: true,
                        between: Vec::new(),
                    });
                }
            }
            _ => {}
        }
    }
    steps
}

fn tree(hash: Option<&str>) -> Option<TreeId> {
    hash?.parse().ok()
}

/// A file's way through the steps that changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The tree before the first change.
    pub start: TreeId,
    /// The tree after the last.
    pub finish: TreeId,
    /// Somebody else changed it in between.
    pub broken: bool,
}

/// Every file that steps changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    pub files: BTreeMap<RelPath, Chain>,
    /// Files of steps whose trees are not here, as the steps name them.
    pub unknown: Vec<String>,
}

/// Blocks: trees are read.
pub fn chains(repo: &SideRepo, steps: &[StepTrees]) -> Result<Chains> {
    chains_after(repo, Chains::default(), steps)
}

/// The same where the steps go on from what is known already.
pub fn chains_after(repo: &SideRepo, known: Chains, steps: &[StepTrees]) -> Result<Chains> {
    let mut chains = known;
    for step in steps {
        if step.start == step.finish {
            continue;
        }
        if !repo.contains(step.start) || !repo.contains(step.finish) {
            chains.unknown.extend(step.named.iter().cloned());
            continue;
        }
        for path in repo.changed_files(step.start, step.finish)? {
            if step.taken_back && !step.named.iter().any(|name| *name == path.to_string()) {
                continue;
            }
            match chains.files.get_mut(&path) {
                Some(chain) => {
                    chain.broken |= !repo.is_same(&path, chain.finish, step.start)?;
                    chain.finish = step.finish;
                }
                None if step.taken_back => {}
                None => {
                    let (start, finish) = (step.start, step.finish);
                    let broken = false;
                    let chain = Chain {
                        start,
                        finish,
                        broken,
                    };
                    chains.files.insert(path, chain);
                }
            }
        }
    }
    chains.unknown.sort();
    chains.unknown.dedup();
    Ok(chains)
}

/// The positions of a turn's messages: a prompt and its answers, or one answer alone.
pub fn turn(messages: &[MessageWithParts], id: &MessageId) -> Vec<usize> {
    let belongs = |message: &MessageWithParts| {
        let answers = message.info.as_assistant();
        message.info.id() == id || answers.is_some_and(|answer| answer.parent_id == *id)
    };
    let each = messages.iter().enumerate();
    each.filter(|(_, message)| belongs(message))
        .map(|(at, _)| at)
        .collect()
}
