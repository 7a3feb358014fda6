//! Takes back one hunk of a file, though the rest of the file may have changed.

use std::{collections::BTreeMap, fmt, ops::Range};

use lathe_protocol::view::{DiffLineKind, hunk_fingerprint};
use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices, group_diff_ops};

use super::{Conflict, Found, Item, Plan, Step, Wanted, inspect};
use crate::{diff::split_lines, error::Result, path::RelPath, repo::SideRepo, tree::Mode};

/// Lines, counted from 0, that one edit replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// In the file before.
    pub old: Range<usize>,
    /// In the file after.
    pub new: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkConflict {
    /// The lines are not there any more.
    Gone,
    /// They are there more or less often than the agent left them.
    Ambiguous,
    /// The hunk is not one of these two texts.
    NoSuchHunk,
}

impl fmt::Display for HunkConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HunkConflict::Gone => "these lines have changed since",
            HunkConflict::Ambiguous => "these lines are in several places now",
            HunkConflict::NoSuchHunk => "this change is not part of the file's changes",
        })
    }
}

/// The hunks between two texts, without context.
pub fn hunks(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    changes(&split_lines(before), &split_lines(after))
}

fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Hunk> {
    capture_diff_slices(Algorithm::Myers, old, new)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Hunk {
            old: op.old_range(),
            new: op.new_range(),
        })
        .collect()
}

/// The hunks as a reader sees them, each with its fingerprint: changes that share their
/// surroundings are one.
pub fn shown_hunks(before: &str, after: &str) -> Vec<(String, Hunk)> {
    let split = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (old, new) = (split(before), split(after));
    let ops = TextDiff::configure().diff_slices(&old, &new).ops().to_vec();
    let groups = group_diff_ops(ops, CONTEXT);
    groups
        .iter()
        .filter_map(|group| Some((shown_name(group, &old, &new)?, changed_range(group)?)))
        .collect()
}

fn shown_name(group: &[DiffOp], old: &[&str], new: &[&str]) -> Option<String> {
    let (first, last) = (group.first()?, group.last()?);
    // A side without lines starts at the line before it, as in a unified diff.
    let start = |range: Range<usize>, end: usize| range.start + usize::from(range.start < end);
    let old_start = start(first.old_range(), last.old_range().end);
    let new_start = start(first.new_range(), last.new_range().end);
    let mut lines = Vec::new();
    let bare = |line: &&'_ str| -> String { line.strip_suffix('\n').unwrap_or(line).to_owned() };
    for op in group {
        if let DiffOp::Equal { .. } = op {
            let kept = new[op.new_range()].iter().map(bare);
            lines.extend(kept.map(|line| (DiffLineKind::Context, line)));
            continue;
        }
        let gone = old[op.old_range()].iter().map(bare);
        lines.extend(gone.map(|line| (DiffLineKind::Del, line)));
        let come = new[op.new_range()].iter().map(bare);
        lines.extend(come.map(|line| (DiffLineKind::Add, line)));
    }
    let lines = lines.iter().map(|(kind, line)| (*kind, line.as_str()));
    Some(hunk_fingerprint(old_start, new_start, lines))
}

/// From the first changed line of a group to the last.
fn changed_range(group: &[DiffOp]) -> Option<Hunk> {
    let changed = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
    let first = group.iter().find(changed)?;
    let last = group.iter().rev().find(changed)?;
    Some(Hunk {
        old: first.old_range().start..last.old_range().end,
        new: first.new_range().start..last.new_range().end,
    })
}

/// Whether the two texts agree around the hunk, so that taking it back is a change of its own.
fn is_between(old: &[&[u8]], new: &[&[u8]], hunk: &Hunk) -> bool {
    let fits = hunk.old.start <= hunk.old.end
        && hunk.new.start <= hunk.new.end
        && hunk.old.end <= old.len()
        && hunk.new.end <= new.len();
    let starts: Vec<Hunk> = match fits {
        true => changes(old, new),
        false => return false,
    };
    let begins = |one: &Hunk| one.old.start == hunk.old.start && one.new.start == hunk.new.start;
    let ends = |one: &Hunk| one.old.end == hunk.old.end && one.new.end == hunk.new.end;
    starts.iter().any(begins) && starts.iter().any(ends)
}

/// Lines around a hunk that help to find it.
const CONTEXT: usize = 3;

/// `current` without the hunk that led from `before` to `after`.
pub fn take_back(
    before: &[u8],
    after: &[u8],
    hunk: &Hunk,
    current: &[u8],
) -> Result<Vec<u8>, HunkConflict> {
    let (old, new, now) = (
        split_lines(before),
        split_lines(after),
        split_lines(current),
    );
    if !is_between(&old, &new, hunk) {
        return Err(HunkConflict::NoSuchHunk);
    }
    let was = &old[hunk.old.clone()];
    let at = locate(&new, hunk, &now)?;
    let end = at + hunk.new.len();
    Ok([&now[..at], was, &now[end..]].concat().concat())
}

