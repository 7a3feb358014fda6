//! Marks on lines that a person has reviewed and keeps.
//!
//! A mark names lines by their content and not by their numbers: if the block is changed again,
//! the mark no longer fits, and the lines have to be looked at once more.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Block, LineSet, Ranges};

/// Kept lines of one block. The field names are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Identifies the block by its lines and the unchanged line above and below.
    pub block: String,
    /// Which one of the blocks with this content, in the order of the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nth: usize,
    /// The kept lines, counted from the start of the block: deleted ones first, then the added
    /// ones. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Ranges>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Mark {
    /// A file whose change has no lines: binary, renamed, only its mode.
    pub fn whole_file(version: &str) -> Mark {
        Mark {
            block: format!("file:{version}"),
            nth: 0,
            lines: None,
        }
    }

    pub fn is_whole_file(&self) -> bool {
        self.block.starts_with("file:")
    }
}

/// The marks that are of no block of these texts: another scope has other texts.
pub fn elsewhere(old: &[&str], new: &[&str], blocks: &[Block], marks: &[Mark]) -> Vec<Mark> {
    let here: HashSet<(String, usize)> = ids(old, new, blocks).into_iter().collect();
    let is_here = |mark: &&Mark| here.contains(&(mark.block.clone(), mark.nth));
    marks
        .iter()
        .filter(|mark| !is_here(mark))
        .cloned()
        .collect()
}

/// Each once, in an order that does not depend on where they were found.
pub fn in_order(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by(|a, b| (&a.block, a.nth).cmp(&(&b.block, b.nth)));
    marks.dedup_by(|a, b| (&a.block, a.nth) == (&b.block, b.nth));
    marks
}

/// The kept lines among the changes of a file.
pub fn kept(old: &[&str], new: &[&str], blocks: &[Block], marks: &[Mark]) -> LineSet {
    let mut kept = LineSet::default();
    if marks.is_empty() {
        return kept;
    }
    let known: HashMap<(&str, usize), &Mark> = marks
        .iter()
        .map(|mark| ((mark.block.as_str(), mark.nth), mark))
        .collect();
    for (block, (id, nth)) in blocks.iter().zip(ids(old, new, blocks)) {
        let Some(mark) = known.get(&(id.as_str(), nth)) else {
            continue;
        };
        match &mark.lines {
            None => {
                kept.old.insert(block.old.clone());
                kept.new.insert(block.new.clone());
            }
            Some(lines) => {
                let deleted = block.old.len();
                let place = |line: usize, start: usize| start + line..start + line + 1;
                for line in lines.iter().flatten() {
                    match line.checked_sub(deleted) {
                        None => kept.old.insert(place(line, block.old.start)),
                        Some(line) => kept.new.insert(place(line, block.new.start)),
                    }
                }
            }
        }
    }
    kept.changed_in(blocks)
}

/// The marks for kept lines.
pub fn of(old: &[&str], new: &[&str], blocks: &[Block], kept: &LineSet) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (block, (id, nth)) in blocks.iter().zip(ids(old, new, blocks)) {
        let deleted = block.old.len();
        let shift = |range: std::ops::Range<usize>, from: usize, to: usize| {
            range.start - from + to..range.end - from + to
        };
        let mut lines: Ranges = kept
            .old
            .within(&block.old)
            .map(|range| shift(range, block.old.start, 0))
            .collect();
        for range in kept.new.within(&block.new) {
            lines.insert(shift(range, block.new.start, deleted));
        }
        if lines.is_empty() {
            continue;
        }
        let all = lines.len() == deleted + block.new.len();
        marks.push(Mark {
            block: id,
            nth,
            lines: (!all).then_some(lines),
        });
    }
    marks
}

/// The identity of each block: its content, and its number among the blocks with that content.
fn ids(old: &[&str], new: &[&str], blocks: &[Block]) -> Vec<(String, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let each = blocks.iter().map(|block| {
        let id = id(old, new, block);
        let count = seen.entry(id.clone()).or_default();
        *count += 1;
        (id, *count - 1)
    });
    each.collect()
}

