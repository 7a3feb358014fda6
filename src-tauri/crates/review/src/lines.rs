//! The lines that two texts differ by, and texts made of some of them.
//!
//! Pure. Everything that judges lines (keep, revert, stage, comment) uses these blocks, so that
//! all of them mean the same lines.

mod binary_patch;
pub mod marks;
pub mod merge;
pub mod patch;
mod ranges;

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

pub use ranges::Ranges;

/// Lines that were replaced together, without context, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Changed lines of both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineSet {
    /// Deleted lines, by their number in the text before.
    pub old: Ranges,
    /// Added lines, by their number in the text after.
    pub new: Ranges,
}

impl LineSet {
    pub fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }

    pub fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }

    /// The lines of `self` that changed in these blocks.
    #[must_use]
    pub fn changed_in(&self, blocks: &[Block]) -> LineSet {
        let old = blocks.iter().flat_map(|one| self.old.within(&one.old));
        let new = blocks.iter().flat_map(|one| self.new.within(&one.new));
        LineSet {
            old: old.collect(),
            new: new.collect(),
        }
    }

    /// All changed lines of these blocks.
    pub fn all(blocks: &[Block]) -> LineSet {
        LineSet {
            old: blocks.iter().map(|one| one.old.clone()).collect(),
            new: blocks.iter().map(|one| one.new.clone()).collect(),
        }
    }

    pub fn add(&mut self, other: &LineSet) {
        other.old.iter().for_each(|range| self.old.insert(range));
        other.new.iter().for_each(|range| self.new.insert(range));
    }

    pub fn remove(&mut self, other: &LineSet) {
        other.old.iter().for_each(|range| self.old.remove(&range));
        other.new.iter().for_each(|range| self.new.remove(&range));
    }
}

/// Splits a text into lines, each with its line break.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The blocks that differ. Two lines that differ only in white space are equal if `ignore` is
/// set.
pub fn blocks(old: &[&str], new: &[&str], ignore: bool) -> Vec<Block> {
    let ops = match ignore {
        false => capture_diff_slices(Algorithm::Myers, old, new),
        true => {
            let key = |line: &&str| line.split_whitespace().collect::<String>();
            let (old, new): (Vec<_>, Vec<_>) =
                (old.iter().map(key).collect(), new.iter().map(key).collect());
            capture_diff_slices(Algorithm::Myers, &old, &new)
        }
    };
    let mut blocks: Vec<Block> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        match blocks.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => blocks.push(Block { old, new }),
        }
    }
    blocks
}

/// The unchanged lines around a change.
const CONTEXT: usize = 3;

/// Blocks that are so close that their context meets.
pub fn groups(blocks: &[Block]) -> Vec<&[Block]> {
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 1..=blocks.len() {
        let ends = blocks
            .get(at)
            .is_none_or(|next| next.old.start - blocks[at - 1].old.end > 2 * CONTEXT);
        if ends {
            groups.extend(blocks.get(start..at).filter(|group| !group.is_empty()));
            start = at;
        }
    }
    groups
}

/// Where a hunk begins and ends on both sides, with its context.
pub fn extent(group: &[Block], old_lines: usize) -> Option<(Range<usize>, Range<usize>)> {
    let (first, last) = (group.first()?, group.last()?);
    let above = first.old.start.min(CONTEXT);
    let below = (old_lines - last.old.end).min(CONTEXT);
    Some((
        first.old.start - above..last.old.end + below,
        first.new.start - above..last.new.end + below,
    ))
}

/// The text after, without the chosen changes: added lines are left out, deleted ones are back.
pub fn without(old: &[&str], new: &[&str], blocks: &[Block], chosen: &LineSet) -> String {
    let mut text = Text::default();
    let mut at = 0;
    for block in blocks {
        text.push_all(&new[at..block.new.start]);
        at = block.new.end;
        let slots = slots(block, chosen);
        let mut back = chosen
            .old
            .within(&block.old)
            .flatten()
            .zip(slots)
            .peekable();
        for (slot, line) in block.new.clone().enumerate() {
            while let Some((restored, _)) = back.next_if(|(_, place)| *place <= slot) {
                text.push(old[restored]);
            }
            if !chosen.new.contains(line) {
                text.push(new[line]);
            }
        }
        back.for_each(|(restored, _)| text.push(old[restored]));
    }
    text.push_all(&new[at..]);
    text.done
}

