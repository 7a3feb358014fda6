//! Renders stored diffs, in all shapes that were ever stored.

use lathe_protocol::view::{DiffStatus, FileDiffView, FoldReason};
use lathe_protocol::{FileDiff, FileStatus};

use super::{DiffOptions, WHOLE_FILE, file_diff, parse_unified};

/// How much of a stored diff to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// No hunks for files that are folded by default.
    Folded,
    /// The hunks of all files.
    Unfolded,
    /// All lines of the file, to fill the gaps between the hunks.
    Whole,
}

pub fn render_stored(diff: &FileDiff, extent: Extent) -> FileDiffView {
    let unfold = extent != Extent::Folded;
    let mut options = DiffOptions {
        old_path: diff.from.clone(),
        unfold,
        ..DiffOptions::new(&diff.file)
    };
    if extent == Extent::Whole {
        options.context = WHOLE_FILE;
    }
    match (&diff.before, &diff.after, &diff.patch) {
        _ if diff.binary == Some(true) => without_hunks(diff, DiffStatus::Binary),
        _ if diff.mode == Some(true) => without_hunks(diff, DiffStatus::Mode),
        _ if diff.folded == Some(true) => FileDiffView {
            folded: Some(FoldReason::TooLong),
            ..without_hunks(diff, status(diff))
        },
        (None, None, Some(patch)) => {
            let parsed = parse_unified(patch, unfold).into_iter().next();
            FileDiffView {
                path: diff.file.clone(),
                ..parsed.unwrap_or_else(|| without_hunks(diff, status(diff)))
            }
        }
        (before, after, _) => {
            let added = diff.status == Some(FileStatus::Added);
            let deleted = diff.status == Some(FileStatus::Deleted);
            let before = before.as_deref().filter(|_| !added);
            let after = after.as_deref().filter(|_| !deleted);
            file_diff(before, after, &options)
        }
    }
}

fn without_hunks(diff: &FileDiff, status: DiffStatus) -> FileDiffView {
    let count = |count: i64| usize::try_from(count).unwrap_or_default();
    FileDiffView {
        path: diff.file.clone(),
        old_path: diff.from.clone(),
        status,
        additions: count(diff.additions.0),
        deletions: count(diff.deletions.0),
        hunks: Vec::new(),
        folded: None,
    }
}

fn status(diff: &FileDiff) -> DiffStatus {
    match diff.status {
        Some(FileStatus::Added) => DiffStatus::Added,
        Some(FileStatus::Deleted) => DiffStatus::Deleted,
        Some(FileStatus::Renamed) => DiffStatus::Renamed,
        _ => DiffStatus::Modified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> FileDiff {
        FileDiff {
            file: "a.txt".into(),
            before: Some(before.into()),
            after: Some(after.into()),
            ..FileDiff::default()
        }
    }

    #[test]
    fn binary_and_long_files_have_no_hunks() {
        let binary = FileDiff {
            binary: Some(true),
            ..diff("", "")
        };
        assert_eq!(
            render_stored(&binary, Extent::Whole).status,
            DiffStatus::Binary
        );
        let long = FileDiff {
            folded: Some(true),
            additions: 9.into(),
            status: Some(FileStatus::Added),
            ..diff("", "")
        };
        let view = render_stored(&long, Extent::Folded);
        assert_eq!(view.folded, Some(FoldReason::TooLong));
        assert_eq!((view.status, view.additions), (DiffStatus::Added, 9));
    }
}
