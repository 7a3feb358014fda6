//! The changes of each step, read from the parts of a session.
//!
//! A step has a tree before and a tree after. A revert of single files counts as a step too, so
//! that the changes of a file form an unbroken chain from the first tree to the current file. A
//! broken chain means that the person or another program changed the file in between.

use std::collections::BTreeMap;
use std::ops::Range;

use lathe_protocol::{MessageId, MessageWithParts, Part};
use lathe_snapshot::{RelPath, Result, SideRepo, TreeId};

/// A step and the position of its parts in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrees {
    /// The position of its message.
    pub message: usize,
    /// The positions of its parts in that message.
    pub parts: Range<usize>,
    pub start: TreeId,
    pub finish: TreeId,
    /// The files that the step lists as changed.
    pub named: Vec<String>,
    /// A revert of single files. Only the named files count, and only where an earlier step
    /// changed them.
    pub is_revert: bool,
    /// The trees between the calls of the step, each with the position of the part after it.
    pub between: Vec<(usize, TreeId)>,
}

/// The key of the tree before a call, in the `extra` fields of its tool part.
pub const TREE_BEFORE_CALL: &str = "snapshot";

/// The steps of a history that have both trees, in order.
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
                        is_revert: false,
                        between: std::mem::take(&mut between),
                    });
                }
            }
            Part::Patch(part) => {
                if let Some(step) = steps.last_mut().filter(|step| !step.is_revert) {
                    step.named.extend(part.files.iter().cloned());
                    step.parts.end = at + 1;
                }
            }
            Part::Snapshot(part) => {
                let reverted = part.reverted_files.as_ref();
                let after = reverted.and_then(|reverted| tree(Some(&reverted.after)));
                if let (Some(reverted), Some(start), Some(finish)) =
                    (reverted, tree(Some(&part.snapshot)), after)
                {
                    steps.push(StepTrees {
                        message,
                        parts: at..at + 1,
                        start,
                        finish,
                        named: reverted.files.clone(),
                        is_revert: true,
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

/// The changes of one file by several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The tree before the first change.
    pub start: TreeId,
    /// The tree after the last.
    pub finish: TreeId,
    /// The file was also changed between two of the steps.
    pub broken: bool,
}

/// Every file that steps changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    pub files: BTreeMap<RelPath, Chain>,
    /// Files of steps whose trees are missing, as the steps name them.
    pub unknown: Vec<String>,
}

/// Reads trees: blocks.
pub fn chains(repo: &SideRepo, steps: &[StepTrees]) -> Result<Chains> {
    chains_after(repo, Chains::default(), steps)
}

/// The same, continuing from chains that are already known.
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
            if step.is_revert && !step.named.iter().any(|name| *name == path.to_string()) {
                continue;
            }
            match chains.files.get_mut(&path) {
                Some(chain) => {
                    chain.broken |= !repo.is_same(&path, chain.finish, step.start)?;
                    chain.finish = step.finish;
                }
                None if step.is_revert => {}
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
pub fn turn_positions(messages: &[MessageWithParts], id: &MessageId) -> Vec<usize> {
    let belongs = |message: &MessageWithParts| {
        let answers = message.info.as_assistant();
        message.info.id() == id || answers.is_some_and(|answer| answer.parent_id == *id)
    };
    let each = messages.iter().enumerate();
    each.filter(|(_, message)| belongs(message))
        .map(|(at, _)| at)
        .collect()
}
