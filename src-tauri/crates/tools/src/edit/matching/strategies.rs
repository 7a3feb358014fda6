//! The strategies. Each takes the text and oldString and returns the matching ranges in order.

use std::ops::Range;

use similar::TextDiff;

use crate::edit::adapt::{is_one_break, unescaped};
use crate::edit::lines::{Lines, indentation};

const SIMILAR: f32 = 0.65;
/// Longer blocks are compared by lines, not by characters.
const MAX_COMPARED: usize = 8_000;
/// If more blocks than this start with the first line, it is not a useful anchor.
const MAX_ANCHORS: usize = 500;

/// Overlapping matches are counted separately.
pub(super) fn exact(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(old) {
        let start = from + at;
        places.push(start..start + old.len());
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    places
}

pub(super) fn lines_trimmed(text: &Lines, old: &Lines) -> Vec<Range<usize>> {
    let (lines, wanted) = (text.trimmed(), old.trimmed());
    windows(&lines, &wanted)
        .map(|at| text.span(at, at + wanted.len() - 1, old.ends_with_break()))
        .collect()
}

pub(super) fn block_anchored(text: &Lines, old: &Lines) -> Vec<Range<usize>> {
    let (lines, wanted) = (text.trimmed(), old.trimmed());
    let [first, middle @ .., last] = wanted.as_slice() else {
        return Vec::new();
    };
    if middle.is_empty() || first.is_empty() || last.is_empty() {
        return Vec::new();
    }
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at] == *first).collect();
    if starts.len() > MAX_ANCHORS {
        return Vec::new();
    }
    let middle = middle.join("\n");
    let reach = wanted.len() * 3 + 10;
    let best_end = |start: usize| {
        let ends = (start + 2..lines.len().min(start + reach)).filter(|end| lines[*end] == *last);
        ends.map(|end| (similarity(&middle, &lines[start + 1..end].join("\n")), end))
            .filter(|(similarity, _)| *similarity >= SIMILAR)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    };
    starts
        .into_iter()
        .filter_map(|start| best_end(start).map(|(_, end)| (start, end)))
        .map(|(start, end)| text.span(start, end, old.ends_with_break()))
        .collect()
}

fn similarity(a: &str, b: &str) -> f32 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    // At most the length of the shorter text can be common.
    if 2.0 * short as f32 / ((short + long) as f32) < SIMILAR / 2.0 {
        return 0.0;
    }
    if long > MAX_COMPARED {
        TextDiff::from_lines(a, b).ratio()
    } else {
        TextDiff::from_chars(a, b).ratio()
    }
}

pub(super) fn whitespace_folded(text: &str, old: &str) -> Vec<Range<usize>> {
    let wanted = old.split_whitespace().collect::<Vec<_>>().join(" ");
    let folded = Folded::new(text);
    exact(&folded.text, &wanted)
        .into_iter()
        .map(|range| folded.original(&range))
        .map(|range| with_blanks(text, old, range))
        .collect()
}

/// Extends a match by the whitespace that `old` starts and ends with.
fn with_blanks(text: &str, old: &str, mut range: Range<usize>) -> Range<usize> {
    if old.starts_with([' ', '\t']) {
        range.start = text[..range.start].trim_end_matches([' ', '\t']).len();
    }
    let trail = &old[old.trim_end().len()..];
    if !trail.is_empty() && is_one_break(trail) {
        let rest = &text[range.end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let broken = old.ends_with('\n') && rest[blanks..].starts_with('\n');
        range.end += blanks + usize::from(broken);
    }
    range
}

/// A text in which every run of whitespace is replaced with one space.
struct Folded {
    text: String,
    /// For each byte of `text`, its position in the original.
    origin: Vec<usize>,
}

impl Folded {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut origin = Vec::with_capacity(original.len());
        for (at, c) in original.char_indices() {
            if !c.is_whitespace() {
                text.push(c);
                origin.extend(at..at + c.len_utf8());
            } else if !text.ends_with(' ') {
                text.push(' ');
                origin.push(at);
            }
        }
        Self { text, origin }
    }

    /// The range must start and end with a non-whitespace character.
    fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.origin[range.start]..self.origin[range.end - 1] + 1
    }
}

pub(super) fn indentation_shifted(text: &Lines, old: &Lines) -> Vec<Range<usize>> {
    let wanted = outdented(old.iter());
    let lines: Vec<&str> = text.iter().collect();
    // The first line is a cheap filter before the whole block is outdented.
    let first = wanted.first().map(|line| line.trim()).unwrap_or_default();
    (0..(lines.len() + 1).saturating_sub(wanted.len()))
        .filter(|at| lines[*at].trim() == first)
        .filter(|at| outdented(lines[*at..*at + wanted.len()].iter().copied()) == wanted)
        .map(|at| text.span(at, at + wanted.len() - 1, old.ends_with_break()))
        .collect()
}

fn outdented<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lines: Vec<&str> = lines.collect();
    let inked = lines.iter().filter(|line| !line.trim().is_empty());
    let common = inked.map(|line| indentation(line).len()).min().unwrap_or(0);
    lines
        .into_iter()
        .map(|line| {
            if line.trim().is_empty() {
                ""
            } else {
                &line[common..]
            }
        })
        .collect()
}

pub(super) fn escapes_undone(text: &str, old: &str) -> Vec<Range<usize>> {
    let meant = unescaped(old);
    if meant == old || meant.trim().is_empty() {
        return Vec::new();
    }
    exact(text, &meant)
}

pub(super) fn boundary_trimmed(text: &str, old: &str) -> Vec<Range<usize>> {
    let trimmed = old.trim();
    if trimmed == old {
        return Vec::new();
    }
    exact(text, trimmed)
}

pub(super) fn context_lines(text: &Lines, old: &Lines) -> Vec<Range<usize>> {
    let (lines, wanted) = (text.trimmed(), old.trimmed());
    let [first, middle @ .., last] = wanted.as_slice() else {
        return Vec::new();
    };
    if middle.is_empty() {
        return Vec::new();
    }
    let fits = |window: &[&str]| {
        let pairs = window[1..].iter().zip(middle);
        let inked = pairs.filter(|(a, b)| !a.is_empty() || !b.is_empty());
        let (mut equal, mut total) = (0, 0);
        for (a, b) in inked {
            total += 1;
            equal += usize::from(a == b);
        }
        equal * 2 >= total
    };
    lines
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| window[0] == *first && window[window.len() - 1] == *last)
        .filter(|(_, window)| fits(window))
        .map(|(at, _)| text.span(at, at + wanted.len() - 1, old.ends_with_break()))
        .collect()
}

fn windows<'a>(lines: &'a [&str], wanted: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    lines
        .windows(wanted.len())
        .enumerate()
        .filter(move |(_, window)| *window == wanted)
        .map(|(at, _)| at)
}
