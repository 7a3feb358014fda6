//! Counts the lines that differ between two files.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// With more differing lines than this on both sides, an exact count takes too long.
const EXACT_LINES: usize = 10_000;

/// The same test as in git: a NUL byte near the start.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8000)].contains(&0)
}

/// Splits into lines, each with its line break.
pub(crate) fn split_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

/// Added and deleted lines.
pub(super) fn count(before: &[u8], after: &[u8]) -> (usize, usize) {
    let (old, new) = (split_lines(before), split_lines(after));
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same_start..], &new[same_start..]);
    let backwards = old.iter().rev().zip(new.iter().rev());
    let same_end = backwards.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - same_end], &new[..new.len() - same_end]);
    if old.len().min(new.len()) > EXACT_LINES {
        return (new.len(), old.len());
    }
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    ops.iter().fold((0, 0), |(added, deleted), op| match op {
        DiffOp::Equal { .. } => (added, deleted),
        DiffOp::Delete { old_len, .. } => (added, deleted + old_len),
        DiffOp::Insert { new_len, .. } => (added + new_len, deleted),
        DiffOp::Replace {
            old_len, new_len, ..
        } => (added + new_len, deleted + old_len),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_break_counts_as_a_changed_line() {
        assert_eq!(count(b"", b""), (0, 0));
        assert_eq!(count(b"", b"a\nb"), (2, 0));
        assert_eq!(count(b"a\nb\nc\n", b"a\nx\nc\n"), (1, 1));
        assert_eq!(count(b"a\r\n", b"a\n"), (1, 1));
        assert_eq!(count(b"a\n", b"a"), (1, 1));
    }
}
