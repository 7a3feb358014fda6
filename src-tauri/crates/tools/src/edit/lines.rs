//! A text seen as lines.

use std::ops::Range;

pub(super) struct Lines<'a> {
    pub text: &'a str,
    /// Each line without its line break. A break at the end of the text starts no further line.
    ranges: Vec<Range<usize>>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut ranges = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.strip_suffix('\n').unwrap_or(line).len();
            ranges.push(start..end);
            start += line.len();
        }
        Self { text, ranges }
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    pub fn get(&self, index: usize) -> &'a str {
        &self.text[self.ranges[index].clone()]
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.ranges.iter().map(|range| &self.text[range.clone()])
    }

    pub fn trimmed(&self) -> Vec<&'a str> {
        self.iter().map(str::trim).collect()
    }

    pub fn ends_with_break(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// The range of the lines `first..=last`, with the last line break if requested.
    pub fn span(&self, first: usize, last: usize, with_break: bool) -> Range<usize> {
        let end = self.ranges[last].end;
        let more = usize::from(with_break && end < self.text.len());
        self.ranges[first].start..end + more
    }
}

pub(super) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// How many bytes of whole lines two texts have in common at their start and at their end.
pub(super) fn common(old: &str, new: &str) -> (usize, usize) {
    let start: usize = old
        .split_inclusive('\n')
        .zip(new.split_inclusive('\n'))
        .take_while(|(a, b)| a == b && a.ends_with('\n'))
        .map(|(line, _)| line.len())
        .sum();
    let (old, new) = (&old[start..], &new[start..]);
    let mut end = 0;
    // Counted from the end, a line is complete only if a break precedes it in both.
    loop {
        let (a, b) = (&old[..old.len() - end], &new[..new.len() - end]);
        let (Some(at), Some(bt)) = (last_line(a), last_line(b)) else {
            return (start, end);
        };
        if a[at..] != b[bt..] {
            return (start, end);
        }
        end += a.len() - at;
    }
}

/// The start of the last line, if a line break precedes it.
fn last_line(text: &str) -> Option<usize> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    body.rfind('\n').map(|at| at + 1)
}

/// Whether every line starts with a line number like the output of the read tool.
pub(super) fn look_numbered(text: &str) -> bool {
    let numbered = |line: &str| {
        line.trim_start()
            .split_once('\t')
            .is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            })
    };
    !text.trim().is_empty() && text.lines().filter(|l| !l.trim().is_empty()).all(numbered)
}
