//! The changes of each step, read from the parts of a session.
//!
//! A call that records its credit is a span of its own. A step of an older version has a tree
//! before and a tree after. A revert of single files counts as a span too, so that the changes
//! of a file form an unbroken chain from the first tree to the current file. A broken chain means
//! that the person or another program changed the file in between.

mod chains;

use std::ops::Range;
use std::path::Path;

use lathe_protocol::{MessageId, MessageWithParts, Part, PartId, ToolPart, ToolState};
use lathe_snapshot::{RelPath, SideRepo, TreeId};

use crate::Review;
use crate::credit::{self, Credit, Doubt, Proof, Span, keeper};
use crate::snapshots::OUTSIDE;
pub use chains::{Chain, Chains, Doubtful, chains, chains_after};

/// Two trees and the position of what lies between them in the history.
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
    pub basis: Basis,
    /// The trees between the calls of an older version's step, each with the position of the
    /// part after it.
    pub between: Vec<(usize, TreeId)>,
}

/// What a pair of trees says about the changes between them.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    /// A step of an older version: all of it counts as the agent's.
    WholeStep,
    /// A call that records whose the changes are.
    Credited(Span),
    /// A revert of single files. Only the named files count, and only where an earlier step
    /// changed them.
    Revert,
}

impl StepTrees {
    pub fn is_revert(&self) -> bool {
        self.basis == Basis::Revert
    }

    /// The trees are of files outside of the project.
    pub fn is_outside(&self) -> bool {
        matches!(&self.basis, Basis::Credited(span) if span.outside)
    }

    /// Its end was not seen.
    pub fn is_cut_short(&self) -> bool {
        matches!(&self.basis, Basis::Credited(span) if span.proof == Proof::Late)
    }

    pub(crate) fn doubt(&self, path: &RelPath) -> Option<Doubt> {
        match &self.basis {
            Basis::Credited(span) => span.doubt(path),
            Basis::WholeStep | Basis::Revert => None,
        }
    }
}

/// The key of the tree before a call in the `extra` fields of its tool part, in older versions.
pub const TREE_BEFORE_CALL: &str = "snapshot";
/// The key of the files as they were before a revert, in the `extra` fields of its record.
pub const BEFORE_REVERT: &str = "before";

/// The spans of a history that have both trees, in order.
pub fn read(messages: &[MessageWithParts]) -> Vec<StepTrees> {
    let each = messages.iter().enumerate();
    each.flat_map(|(at, message)| read_message(at, message))
        .collect()
}

/// Those of files in the project.
pub fn read_project(messages: &[MessageWithParts]) -> Vec<StepTrees> {
    let mut steps = read(messages);
    steps.retain(|step| !step.is_outside());
    steps
}

fn read_message(message: usize, content: &MessageWithParts) -> Vec<StepTrees> {
    let mut steps: Vec<StepTrees> = Vec::new();
    let mut open: Option<(usize, TreeId)> = None;
    let mut between = Vec::new();
    // Where the spans of the open step begin, once one of its calls records its credit.
    let mut credited: Option<usize> = None;
    for (at, part) in content.parts.iter().enumerate() {
        match part {
            Part::StepStart(part) => {
                open = tree(part.snapshot.as_deref()).map(|tree| (at, tree));
                between.clear();
                credited = None;
            }
            Part::Tool(part) => {
                if let Some(credit) = Credit::of(part) {
                    credited.get_or_insert(steps.len());
                    let spans = credit.spans.into_iter();
                    steps.extend(spans.filter_map(|span| credited_span(message, at, span)));
                }
                let before = part.extra.0.get(TREE_BEFORE_CALL);
                let before = tree(before.and_then(|hash| hash.as_str()));
                between.extend(before.map(|tree| (at, tree)));
            }
            Part::StepFinish(part) => {
                let finish = tree(part.snapshot.as_deref());
                if let (Some((from, start)), Some(finish), None) = (open.take(), finish, credited) {
                    steps.push(StepTrees {
                        message,
                        parts: from..at + 1,
                        start,
                        finish,
                        named: Vec::new(),
                        basis: Basis::WholeStep,
                        between: std::mem::take(&mut between),
                    });
                }
            }
            Part::Patch(part) => {
                if let Some(step) = steps.last_mut() {
                    match step.basis {
                        Basis::WholeStep => {
                            step.named.extend(part.files.iter().cloned());
                            step.parts.end = at + 1;
                        }
                        // Names what cannot be reverted where the trees are missing.
                        Basis::Credited(_) => step.named.extend(part.files.iter().cloned()),
                        Basis::Revert => {}
                    }
                }
            }
            Part::Snapshot(part) => {
                let Some(reverted) = &part.reverted_files else {
                    continue;
                };
                let before = reverted.extra.0.get(BEFORE_REVERT);
                let before = before.and_then(|hash| hash.as_str());
                let start = tree(Some(before.unwrap_or(&part.snapshot)));
                if let (Some(start), Some(finish)) = (start, tree(Some(&reverted.after))) {
                    steps.push(StepTrees {
                        message,
                        parts: at..at + 1,
                        start,
                        finish,
                        named: reverted.files.clone(),
                        basis: Basis::Revert,
                        between: Vec::new(),
                    });
                }
            }
            _ => {}
        }
    }
    steps
}

fn credited_span(message: usize, at: usize, span: Span) -> Option<StepTrees> {
    let (start, finish) = span.trees()?;
    Some(StepTrees {
        message,
        parts: at..at + 1,
        start,
        finish,
        named: Vec::new(),
        basis: Basis::Credited(span),
        between: Vec::new(),
    })
}

fn tree(hash: Option<&str>) -> Option<TreeId> {
    hash?.parse().ok()
}

