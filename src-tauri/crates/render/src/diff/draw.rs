//! Adds colours, marked words and line numbers to raw hunks.

use std::cell::Cell;
use std::ops::Range;
use std::time::Instant;

use lathe_protocol::view::{DiffHunk, DiffLine, DiffLineKind, Span};
use similar::{ChangeTag, DiffOp, TextDiff};

use crate::highlight::{self, Highlighter, MAX_BYTES, MAX_LINES, Piece};

/// In a larger change no words are marked, because too many would be.
const MAX_MARKED_LINES: usize = 100;
const MAX_MARKED_BYTES: usize = 20_000;

pub(super) struct RawHunk<'t> {
    pub old_start: usize,
    pub new_start: usize,
    pub heading: Option<String>,
    pub lines: Vec<RawLine<'t>>,
}

/// A line without its line break.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawLine<'t> {
    pub kind: DiffLineKind,
    pub text: &'t str,
    pub no_newline: bool,
}

impl<'t> RawLine<'t> {
    pub fn new(kind: DiffLineKind, line: &'t str) -> Self {
        let text = line.strip_suffix('\n');
        Self {
            kind,
            text: text.unwrap_or(line),
            no_newline: text.is_none(),
        }
    }

    pub fn is_old(&self) -> bool {
        self.kind != DiffLineKind::Add
    }

    pub fn is_new(&self) -> bool {
        self.kind != DiffLineKind::Del
    }
}

/// Where the colours of the lines come from.
pub(super) enum Colours<'p> {
    /// Both files were highlighted from their first line.
    Files {
        old: Vec<Vec<Piece>>,
        new: Vec<Vec<Piece>>,
    },
    /// Only the hunks are known, or the files are too long: each hunk is highlighted by itself.
    /// `remaining` is the number of lines that may still be highlighted, in all hunks.
    Hunks {
        path: &'p str,
        remaining: Cell<usize>,
    },
}

impl<'p> Colours<'p> {
    pub fn from_files(path: &'p str, old: &[&str], new: &[&str], hunks: &[RawHunk<'_>]) -> Self {
        let long = |lines: &[&str]| {
            lines.len() > MAX_LINES
                || lines.iter().map(|line| line.len()).sum::<usize>() > MAX_BYTES
        };
        if long(old) || long(new) {
            return Self::from_hunks(path);
        }
        let colour = |lines: &[&str], end: Option<usize>| {
            let mut highlighter = Highlighter::new(path);
            lines
                .iter()
                .take(end.unwrap_or(0))
                .map(|line| highlighter.line(line))
                .collect()
        };
        let last = hunks.last();
        let old_end = last.map(|hunk| hunk.old_start + hunk.lines.len());
        let new_end = last.map(|hunk| hunk.new_start + hunk.lines.len());
        Self::Files {
            old: colour(old, old_end),
            new: colour(new, new_end),
        }
    }

    pub fn from_hunks(path: &'p str) -> Self {
        let remaining = Cell::new(MAX_LINES);
        Self::Hunks { path, remaining }
    }

    /// The colours of a hunk's lines, in order.
    fn for_hunk(&self, hunk: &RawHunk<'_>) -> Vec<Vec<Piece>> {
        match self {
            Self::Files { old, new } => {
                let mut old = old.iter().skip(hunk.old_start.saturating_sub(1));
                let mut new = new.iter().skip(hunk.new_start.saturating_sub(1));
                colour_lines(hunk, |_| old.next().cloned(), |_| new.next().cloned())
            }
            Self::Hunks { path, remaining } => {
                let Some(rest) = remaining.get().checked_sub(hunk.lines.len()) else {
                    return vec![Vec::new(); hunk.lines.len()];
                };
                remaining.set(rest);
                let mut old = Highlighter::new(path);
                let mut new = old.clone();
                colour_lines(
                    hunk,
                    |line| Some(old.line(line)),
                    |line| Some(new.line(line)),
                )
            }
        }
    }
}

fn colour_lines(
    hunk: &RawHunk<'_>,
    mut old: impl FnMut(&str) -> Option<Vec<Piece>>,
    mut new: impl FnMut(&str) -> Option<Vec<Piece>>,
) -> Vec<Vec<Piece>> {
    let mut pieces = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let text = format!("{}\n", line.text);
        // A context line is passed to both sides, so that the state of both stays correct.
        let from_old = line.is_old().then(|| old(&text)).flatten();
        let from_new = line.is_new().then(|| new(&text)).flatten();
        pieces.push(from_new.or(from_old).unwrap_or_default());
    }
    pieces
}

