//! A unified diff between two texts.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use lathe_protocol::FileStatus;
use similar::{ChangeTag, TextDiff};

const CONTEXT: usize = 3;
/// After this time the diff becomes coarser, but stays correct.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct Unified {
    pub patch: String,
    pub additions: i64,
    pub deletions: i64,
}

impl Unified {
    pub fn between(name: &str, status: &FileStatus, before: &str, after: &str) -> Self {
        let name = crate::text::quoted(name);
        let (old, new) = (format!("a/{name}"), format!("b/{name}"));
        let (old, new) = match status {
            FileStatus::Added => ("/dev/null", new.as_str()),
            FileStatus::Deleted => (old.as_str(), "/dev/null"),
            _ => (old.as_str(), new.as_str()),
        };
        let mut unified = Self {
            patch: format!("--- {old}\n+++ {new}\n"),
            additions: 0,
            deletions: 0,
        };
        unified.add_hunks(before, after);
        unified
    }

    /// Only the part between the common start and end is compared, so that a small change in a
    /// large file is cheap.
    fn add_hunks(&mut self, before: &str, after: &str) {
        let skipped = common_start(before, after);
        let tail = common_end(&before[skipped..], &after[skipped..]);
        let lines_skipped = before[..skipped].bytes().filter(|b| *b == b'\n').count();
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(
            &before[skipped..before.len() - tail],
            &after[skipped..after.len() - tail],
        );
        for group in diff.grouped_ops(CONTEXT) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            let old = first.old_range().start..last.old_range().end;
            let new = first.new_range().start..last.new_range().end;
            let _ = writeln!(
                self.patch,
                "@@ -{} +{} @@",
                span(&old, lines_skipped),
                span(&new, lines_skipped)
            );
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                self.add_line(change.tag(), change.value());
            }
        }
    }

    fn add_line(&mut self, tag: ChangeTag, line: &str) {
        match tag {
            ChangeTag::Delete => self.deletions += 1,
            ChangeTag::Insert => self.additions += 1,
            ChangeTag::Equal => {}
        }
        let _ = write!(self.patch, "{tag}{line}");
        if !line.ends_with('\n') {
            self.patch.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn span(lines: &Range<usize>, skipped: usize) -> String {
    let start = lines.start + skipped;
    match lines.len() {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        count => format!("{},{count}", start + 1),
    }
}

/// The number of bytes of equal lines at the start of both, less the context of a hunk.
fn common_start(before: &str, after: &str) -> usize {
    let equal = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let mut end = 0;
    let mut kept = [0; CONTEXT + 1];
    for (at, _) in before.as_bytes()[..equal]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
    {
        kept.rotate_left(1);
        kept[CONTEXT] = at + 1;
        end = kept[0];
    }
    end
}

/// The same at the end, counted backwards.
fn common_end(before: &str, after: &str) -> usize {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let equal = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // The line before the first break in the equal part may differ; complete lines follow it.
    let start = old.len() - equal;
    old[start..]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(CONTEXT)
        .map_or(0, |(at, _)| equal - at - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(numbers: Range<usize>) -> String {
        numbers.map(|n| format!("{n}\n")).collect()
    }

    #[test]
    fn a_hunk_has_three_lines_around_it_and_the_right_numbers() {
        let before = lines(1..100);
        let after = before.replace("\n50\n", "\nfifty\nand\n");
        let unified = Unified::between("a.txt", &FileStatus::Modified, &before, &after);
        assert_eq!(
            unified.patch,
            "--- a/a.txt\n+++ b/a.txt\n@@ -47,7 +47,8 @@\n 47\n 48\n 49\n-50\n+fifty\n+and\n 51\n 52\n 53\n"
        );
        assert_eq!((unified.additions, unified.deletions), (2, 1));
    }

    #[test]
    fn new_and_deleted_files_and_missing_breaks_are_marked() {
        let unified = Unified::between("a", &FileStatus::Added, "", "x");
        assert_eq!(
            unified.patch,
            "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        );
        let unified = Unified::between("a", &FileStatus::Deleted, "x\n", "");
        assert_eq!(unified.patch, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
    }

    proptest! {
        #[test]
        fn the_shortcut_gives_the_diff_of_the_whole(before in "([ab]\n?){0,40}", after in "([ab]\n?){0,40}") {
            let unified = Unified::between("f", &FileStatus::Modified, &before, &after);
            let (mut old, mut new) = (String::new(), String::new());
            let (mut old_lines, mut new_lines) = (before.split_inclusive('\n'), after.split_inclusive('\n'));
            let mut at = 1;
            // Applying the patch to the old text must give the new one.
            for line in unified.patch.lines().skip(2) {
                if let Some(header) = line.strip_prefix("@@ -") {
                    let span = header.split(' ').next().unwrap();
                    let start: usize = span.split(',').next().unwrap().parse().unwrap();
                    let start = if span.ends_with(",0") { start + 1 } else { start };
                    for _ in at..start {
                        old.push_str(old_lines.next().unwrap());
                        new.push_str(new_lines.next().unwrap());
                    }
                    at = start;
                } else if line.starts_with(' ') {
                    old.push_str(old_lines.next().unwrap());
                    new.push_str(new_lines.next().unwrap());
                    at += 1;
                } else if let Some(line) = line.strip_prefix('-') {
                    let next = old_lines.next().unwrap();
                    prop_assert_eq!(next.trim_end_matches('\n'), line);
                    old.push_str(next);
                    at += 1;
                } else if let Some(line) = line.strip_prefix('+') {
                    let next = new_lines.next().unwrap();
                    prop_assert_eq!(next.trim_end_matches('\n'), line);
                    new.push_str(next);
                }
            }
            prop_assert_eq!(old_lines.collect::<Vec<_>>(), new_lines.collect::<Vec<_>>());
            prop_assert_eq!(before == after, unified.additions + unified.deletions == 0);
        }
    }
}
