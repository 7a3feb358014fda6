//! The shape of a diff: hunks as runs of rows, without text. Rows are computed for a window.

use std::collections::HashMap;
use std::ops::Range;

use lathe_protocol::ipc::{DiffRun, KeptState, ReviewFileDiff, ReviewHunk};
use lathe_protocol::view::{DiffLineKind, DiffRow};

use super::Contents;
use crate::lines::{Block, LineSet, extent, groups};

/// At most so many rows are sent at once.
pub const MOST_ROWS: usize = 2_000;
/// A block that was moved has at least so many lines.
const MOVED_LINES: usize = 3;

pub fn shape(contents: &Contents, kept: &LineSet, ignore_space: bool) -> ReviewFileDiff {
    let (old, new) = contents.lines();
    let blocks = contents.shown_blocks(ignore_space);
    let moved = moved(&old, &new, blocks);
    let hunks = groups(blocks).into_iter().filter_map(|group| {
        let (from, to) = extent(group, old.len())?;
        let changed: usize = group.iter().map(|one| one.old.len() + one.new.len()).sum();
        let is_kept: usize = group
            .iter()
            .map(|one| kept.old.count_in(&one.old) + kept.new.count_in(&one.new))
            .sum();
        let start = |range: &Range<usize>| range.start + usize::from(!range.is_empty());
        Some(ReviewHunk {
            old_start: start(&from),
            old_lines: from.len(),
            new_start: start(&to),
            new_lines: to.len(),
            heading: heading(&old[..from.start]),
            runs: runs(group, &from, kept, &moved),
            kept: match is_kept {
                0 => KeptState::None,
                all if all == changed => KeptState::All,
                _ => KeptState::Some,
            },
        })
    });
    ReviewFileDiff {
        path: contents.path.to_string(),
        old_path: contents.from.as_ref().map(ToString::to_string),
        version: contents.version.clone(),
        old_lines: old.len(),
        new_lines: new.len(),
        hunks: hunks.collect(),
    }
}

fn runs(
    group: &[Block],
    extent: &Range<usize>,
    kept: &LineSet,
    moved: &HashMap<(bool, usize), usize>,
) -> Vec<DiffRun> {
    let mut runs = Vec::new();
    let mut push = |kind, lines, kept, moved| {
        if lines > 0 {
            runs.push(DiffRun {
                kind,
                lines,
                kept,
                moved,
            });
        }
    };
    let mut at = extent.start;
    for block in group {
        push(DiffLineKind::Context, block.old.start - at, false, None);
        at = block.old.end;
        let sides = [
            (DiffLineKind::Del, &block.old, &kept.old),
            (DiffLineKind::Add, &block.new, &kept.new),
        ];
        for (kind, lines, kept) in sides {
            let moved = moved
                .get(&(kind == DiffLineKind::Add, lines.start))
                .copied();
            let mut from = lines.start;
            for range in kept.within(lines) {
                push(kind, range.start - from, false, moved);
                push(kind, range.len(), true, moved);
                from = range.end;
            }
            push(kind, lines.end - from, false, moved);
        }
    }
    push(DiffLineKind::Context, extent.end - at, false, None);
    runs
}

/// Deleted blocks that were added elsewhere: whether it is the added one, and its first line.
fn moved(old: &[&str], new: &[&str], blocks: &[Block]) -> HashMap<(bool, usize), usize> {
    let text = |lines: &[&str]| -> Option<Vec<String>> {
        let lines: Vec<String> = lines.iter().map(|line| line.trim().to_owned()).collect();
        let says = lines.iter().filter(|line| !line.is_empty()).count();
        (says >= MOVED_LINES).then_some(lines)
    };
    let deleted = blocks.iter().filter_map(|block| {
        let lines = text(&old[block.old.clone()])?;
        Some((lines, block.old.start))
    });
    let mut gone: HashMap<Vec<String>, usize> = deleted.collect();
    let mut found = HashMap::new();
    for block in blocks.iter().filter(|block| !block.new.is_empty()) {
        let lines = text(&new[block.new.clone()]);
        if let Some(start) = lines.and_then(|lines| gone.remove(&lines)) {
            let number = found.len() / 2 + 1;
            found.insert((false, start), number);
            found.insert((true, block.new.start), number);
        }
    }
    found
}

/// The rows `[from, to)` of one hunk.
pub fn rows(
    contents: &Contents,
    ignore_space: bool,
    hunk: usize,
    window: Range<usize>,
) -> Vec<DiffRow> {
    let blocks = contents.shown_blocks(ignore_space);
    let (old, _) = contents.lines();
    let Some(group) = groups(blocks).get(hunk).copied() else {
        return Vec::new();
    };
    let Some((from, to)) = extent(group, old.len()) else {
        return Vec::new();
    };
    let window = window.start..window.end.min(window.start + MOST_ROWS);
    let mut rows = Rows {
        window,
        at: 0,
        rows: Vec::new(),
    };
    let (mut before, mut after) = (from.start, to.start);
    let end = Block {
        old: from.end..from.end,
        new: to.end..to.end,
    };
    for block in group.iter().chain([&end]) {
        rows.push(
            DiffLineKind::Context,
            before..block.old.start,
            after..block.new.start,
        );
        rows.push(DiffLineKind::Del, block.old.clone(), 0..0);
        rows.push(DiffLineKind::Add, 0..0, block.new.clone());
        (before, after) = (block.old.end, block.new.end);
    }
    rows.rows
}

/// Unchanged lines by their numbers in the new content, from 1 and with the last one.
pub fn context(contents: &Contents, lines: Range<usize>) -> Vec<DiffRow> {
    let (_, new) = contents.lines();
    let end = lines.end.min(new.len()).min(lines.start + MOST_ROWS - 1);
    let mut rows = Vec::new();
    let (mut from, mut to) = (0, 0);
    let last = Block {
        old: usize::MAX..usize::MAX,
        new: new.len()..new.len(),
    };
    for block in contents.blocks().iter().chain([&last]) {
        for line in to.max(lines.start.saturating_sub(1))..block.new.start.min(end) {
            rows.push(DiffRow {
                kind: DiffLineKind::Context,
                old: Some(line - to + from + 1),
                new: Some(line + 1),
            });
        }
        (from, to) = (block.old.end, block.new.end);
    }
    rows
}

struct Rows {
    window: Range<usize>,
    at: usize,
    rows: Vec<DiffRow>,
}

impl Rows {
    fn push(&mut self, kind: DiffLineKind, old: Range<usize>, new: Range<usize>) {
        let lines = old.len().max(new.len());
        let first = self.window.start.saturating_sub(self.at).min(lines);
        let end = self.window.end.saturating_sub(self.at).min(lines);
        for line in first..end {
            self.rows.push(DiffRow {
                kind,
                old: (!old.is_empty()).then_some(old.start + line + 1),
                new: (!new.is_empty()).then_some(new.start + line + 1),
            });
        }
        self.at += lines;
    }
}

/// The last line above a hunk that is not indented and starts with a letter, `_` or `$`.
fn heading(above: &[&str]) -> Option<String> {
    const MOST_CHARS: usize = 80;
    const LOOK_BACK: usize = 2_000;
    let starts =
        |line: &&&str| line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    let found = above.iter().rev().take(LOOK_BACK).find(starts)?;
    Some(found.trim_end().chars().take(MOST_CHARS).collect())
}