pub(super) fn hunks(
    hunks: &[RawHunk<'_>],
    colours: &Colours<'_>,
    deadline: Instant,
) -> Vec<DiffHunk> {
    let all_crlf = hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .all(|line| line.text.ends_with('\r'));
    hunks
        .iter()
        .map(|raw| hunk(raw, colours, all_crlf, deadline))
        .collect()
}

fn hunk(raw: &RawHunk<'_>, colours: &Colours<'_>, all_crlf: bool, deadline: Instant) -> DiffHunk {
    let pieces = colours.for_hunk(raw);
    let marks = changed_words(&raw.lines, deadline);
    let mut old = raw.old_start.max(1);
    let mut new = raw.new_start.max(1);
    let mut lines = Vec::with_capacity(raw.lines.len());
    for (at, line) in raw.lines.iter().enumerate() {
        let mut spans = spans(line.text, &pieces[at], &marks[at]);
        if all_crlf && let Some(last) = spans.last_mut() {
            last.shown = Some(String::new());
        }
        lines.push(DiffLine {
            kind: line.kind,
            old: line.is_old().then_some(old),
            new: line.is_new().then_some(new),
            spans,
            no_newline: line.no_newline,
        });
        old += usize::from(line.is_old());
        new += usize::from(line.is_new());
    }
    DiffHunk {
        old_start: raw.old_start,
        old_lines: raw.lines.iter().filter(|line| line.is_old()).count(),
        new_start: raw.new_start,
        new_lines: raw.lines.iter().filter(|line| line.is_new()).count(),
        heading: raw.heading.clone(),
        lines,
    }
}

/// The changed words of each line, for every run of deletions that is followed by additions.
pub(super) fn changed_words(lines: &[RawLine<'_>], deadline: Instant) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: DiffLineKind| {
            from + lines[from..]
                .iter()
                .take_while(|line| line.kind == kind)
                .count()
        };
        let middle = run(at, DiffLineKind::Del);
        let end = run(middle, DiffLineKind::Add);
        if at < middle && middle < end {
            mark_words(
                &lines[at..middle],
                &lines[middle..end],
                &mut marks[at..end],
                deadline,
            );
        }
        at = end.max(at + 1);
    }
    marks
}

fn mark_words(
    old: &[RawLine<'_>],
    new: &[RawLine<'_>],
    marks: &mut [Vec<Range<usize>>],
    deadline: Instant,
) {
    let bytes: usize = old.iter().chain(new).map(|line| line.text.len()).sum();
    if old.len().max(new.len()) > MAX_MARKED_LINES || bytes > MAX_MARKED_BYTES {
        return;
    }
    let old: Vec<&str> = old.iter().map(|line| line.text).collect();
    let new: Vec<&str> = new.iter().map(|line| line.text).collect();
    let diff = TextDiff::configure()
        .newline_terminated(false)
        .diff_slices(&old, &new);
    let all = DiffOp::Replace {
        old_index: 0,
        old_len: old.len(),
        new_index: 0,
        new_len: new.len(),
    };
    for change in diff.iter_inline_changes_deadline(&all, Some(deadline)) {
        let at = match (change.tag(), change.old_index(), change.new_index()) {
            (ChangeTag::Delete, Some(at), _) => at,
            (ChangeTag::Insert, _, Some(at)) => old.len() + at,
            _ => continue,
        };
        let mut from = 0;
        for (marked, text) in change.values() {
            let to = from + text.len();
            if *marked && !text.trim().is_empty() {
                marks[at].push(from..to);
            }
            from = to;
        }
    }
}

/// Splits a line where its colour or its mark changes.
pub(crate) fn spans(text: &str, pieces: &[Piece], marks: &[Range<usize>]) -> Vec<Span> {
    let mut cuts: Vec<usize> = marks
        .iter()
        .flat_map(|mark| [mark.start, mark.end])
        .collect();
    cuts.extend(
        pieces
            .iter()
            .flat_map(|(range, _)| [range.start, range.end]),
    );
    cuts.extend([0, text.len()]);
    cuts.retain(|cut| *cut <= text.len() && text.is_char_boundary(*cut));
    cuts.sort_unstable();
    cuts.dedup();
    let mut spans = Vec::new();
    for pair in cuts.windows(2) {
        let class = pieces
            .iter()
            .find(|(range, _)| range.contains(&pair[0]))
            .and_then(|(_, class)| *class);
        let mark = marks.iter().any(|range| range.contains(&pair[0]));
        highlight::push_spans(&mut spans, &text[pair[0]..pair[1]], class, mark);
    }
    spans
}