fn id(old: &[&str], new: &[&str], block: &Block) -> String {
    let mut hash = Sha256::new();
    let mut add = |sign: &[u8], line: &str| {
        hash.update(sign);
        hash.update((line.len() as u64).to_le_bytes());
        hash.update(line);
    };
    if let Some(above) = block.old.start.checked_sub(1) {
        add(b"^", old[above]);
    }
    old[block.old.clone()]
        .iter()
        .for_each(|line| add(b"-", line));
    new[block.new.clone()]
        .iter()
        .for_each(|line| add(b"+", line));
    if let Some(below) = old.get(block.old.end) {
        add(b"$", below);
    }
    let mut text = String::with_capacity(32);
    for byte in &hash.finalize()[..16] {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The kept lines after the text after has become another one: those that are still added or
/// deleted.
pub fn carry_over(old: &[&str], new: &[&str], newer: &[&str], kept: &LineSet) -> LineSet {
    let moved = LineSet {
        old: kept.old.clone(),
        new: moved(new, newer, &kept.new),
    };
    moved.changed_in(&super::blocks(old, newer, false))
}

/// Where lines are in a newer text; those that it changed are left out.
pub fn moved(new: &[&str], newer: &[&str], lines: &Ranges) -> Ranges {
    let mut found = Ranges::default();
    let (mut from, mut to) = (0, 0);
    let changes = super::blocks(new, newer, false);
    let end = Block {
        old: new.len()..new.len(),
        new: newer.len()..newer.len(),
    };
    for change in changes.iter().chain([&end]) {
        let same = from..change.old.start;
        for range in lines.within(&same) {
            found.insert(range.start - from + to..range.end - from + to);
        }
        (from, to) = (change.old.end, change.new.end);
    }
    found
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a range of lines is meant")]
mod tests {
    use super::super::{blocks, split};
    use super::*;

    fn marks_of_all(before: &str, after: &str) -> Vec<Mark> {
        let (old, new) = (split(before), split(after));
        let blocks = blocks(&old, &new, false);
        of(&old, &new, &blocks, &LineSet::all(&blocks))
    }

    fn kept_in(before: &str, after: &str, marks: &[Mark]) -> (Vec<String>, usize) {
        let (old, new) = (split(before), split(after));
        let blocks = blocks(&old, &new, false);
        let kept = kept(&old, &new, &blocks, marks);
        let added = kept
            .new
            .iter()
            .flatten()
            .map(|at| new[at].trim().to_owned());
        (added.collect(), kept.old.len())
    }

    #[test]
    fn a_kept_block_stays_kept_when_others_change_and_not_when_it_changes_itself() {
        let before = "a\nb\nc\nd\ne\nf\n";
        let marks = marks_of_all(before, "a\nB\nc\nd\ne\nf\n");
        let kept = |after: &str| kept_in(before, after, &marks);
        assert_eq!(kept("a\nB\nc\nd\nE\nf\n"), (vec!["B".to_owned()], 1));
        assert_eq!(kept("a\nBB\nc\nd\ne\nf\n"), (vec![], 0));
    }

    #[test]
    fn of_equal_blocks_the_one_that_was_kept_is_kept() {
        let (before, after) = ("x\ny\nx\ny\n", "x\nnew\ny\nx\nnew\ny\n");
        let (old, new) = (split(before), split(after));
        let all = blocks(&old, &new, false);
        let second = LineSet {
            new: [4..5].into_iter().collect(),
            ..LineSet::default()
        };
        let marks = of(&old, &new, &all, &second);
        assert_eq!(kept(&old, &new, &all, &marks), second);
    }

    #[test]
    fn some_lines_of_a_block_can_be_kept_and_stay_so_when_others_are_reverted() {
        let (before, after) = ("", "a\nb\nc\nd\n");
        let (old, new) = (split(before), split(after));
        let all = blocks(&old, &new, false);
        let some = LineSet {
            new: [1..2, 3..4].into_iter().collect(),
            ..LineSet::default()
        };
        let marks = of(&old, &new, &all, &some);
        assert_eq!(marks.len(), 1);
        assert_eq!(kept(&old, &new, &all, &marks), some);
        let newer = split("b\nc\nd\n");
        let moved = carry_over(&old, &new, &newer, &some);
        assert_eq!(
            moved,
            LineSet {
                new: [0..1, 2..3].into_iter().collect(),
                ..LineSet::default()
            }
        );
    }
}