/// Before which added line of the block each restored line goes: in place of the added lines that
/// are left out, else where it stood if the lines were replaced one by one, else first.
fn slots(block: &Block, chosen: &LineSet) -> Vec<usize> {
    let left_out: Vec<usize> = chosen
        .new
        .within(&block.new)
        .flatten()
        .map(|line| line - block.new.start)
        .collect();
    let one_by_one = block.old.len() == block.new.len();
    let restored = chosen.old.within(&block.old).flatten().enumerate();
    restored
        .map(|(number, line)| match left_out.last() {
            Some(last) => *left_out.get(number).unwrap_or(last),
            None if one_by_one => line - block.old.start,
            None => 0,
        })
        .collect()
}

/// Puts lines together. Only the last one may be without a line break.
#[derive(Default)]
struct Text {
    done: String,
}

impl Text {
    fn push(&mut self, line: &str) {
        if !self.done.is_empty() && !self.done.ends_with('\n') {
            self.done.push('\n');
        }
        self.done.push_str(line);
    }

    fn push_all(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.push(line));
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a range of lines is meant")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(old: &[Range<usize>], new: &[Range<usize>]) -> LineSet {
        LineSet {
            old: old.iter().cloned().collect(),
            new: new.iter().cloned().collect(),
        }
    }

    fn reverted(before: &str, after: &str, chosen: &LineSet) -> String {
        let (old, new) = (split(before), split(after));
        without(&old, &new, &blocks(&old, &new, false), chosen)
    }

    #[test]
    fn one_of_three_replaced_lines_goes_back_to_its_place() {
        let (before, after) = ("a\nb\nc\n", "A\nB\nC\n");
        let middle = set(&[1..2], &[1..2]);
        assert_eq!(reverted(before, after, &middle), "A\nb\nC\n");
        let only_old = set(&[1..2], &[]);
        assert_eq!(reverted(before, after, &only_old), "A\nb\nB\nC\n");
        let only_new = set(&[], &[1..2]);
        assert_eq!(reverted(before, after, &only_new), "A\nC\n");
    }

    #[test]
    fn a_line_without_a_break_at_the_end_is_not_joined_to_another() {
        let (before, after) = ("a\nb", "a\nB\n");
        assert_eq!(reverted(before, after, &set(&[1..2], &[])), "a\nb\nB\n");
        assert_eq!(reverted(before, after, &set(&[1..2], &[1..2])), before);
    }

    #[test]
    fn white_space_can_be_ignored() {
        let (old, new) = (split("if a {\n  b\n}\n"), split("if a {\n\tb\n\n}\n"));
        let block = |old, new| Block { old, new };
        assert_eq!(blocks(&old, &new, false), [block(1..2, 1..3)]);
        assert_eq!(blocks(&old, &new, true), [block(2..2, 2..3)]);
    }

    fn texts() -> impl Strategy<Value = String> {
        prop::collection::vec("[abc]", 0..12).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn all_changes_reverted_give_the_text_before_and_none_the_text_after(
            before in texts(), after in texts(),
        ) {
            let (old, new) = (split(&before), split(&after));
            let blocks = blocks(&old, &new, false);
            prop_assert_eq!(without(&old, &new, &blocks, &LineSet::all(&blocks)), before.clone());
            prop_assert_eq!(without(&old, &new, &blocks, &LineSet::default()), after.clone());
        }

        #[test]
        fn whatever_is_chosen_every_other_line_stays(
            before in texts(), after in texts(), picks in prop::collection::vec(any::<bool>(), 24),
        ) {
            let (old, new) = (split(&before), split(&after));
            let blocks = blocks(&old, &new, false);
            let mut picks = picks.into_iter().cycle();
            let mut pick = |range: Range<usize>| {
                range.filter(|_| picks.next() == Some(true)).map(|at| at..at + 1).collect::<Vec<_>>()
            };
            let chosen = LineSet {
                old: blocks.iter().flat_map(|block| pick(block.old.clone())).collect(),
                new: blocks.iter().flat_map(|block| pick(block.new.clone())).collect(),
            };
            let result = without(&old, &new, &blocks, &chosen);
            let mut left: Vec<&str> = split(&result).into_iter().map(str::trim_end).collect();
            let stay = (0..new.len()).filter(|at| !chosen.new.contains(*at)).map(|at| new[at]);
            let back = chosen.old.iter().flatten().map(|at| old[at]);
            let mut wanted: Vec<&str> = stay.chain(back).map(str::trim_end).collect();
            left.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(left, wanted);
        }
    }
}
