//! Draws single rows of a diff: what is on screen, and not the rest of the file.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use lathe_protocol::view::{DiffLine, DiffLineKind, DiffRow};

use super::draw::{self, RawLine};
use super::{Lines, WORDS_DEADLINE};
use crate::highlight::{Highlighter, MAX_BYTES, MAX_LINES, Piece};

/// In a long file, colours begin so many lines above the first row.
const LEAD_IN: usize = 200;

/// The rows of a diff between two texts, coloured and with the changed words marked.
pub fn draw_rows(path: &str, old: &str, new: &str, rows: &[DiffRow]) -> Vec<DiffLine> {
    let lines = Lines::new(Some(old), Some(new));
    let raw: Vec<RawLine<'_>> = rows
        .iter()
        .filter_map(|row| raw_line(&lines, row))
        .collect();
    if raw.len() < rows.len() {
        // The rows are of other texts.
        return Vec::new();
    }
    let before = colours(path, &lines.old, rows.iter().filter_map(|row| row.old));
    let after = colours(path, &lines.new, rows.iter().filter_map(|row| row.new));
    let marks = draw::changed_words(&raw, Instant::now() + WORDS_DEADLINE);
    let all_crlf = raw.iter().all(|line| line.text.ends_with('\r'));
    let each = rows.iter().zip(&raw).zip(&marks);
    each.map(|((row, line), marks)| {
        let side = match row.new {
            Some(number) => after.get(&number),
            None => row.old.and_then(|number| before.get(&number)),
        };
        let pieces = side.map(Vec::as_slice).unwrap_or_default();
        let mut spans = draw::spans(line.text, pieces, marks);
        if all_crlf && let Some(last) = spans.last_mut() {
            last.shown = Some(String::new());
        }
        DiffLine {
            kind: row.kind,
            old: row.old,
            new: row.new,
            spans,
            no_newline: line.no_newline,
        }
    })
    .collect()
}

/// Some lines of a text by their numbers, from 1, as unchanged rows.
pub fn draw_file(path: &str, text: &str, lines: Range<usize>) -> Vec<DiffLine> {
    let count = text.split_inclusive('\n').count();
    let rows: Vec<DiffRow> = (lines.start..lines.end.min(count + 1))
        .map(|line| DiffRow {
            kind: DiffLineKind::Context,
            old: Some(line),
            new: Some(line),
        })
        .collect();
    draw_rows(path, text, text, &rows)
}

fn raw_line<'t>(lines: &Lines<'t>, row: &DiffRow) -> Option<RawLine<'t>> {
    let (side, number) = match row.new {
        Some(number) => (&lines.new, number),
        None => (&lines.old, row.old?),
    };
    let text = side.get(number.checked_sub(1)?)?;
    Some(RawLine::new(row.kind, text))
}

/// The colours of the wanted lines of one side, by number.
fn colours(
    path: &str,
    lines: &[&str],
    wanted: impl Iterator<Item = usize>,
) -> HashMap<usize, Vec<Piece>> {
    let wanted: Vec<usize> = wanted.collect();
    let (Some(first), Some(last)) = (wanted.iter().min(), wanted.iter().max()) else {
        return HashMap::new();
    };
    let is_long =
        lines.len() > MAX_LINES || lines.iter().map(|line| line.len()).sum::<usize>() > MAX_BYTES;
    let start = match is_long {
        true => first.saturating_sub(LEAD_IN),
        false => 0,
    };
    let mut highlighter = Highlighter::new(path);
    let mut coloured = HashMap::new();
    for (at, line) in lines.iter().enumerate().take(*last).skip(start) {
        let pieces = highlighter.line(line);
        if at + 1 >= *first {
            coloured.insert(at + 1, pieces);
        }
    }
    coloured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_as_the_whole_diff_is() {
        let old = "fn main() {\n    let count = 1;\n    print(count);\n}\n";
        let new = old.replace("count = 1", "total = 1");
        let whole = super::super::file_diff(
            Some(old),
            Some(&new),
            &super::super::DiffOptions::new("a.rs"),
        );
        let lines = &whole.hunks[0].lines;
        let rows: Vec<DiffRow> = lines
            .iter()
            .map(|line| DiffRow {
                kind: line.kind,
                old: line.old,
                new: line.new,
            })
            .collect();
        assert_eq!(&draw_rows("a.rs", old, &new, &rows), lines);
        assert_eq!(draw_rows("a.rs", old, &new, &rows[1..3]), lines[1..3]);
        assert_eq!(draw_rows("a.rs", "", "", &rows), []);
    }

    #[test]
    fn a_file_is_drawn_from_any_line_to_its_end() {
        let numbers =
            |lines: Vec<DiffLine>| lines.iter().filter_map(|line| line.new).collect::<Vec<_>>();
        assert_eq!(numbers(draw_file("a", "1\n2\n3\n", 2..9)), [2, 3]);
    }
}