/// Where the hunk's lines are now. The more of their surroundings are still there the better;
/// lines that repeat are told apart by their number, if that is the same as it was.
fn locate(new: &[&[u8]], hunk: &Hunk, now: &[&[u8]]) -> Result<usize, HunkConflict> {
    for context in (0..=CONTEXT).rev() {
        let start = hunk.new.start.saturating_sub(context);
        let end = (hunk.new.end + context).min(new.len());
        let block = &new[start..end];
        if block.is_empty() {
            // Removed lines with nothing around them: only an empty file is the same place.
            return match now.is_empty() && new.is_empty() {
                true => Ok(0),
                false => Err(HunkConflict::Gone),
            };
        }
        let were = places(new, block);
        let are = places(now, block);
        if are.is_empty() {
            continue;
        }
        if are.len() != were.len() {
            return Err(HunkConflict::Ambiguous);
        }
        let which = were.iter().position(|at| *at == start);
        let at = which.and_then(|n| are.get(n)).ok_or(HunkConflict::Gone)?;
        return Ok(at + hunk.new.start - start);
    }
    Err(HunkConflict::Gone)
}

fn places(lines: &[&[u8]], block: &[&[u8]]) -> Vec<usize> {
    let windows = lines.windows(block.len()).enumerate();
    windows
        .filter(|(_, window)| *window == block)
        .map(|(at, _)| at)
        .collect()
}

impl SideRepo {
    /// Takes one hunk out of the file as it is now. To be given to [`SideRepo::apply`].
    pub fn plan_hunk(
        &self,
        path: &RelPath,
        before: &[u8],
        after: &[u8],
        hunk: &Hunk,
    ) -> Result<Plan> {
        let item = self.hunk_item(path, before, after, hunk);
        let item = item.unwrap_or_else(|conflict| Item {
            expected: None,
            wanted: None,
            step: Step::Conflict(conflict),
        });
        Ok(Plan {
            items: BTreeMap::from([(path.clone(), item)]),
            folders: path.ancestors().collect(),
        })
    }

    fn hunk_item(
        &self,
        path: &RelPath,
        before: &[u8],
        after: &[u8],
        hunk: &Hunk,
    ) -> Result<Item, Conflict> {
        let leaf = match inspect(self.worktree(), path) {
            Found::File(leaf) if leaf.mode != Mode::Link => leaf,
            Found::Failed(why) => return Err(Conflict::Failed(why)),
            Found::Blocked(_) => return Err(Conflict::ParentInTheWay),
            _ => return Err(Conflict::ChangedSince),
        };
        let current = super::place::read(self.worktree(), path)
            .map_err(|error| Conflict::Failed(error.to_string()))?;
        let bytes = take_back(before, after, hunk, &current).map_err(Conflict::Hunk)?;
        let mode = leaf.mode;
        Ok(Item {
            // Should it change between the two looks, applying sees another hash.
            expected: Some(leaf),
            wanted: Some(Wanted::Made { mode, bytes }),
            step: Step::WillWrite,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(before: &str, after: &str) -> Hunk {
        let mut all = hunks(before.as_bytes(), after.as_bytes());
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn back(before: &str, after: &str, hunk: &Hunk, current: &str) -> Result<String, HunkConflict> {
        take_back(
            before.as_bytes(),
            after.as_bytes(),
            hunk,
            current.as_bytes(),
        )
        .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_hunk_goes_though_lines_were_added_above_and_below() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nB\nc\nd\n");
        let hunk = only(before, after);
        assert_eq!(
            back(before, after, &hunk, "new\na\nB\nc\nd\nend\n"),
            Ok("new\na\nb\nc\nd\nend\n".into())
        );
    }

    #[test]
    fn a_hunk_whose_lines_the_user_changed_is_a_conflict() {
        let (before, after) = ("a\nb\nc\n", "a\nB\nc\n");
        let hunk = only(before, after);
        assert_eq!(
            back(before, after, &hunk, "a\nBB\nc\n"),
            Err(HunkConflict::Gone)
        );
    }

    #[test]
    fn equal_hunks_are_told_apart_by_their_order() {
        let (before, after) = ("x\n1\nx\n2\nx\n", "y\n1\nx\n2\ny\n");
        let all = hunks(before.as_bytes(), after.as_bytes());
        assert_eq!(
            back(before, after, &all[1], after),
            Ok("y\n1\nx\n2\nx\n".into())
        );
    }

    #[test]
    fn lines_that_were_copied_since_are_ambiguous() {
        let (before, after) = ("", "new\n");
        let hunk = only(before, after);
        assert_eq!(
            back(before, after, &hunk, "new\nnew\n"),
            Err(HunkConflict::Ambiguous)
        );
    }

    #[test]
    fn deleted_lines_come_back_between_their_neighbours() {
        let (before, after) = ("a\nb\nc\n", "a\nc\n");
        let hunk = only(before, after);
        assert_eq!(
            back(before, after, &hunk, "0\na\nc\n"),
            Ok("0\na\nb\nc\n".into())
        );
        assert_eq!(
            back(before, after, &hunk, "a\nuser\nc\n"),
            Err(HunkConflict::Gone)
        );
    }

    #[test]
    fn changes_close_together_are_shown_and_taken_back_as_one() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nB\nc\nD\nnew\n");
        let shown = shown_hunks(before, after);
        assert_eq!(shown.len(), 1);
        assert_eq!(
            back(before, after, &shown[0].1, "top\na\nB\nc\nD\nnew\n"),
            Ok("top\na\nb\nc\nd\n".into())
        );
    }

    #[test]
    fn a_hunk_that_is_not_between_the_texts_is_refused() {
        let hunk = Hunk {
            old: 0..9,
            new: 0..1,
        };
        assert_eq!(
            back("a\n", "b\n", &hunk, "b\n"),
            Err(HunkConflict::NoSuchHunk)
        );
    }
}