/// The tree of the whole project before the first step at or after a message.
pub fn whole_tree_before(messages: &[MessageWithParts], end: usize) -> Option<TreeId> {
    let parts = messages.iter().skip(end).flat_map(|one| &one.parts);
    let mut trees = parts.filter_map(|part| match part {
        Part::StepStart(part) => tree(part.snapshot.as_deref()),
        _ => None,
    });
    trees.next()
}

/// What a step changed, by the names of the files.
#[derive(Debug, Default)]
pub struct ChangedFiles {
    /// Absolute.
    pub files: Vec<String>,
    /// The tree before the first change; `None` if nothing was changed.
    pub first_tree: Option<TreeId>,
}

/// The files that the calls of a message changed.
pub async fn changed_files(
    review: &Review,
    worktree: &Path,
    message: MessageWithParts,
) -> ChangedFiles {
    let steps = read(std::slice::from_ref(&message));
    let mut changed = ChangedFiles::default();
    for outside in [false, true] {
        let mut mine = steps.clone();
        mine.retain(|step| step.is_outside() == outside && step.start != step.finish);
        let Some(first) = mine.first().map(|step| step.start) else {
            continue;
        };
        let root = if outside {
            Path::new(OUTSIDE)
        } else {
            worktree
        };
        let list = move |repo: &SideRepo| {
            let paths = chains(repo, &mine)?.spans().into_keys();
            let paths = paths.map(|path| repo.path_of(&path).display().to_string());
            Ok(paths.collect::<Vec<String>>())
        };
        let listed = review.snapshots.with_repo(root, list).await;
        let listed = listed.unwrap_or_default();
        if !listed.is_empty() {
            changed.first_tree.get_or_insert(first);
            changed.files.extend(listed);
        }
    }
    changed
}

/// A call of which it is not known what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCall {
    pub message: usize,
    pub part: usize,
    /// A sentence for a person.
    pub text: String,
}

/// The calls that no tree speaks for.
pub fn unknown_calls(messages: &[MessageWithParts]) -> Vec<UnknownCall> {
    let mut found = Vec::new();
    for (message, content) in messages.iter().enumerate() {
        let spoken_for = old_steps_with_trees(content);
        let is_of_person = is_own_command(content);
        for (at, part) in content.parts.iter().enumerate() {
            let Part::Tool(part) = part else { continue };
            let why = match Credit::of(part) {
                Some(credit) => why_unknown(&credit)
                    .filter(|why| !(is_of_person && *why == keeper::SWITCHED_OFF)),
                None if spoken_for.iter().any(|step| step.contains(&at)) => None,
                None => credit::may_have_written(part)
                    .then(|| "there is no snapshot from before and after it".to_owned()),
            };
            found.extend(why.map(|why| UnknownCall {
                message,
                part: at,
                text: format!("What {} did is not known: {why}", describe(part)),
            }));
        }
    }
    found
}

/// Only a command of the person is called without a step. Earlier versions recorded of it that
/// snapshots were switched off.
fn is_own_command(content: &MessageWithParts) -> bool {
    let mut parts = content.parts.iter();
    !parts.any(|part| matches!(part, Part::StepStart(_)))
}

fn why_unknown(credit: &Credit) -> Option<String> {
    let cut_short = |span: &Span| span.after.is_none() && span.proof != Proof::Written;
    match &credit.unknown {
        Some(why) => Some(why.clone()),
        None if credit.spans.iter().any(cut_short) => Some("it was cut short".to_owned()),
        None => None,
    }
}

/// The ranges of steps with both trees.
fn old_steps_with_trees(content: &MessageWithParts) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open = None;
    for (at, part) in content.parts.iter().enumerate() {
        match part {
            Part::StepStart(part) => open = part.snapshot.as_ref().map(|_| at),
            Part::StepFinish(part) => {
                let from = open.take().filter(|_| part.snapshot.is_some());
                ranges.extend(from.map(|from| from..at));
            }
            _ => {}
        }
    }
    ranges
}

/// `bash (make install)`
fn describe(part: &ToolPart) -> String {
    const LONGEST: usize = 60;
    let input = match part.state() {
        ToolState::Pending(state) => &state.input,
        ToolState::Running(state) => &state.input,
        ToolState::Completed(state) => &state.input,
        ToolState::Error(state) => &state.input,
    };
    let named = ["command", "filePath", "description"];
    let named = named.iter().find_map(|key| input.get(*key)?.as_str());
    match named.and_then(|text| text.lines().next()) {
        Some(text) if text.chars().count() > LONGEST => {
            let start: String = text.chars().take(LONGEST).collect();
            format!("{} ({start}…)", part.tool)
        }
        Some(text) => format!("{} ({text})", part.tool),
        None => part.tool.clone(),
    }
}

/// The parts of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepParts {
    pub message: usize,
    pub parts: Range<usize>,
}

impl StepParts {
    pub fn contains(&self, step: &StepTrees) -> bool {
        step.message == self.message && self.parts.contains(&step.parts.start) && !step.is_revert()
    }

    /// Whether a step was done after this one.
    pub fn is_before(&self, step: &StepTrees) -> bool {
        (self.message, self.parts.end) <= (step.message, step.parts.start) || step.is_revert()
    }
}

/// The step that a part begins.
pub fn step_parts(
    messages: &[MessageWithParts],
    message: &MessageId,
    part: &PartId,
) -> Option<StepParts> {
    let at = messages.iter().position(|one| one.info.id() == message)?;
    let parts = &messages[at].parts;
    let start = parts.iter().position(|one| one.id() == part)?;
    let rest = parts.iter().skip(start + 1);
    let length = rest
        .take_while(|one| !matches!(one, Part::StepStart(_)))
        .count();
    Some(StepParts {
        message: at,
        parts: start..start + 1 + length,
    })
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
