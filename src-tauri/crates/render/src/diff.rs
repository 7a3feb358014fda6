//! The diff of a file: hunks of coloured lines, with the changed words marked.
//!
//! The spans of a line contain its exact text, so applying the hunks to the old file gives the
//! new one. A diff that reaches its deadline is larger than necessary, but still correct.

use std::time::{Duration, Instant};

use lathe_protocol::view::{DiffLineKind, DiffStatus, FileDiffView};
use similar::{DiffOp, TextDiff};

mod draw;
mod fold;
mod patch;
mod rows;
mod stored;

pub(crate) use draw::spans as cut_spans;
pub use fold::reason as fold_reason;
pub(crate) use patch::parse_unified;
pub use rows::{draw_file, draw_rows};
pub use stored::{Extent, render_stored};

use draw::{Colours, RawHunk, RawLine};

/// How long to look for the smallest diff.
const LINES_DEADLINE: Duration = Duration::from_millis(1_000);
const WORDS_DEADLINE: Duration = Duration::from_millis(500);

/// As much context as any file has lines: the whole file is shown.
pub(crate) const WHOLE_FILE: usize = 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffOptions {
    pub path: String,
    /// The path before a rename.
    pub old_path: Option<String>,
    /// The number of unchanged lines around a change.
    pub context: usize,
    /// Return the hunks even of a file that is folded by default.
    pub unfold: bool,
}

impl DiffOptions {
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            old_path: None,
            context: 3,
            unfold: false,
        }
    }
}

/// The diff from `before` to `after`; `None` means that there is no file on this side.
pub fn file_diff(before: Option<&str>, after: Option<&str>, options: &DiffOptions) -> FileDiffView {
    let mut view = FileDiffView {
        path: options.path.clone(),
        old_path: options.old_path.clone().filter(|old| *old != options.path),
        status: status(before, after, options),
        additions: 0,
        deletions: 0,
        hunks: Vec::new(),
        folded: None,
    };
    if view.status == DiffStatus::Binary {
        return view;
    }
    let lines = Lines::new(before, after);
    let ops = lines.ops();
    (view.additions, view.deletions) = count(&ops);
    view.folded = fold::reason(
        &options.path,
        before,
        after,
        view.additions + view.deletions,
    )
    .filter(|_| !options.unfold);
    if view.folded.is_none() {
        let hunks = lines.hunks(ops, options.context);
        let colours = Colours::from_files(&options.path, &lines.old, &lines.new, &hunks);
        view.hunks = draw::hunks(&hunks, &colours, Instant::now() + WORDS_DEADLINE);
    }
    view
}

fn status(before: Option<&str>, after: Option<&str>, options: &DiffOptions) -> DiffStatus {
    let binary = |text: Option<&str>| text.is_some_and(|text| text.contains('\0'));
    if binary(before) || binary(after) {
        return DiffStatus::Binary;
    }
    match (before, after) {
        (None, Some(_)) => DiffStatus::Added,
        (Some(_), None) => DiffStatus::Deleted,
        _ if options
            .old_path
            .as_ref()
            .is_some_and(|old| *old != options.path) =>
        {
            DiffStatus::Renamed
        }
        _ => DiffStatus::Modified,
    }
}

/// Both sides as lines, with their line breaks.
struct Lines<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    fn new(before: Option<&'t str>, after: Option<&'t str>) -> Self {
        let split = |text: Option<&'t str>| {
            text.unwrap_or_default()
                .split_inclusive('\n')
                .collect::<Vec<_>>()
        };
        Self {
            old: split(before),
            new: split(after),
        }
    }

    fn ops(&self) -> Vec<DiffOp> {
        TextDiff::configure()
            .timeout(LINES_DEADLINE)
            .diff_slices(&self.old, &self.new)
            .ops()
            .to_vec()
    }

    fn hunks(&self, ops: Vec<DiffOp>, context: usize) -> Vec<RawHunk<'t>> {
        similar::group_diff_ops(ops, context)
            .iter()
            .filter_map(|group| self.hunk(group))
            .collect()
    }

    fn hunk(&self, ops: &[DiffOp]) -> Option<RawHunk<'t>> {
        let (first, last) = (ops.first()?, ops.last()?);
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let mut lines = Vec::new();
        for op in ops {
            match op {
                DiffOp::Equal { .. } => {
                    lines.extend(self.new[op.new_range()].iter().map(|text| context(text)));
                }
                _ => {
                    lines.extend(self.old[op.old_range()].iter().map(|text| deleted(text)));
                    lines.extend(self.new[op.new_range()].iter().map(|text| added(text)));
                }
            }
        }
        Some(RawHunk {
            old_start: if old.is_empty() {
                old.start
            } else {
                old.start + 1
            },
            new_start: if new.is_empty() {
                new.start
            } else {
                new.start + 1
            },
            heading: heading(&self.old[..old.start]),
            lines,
        })
    }
}

fn context(text: &str) -> RawLine<'_> {
    RawLine::new(DiffLineKind::Context, text)
}

fn deleted(text: &str) -> RawLine<'_> {
    RawLine::new(DiffLineKind::Del, text)
}

fn added(text: &str) -> RawLine<'_> {
    RawLine::new(DiffLineKind::Add, text)
}

fn count(ops: &[DiffOp]) -> (usize, usize) {
    ops.iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .fold((0, 0), |(add, del), op| {
            (add + op.new_range().len(), del + op.old_range().len())
        })
}

/// The last line above a hunk that is not indented and starts with a letter, `_` or `$`: usually
/// the start of a function or a type.
fn heading(above: &[&str]) -> Option<String> {
    const MAX_CHARS: usize = 80;
    const LOOK_BACK: usize = 2_000;
    above
        .iter()
        .rev()
        .take(LOOK_BACK)
        .find(|line| line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$'))
        .map(|line| line.trim_end().chars().take(MAX_CHARS).collect())
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_patch;
