//! Applies hunks to a text: finds the position of each, and preserves all other bytes.

use super::parse::{Hunk, HunkLine};
use crate::changes::LineEnding;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("there is no line `{0}` where the @@ line wants it.")]
    NoContext(String),
    #[error("these lines are not there{}:\n{lines}\n", if *.at_end { " at the end of the file" } else { "" })]
    NoLines { lines: String, at_end: bool },
}

/// A line and its line break, if it has one.
struct Line<'a> {
    text: &'a str,
    ending: &'a str,
}

pub(super) fn apply(before: &str, hunks: &[Hunk]) -> Result<String, Misfit> {
    let lines: Vec<Line> = before.split_inclusive('\n').map(line).collect();
    let usual = LineEnding::of(before).unwrap_or(LineEnding::Lf).as_str();
    let mut after = After {
        text: String::with_capacity(before.len()),
        ending: usual,
    };
    let mut done = 0;
    for hunk in hunks {
        let at = place(&lines, done, hunk)?;
        lines[done..at].iter().for_each(|line| after.keep(line));
        done = at;
        for line in &hunk.lines {
            match line {
                HunkLine::Keep(_) if done < lines.len() => {
                    after.keep(&lines[done]);
                    done += 1;
                }
                HunkLine::Keep(_) => {}
                HunkLine::Remove(_) => {
                    after.ending = lines.get(done).map_or(usual, |line| line.ending);
                    done += 1;
                }
                HunkLine::Add(text) => after.add(text, usual),
            }
        }
        done = done.min(lines.len());
    }
    lines[done..].iter().for_each(|line| after.keep(line));
    let mut text = after.text;
    let broken = before.is_empty() || before.ends_with('\n');
    if !broken {
        let end = text
            .strip_suffix('\n')
            .map_or(text.len(), |t| t.strip_suffix('\r').unwrap_or(t).len());
        text.truncate(end);
    } else if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(usual);
    }
    Ok(text)
}

struct After<'a> {
    text: String,
    /// The line break of the last context or removed line, used for added lines.
    ending: &'a str,
}

impl<'a> After<'a> {
    fn keep(&mut self, line: &Line<'a>) {
        self.separate();
        self.text.push_str(line.text);
        self.text.push_str(line.ending);
        self.ending = line.ending;
    }

    fn add(&mut self, text: &str, usual: &'a str) {
        if self.ending.is_empty() {
            self.ending = usual;
        }
        self.separate();
        self.text.push_str(text);
        self.text.push_str(self.ending);
    }

    /// Adds a line break after the former last line of the file, if it had none.
    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(if self.ending.is_empty() {
                "\n"
            } else {
                self.ending
            });
        }
    }
}

fn line(line: &str) -> Line<'_> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let text = if line.ends_with('\n') {
        text.strip_suffix('\r').unwrap_or(text)
    } else {
        text
    };
    Line {
        text,
        ending: &line[text.len()..],
    }
}

/// The line where the hunk starts, at or after `from`.
fn place(lines: &[Line], from: usize, hunk: &Hunk) -> Result<usize, Misfit> {
    let mut from = from;
    for wanted in &hunk.after {
        let at =
            seek(lines, &[wanted], from, false).ok_or_else(|| Misfit::NoContext(wanted.clone()))?;
        from = at + 1;
    }
    let mut old: Vec<&str> = hunk
        .lines
        .iter()
        .filter_map(|line| match line {
            HunkLine::Keep(text) | HunkLine::Remove(text) => Some(text.as_str()),
            HunkLine::Add(_) => None,
        })
        .collect();
    if old.is_empty() {
        let anywhere = hunk.after.is_empty() || hunk.at_end;
        return Ok(if anywhere { lines.len() } else { from });
    }
    // The @@ line may be repeated as the first line of the hunk.
    let quoted_again = from.saturating_sub(usize::from(!hunk.after.is_empty()));
    let found = seek(lines, &old, from, hunk.at_end)
        .or_else(|| seek(lines, &old, quoted_again, hunk.at_end));
    if let Some(at) = found {
        return Ok(at);
    }
    // A blank last line is how some end a hunk; the file need not have it.
    if old.last() == Some(&"") && matches!(hunk.lines.last(), Some(HunkLine::Keep(_))) {
        old.pop();
        if let Some(at) = seek(lines, &old, from, true).filter(|_| !old.is_empty()) {
            return Ok(at);
        }
    }
    Err(Misfit::NoLines {
        lines: old.join("\n"),
        at_end: hunk.at_end,
    })
}

/// The first place from `from` on, by the strictest comparison that finds one.
fn seek(lines: &[Line], wanted: &[&str], from: usize, at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let first = if at_end { last.max(from) } else { from };
    let comparisons: [fn(&str, &str) -> bool; 4] = [
        |a, b| a == b,
        |a, b| a.trim_end() == b.trim_end(),
        |a, b| a.trim() == b.trim(),
        |a, b| folded(a) == folded(b),
    ];
    comparisons.iter().find_map(|equal| {
        (first..=last).find(|at| {
            lines[*at..]
                .iter()
                .zip(wanted)
                .all(|(line, wanted)| equal(line.text, wanted))
        })
    })
}

/// Typographic punctuation as plain ASCII, since models write one for the other.
fn folded(line: &str) -> String {
    line.trim()
        .chars()
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            c => c,
        })
        .collect()
}
