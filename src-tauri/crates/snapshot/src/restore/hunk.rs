//! Reverts one hunk of a file, even if the rest of the file has changed since.

use std::{collections::BTreeMap, fmt, ops::Range};

use gix_object::Kind as ObjectKind;
use lathe_protocol::view::{DiffLineKind, hunk_fingerprint};
use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices, group_diff_ops};

use super::{Conflict, Found, Item, Plan, RestoreAction, Wanted, inspect, inspect_path};
use crate::{
    diff::split_lines,
    error::Result,
    objects::hash,
    path::RelPath,
    repo::SideRepo,
    tree::{Leaf, Mode, Permissions},
};

/// The lines that one edit replaced, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// In the file before.
    pub old: Range<usize>,
    /// In the file after.
    pub new: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HunkConflict {
    /// The lines are no longer in the file.
    Gone,
    /// The lines are in the file more often or less often than the agent left them.
    Ambiguous,
    /// The two texts do not differ by this hunk.
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

/// The hunks as they are displayed, each with its fingerprint: changes whose context overlaps
/// are one hunk.
pub fn display_hunks(before: &str, after: &str) -> Vec<(String, Hunk)> {
    let split = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (old, new) = (split(before), split(after));
    let ops = TextDiff::configure().diff_slices(&old, &new).ops().to_vec();
    let groups = group_diff_ops(ops, CONTEXT);
    groups
        .iter()
        .filter_map(|group| Some((fingerprint(group, &old, &new)?, changed_range(group)?)))
        .collect()
}

fn fingerprint(group: &[DiffOp], old: &[&str], new: &[&str]) -> Option<String> {
    let (first, last) = (group.first()?, group.last()?);
    // A side without lines starts at the line before it, as in a unified diff.
    let start = |range: Range<usize>, end: usize| range.start + usize::from(range.start < end);
    let old_start = start(first.old_range(), last.old_range().end);
    let new_start = start(first.new_range(), last.new_range().end);
    let mut lines = Vec::new();
    let bare = |line: &&'_ str| -> String { line.strip_suffix('\n').unwrap_or(line).to_owned() };
    for op in group {
        if let DiffOp::Equal { .. } = op {
            let context = new[op.new_range()].iter().map(bare);
            lines.extend(context.map(|line| (DiffLineKind::Context, line)));
            continue;
        }
        let deleted = old[op.old_range()].iter().map(bare);
        lines.extend(deleted.map(|line| (DiffLineKind::Del, line)));
        let added = new[op.new_range()].iter().map(bare);
        lines.extend(added.map(|line| (DiffLineKind::Add, line)));
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

/// Whether the hunk starts at the start of a change and ends at the end of one, so that it can
/// be reverted without the rest.
fn is_between(old: &[&[u8]], new: &[&[u8]], hunk: &Hunk) -> bool {
    let fits = hunk.old.start <= hunk.old.end
        && hunk.new.start <= hunk.new.end
        && hunk.old.end <= old.len()
        && hunk.new.end <= new.len();
    let changes: Vec<Hunk> = match fits {
        true => changes(old, new),
        false => return false,
    };
    let starts = |one: &Hunk| one.old.start == hunk.old.start && one.new.start == hunk.new.start;
    let ends = |one: &Hunk| one.old.end == hunk.old.end && one.new.end == hunk.new.end;
    changes.iter().any(starts) && changes.iter().any(ends)
}

/// The number of lines around a hunk that are used to find it.
const CONTEXT: usize = 3;

/// Reverts in `current` the hunk between `before` and `after`.
fn revert_hunk(
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

/// Finds the hunk's lines in the current file, with as much context as still matches. Lines
/// that occur several times are told apart by their order, if their number is unchanged.
fn locate(new: &[&[u8]], hunk: &Hunk, now: &[&[u8]]) -> Result<usize, HunkConflict> {
    for context in (0..=CONTEXT).rev() {
        let start = hunk.new.start.saturating_sub(context);
        let end = (hunk.new.end + context).min(new.len());
        let block = &new[start..end];
        if block.is_empty() {
            // All lines were removed, so there is no context: the file must still be empty.
            return match now.is_empty() && new.is_empty() {
                true => Ok(0),
                false => Err(HunkConflict::Gone),
            };
        }
        let before = positions(new, block);
        let current = positions(now, block);
        if current.is_empty() {
            continue;
        }
        if current.len() != before.len() {
            return Err(HunkConflict::Ambiguous);
        }
        let which = before.iter().position(|at| *at == start);
        let at = which.and_then(|n| current.get(n));
        let at = at.ok_or(HunkConflict::Gone)?;
        return Ok(at + hunk.new.start - start);
    }
    Err(HunkConflict::Gone)
}

fn positions(lines: &[&[u8]], block: &[&[u8]]) -> Vec<usize> {
    let windows = lines.windows(block.len()).enumerate();
    windows
        .filter(|(_, window)| *window == block)
        .map(|(at, _)| at)
        .collect()
}

impl SideRepo {
    /// Plans to revert one hunk in the file as it is now.
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
            action: RestoreAction::Conflict(conflict),
        });
        Ok(Plan {
            items: BTreeMap::from([(path.clone(), item)]),
            folders: path
                .ancestors()
                .map(|folder| (folder, Permissions::UNKNOWN))
                .collect(),
        })
    }

    fn hunk_item(
        &self,
        path: &RelPath,
        before: &[u8],
        after: &[u8],
        hunk: &Hunk,
    ) -> Result<Item, Conflict> {
        let leaf = match inspect_path(self.worktree(), path) {
            Found::File(seen) if seen.leaf.mode != Mode::Link => seen.leaf,
            Found::Failed(why) => return Err(Conflict::Failed(why)),
            Found::Blocked(_) => return Err(Conflict::ParentInTheWay),
            _ => return Err(Conflict::ChangedSince),
        };
        let current = inspect::read(self.worktree(), path)
            .map_err(|error| Conflict::Failed(error.to_string()))?;
        let bytes = revert_hunk(before, after, hunk, &current).map_err(Conflict::Hunk)?;
        let id =
            hash(ObjectKind::Blob, &bytes).map_err(|error| Conflict::Failed(error.to_string()))?;
        Ok(Item {
            // If the file changed between `inspect_path` and `read`, applying finds another hash.
            expected: Some(leaf),
            wanted: Some(Wanted::Generated {
                leaf: Leaf { id, ..leaf },
                bytes,
            }),
            action: RestoreAction::Write,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(before: &str, after: &str) -> Vec<Hunk> {
        changes(
            &split_lines(before.as_bytes()),
            &split_lines(after.as_bytes()),
        )
    }

    fn only_hunk(before: &str, after: &str) -> Hunk {
        let mut all = hunks(before, after);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn revert(
        before: &str,
        after: &str,
        hunk: &Hunk,
        current: &str,
    ) -> Result<String, HunkConflict> {
        revert_hunk(
            before.as_bytes(),
            after.as_bytes(),
            hunk,
            current.as_bytes(),
        )
        .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_hunk_is_reverted_after_lines_were_added_above_and_below() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nB\nc\nd\n");
        let hunk = only_hunk(before, after);
        assert_eq!(
            revert(before, after, &hunk, "new\na\nB\nc\nd\nend\n"),
            Ok("new\na\nb\nc\nd\nend\n".into())
        );
    }

    #[test]
    fn a_hunk_whose_lines_the_user_changed_is_a_conflict() {
        let (before, after) = ("a\nb\nc\n", "a\nB\nc\n");
        let hunk = only_hunk(before, after);
        assert_eq!(
            revert(before, after, &hunk, "a\nBB\nc\n"),
            Err(HunkConflict::Gone)
        );
    }

    #[test]
    fn equal_hunks_are_told_apart_by_their_order() {
        let (before, after) = ("x\n1\nx\n2\nx\n", "y\n1\nx\n2\ny\n");
        let all = hunks(before, after);
        assert_eq!(
            revert(before, after, &all[1], after),
            Ok("y\n1\nx\n2\nx\n".into())
        );
    }

    #[test]
    fn lines_that_were_copied_since_are_ambiguous() {
        let (before, after) = ("", "new\n");
        let hunk = only_hunk(before, after);
        assert_eq!(
            revert(before, after, &hunk, "new\nnew\n"),
            Err(HunkConflict::Ambiguous)
        );
    }

    #[test]
    fn deleted_lines_are_restored_between_their_neighbours() {
        let (before, after) = ("a\nb\nc\n", "a\nc\n");
        let hunk = only_hunk(before, after);
        assert_eq!(
            revert(before, after, &hunk, "0\na\nc\n"),
            Ok("0\na\nb\nc\n".into())
        );
        assert_eq!(
            revert(before, after, &hunk, "a\nuser\nc\n"),
            Err(HunkConflict::Gone)
        );
    }

    #[test]
    fn changes_close_together_are_displayed_and_reverted_as_one() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nB\nc\nD\nnew\n");
        let shown = display_hunks(before, after);
        assert_eq!(shown.len(), 1);
        assert_eq!(
            revert(before, after, &shown[0].1, "top\na\nB\nc\nD\nnew\n"),
            Ok("top\na\nb\nc\nd\n".into())
        );
    }

    #[test]
    fn a_hunk_that_the_texts_do_not_have_is_refused() {
        let hunk = Hunk {
            old: 0..9,
            new: 0..1,
        };
        assert_eq!(
            revert("a\n", "b\n", &hunk, "b\n"),
            Err(HunkConflict::NoSuchHunk)
        );
    }
}
