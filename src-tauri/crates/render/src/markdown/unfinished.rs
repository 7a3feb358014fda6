//! Completes the markup at the end of a text that streams in, so that it is not shown as source.
//!
//! Only previews use this; a finished block is rendered from its source alone. A wrong guess is
//! corrected by the next push.

use super::line::Line;
use crate::paths;

/// Returns the open line, or an empty one while it may still become a marker: a bullet, a fence,
/// an underline or the start of bold text.
pub(super) fn hide_marker(line: &str) -> &str {
    let rest = line.trim();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < rest.len() && matches!(digits, "" | "." | ")");
    let quoted = rest.trim_start_matches(['>', ' ']);
    let marks = quoted.chars().all(|c| "*-+_=#`~>|".contains(c)) && quoted.len() <= 8;
    let fence = rest.starts_with("```") || rest.starts_with("~~~");
    if numbered || marks || fence { "" } else { line }
}

/// Closes the markup that is open at the end of `source`.
pub(super) fn complete(source: &str, root: Option<&str>) -> String {
    if let Some(table) = complete_table(source) {
        return table;
    }
    if ends_in_code(source) {
        return source.to_owned();
    }
    let source = match root.and_then(|root| paths::trailing_root_prefix(source, root)) {
        Some(end) => &source[..end],
        None => source,
    };
    let start = last_inline_start(source);
    let (closed, open) = source.split_at(start);
    let ending = open.trim_end_matches([' ', '\n']);
    format!(
        "{closed}{}{}",
        Inline::default().close(ending),
        &open[ending.len()..]
    )
}

/// A table without a complete delimiter row: shown as soon as its header is complete, and not at
/// all before.
fn complete_table(source: &str) -> Option<String> {
    if !source.starts_with('|') {
        return None;
    }
    let Some((header, rest)) = source.split_once('\n') else {
        return Some(String::new());
    };
    let started = rest.bytes().all(|b| b"|:- \t\n".contains(&b));
    let cells = Line::new(header).header_cells()?;
    let complete = Line::new(rest).delimiter_cells() == Some(cells);
    (started && !complete).then(|| format!("{header}\n{}|\n", "|---".repeat(cells)))
}

/// Whether the end is in indented code, or in a fence inside a list or quote: then there is no
/// markup to close.
fn ends_in_code(source: &str) -> bool {
    let mut fence: Option<(char, usize)> = None;
    for line in source.lines() {
        let line = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']);
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || " .)".contains(c));
        let Some(mark @ ('`' | '~')) = line.chars().next() else {
            continue;
        };
        let rest = line.trim_start_matches(mark);
        let len = line.len() - rest.len();
        fence = match fence {
            None if len >= 3 && !rest.contains('`') => Some((mark, len)),
            Some((open, min)) if open == mark && len >= min && rest.trim().is_empty() => None,
            fence => fence,
        };
    }
    fence.is_some() || Line::new(source.lines().next().unwrap_or_default()).indent >= 4
}

/// The position where the last run of inline text starts, after all markers of blocks.
fn last_inline_start(source: &str) -> usize {
    let trimmed = source.trim_end();
    let mut start = trimmed.rfind("\n\n").map_or(0, |at| at + 2);
    for (at, _) in trimmed[start..]
        .match_indices('\n')
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        let line = trimmed[start + at + 1..].trim_start_matches([' ', '\t', '>']);
        let first = line.split('\n').next().unwrap_or_default();
        if line.starts_with(['|', '#']) || is_item(first) {
            start += at + 1;
            break;
        }
    }
    let rest = &trimmed[start..];
    let first = rest.trim_start_matches([' ', '\t', '>', '#']);
    let marker = first
        .split_once(' ')
        .filter(|_| is_item(first))
        .map_or(0, |(mark, _)| mark.len());
    start + (rest.len() - first.len()) + marker
}

fn is_item(line: &str) -> bool {
    let Some((mark, _)) = line.split_once(' ') else {
        return false;
    };
    let digits = mark.trim_end_matches(['.', ')']);
    matches!(mark, "-" | "*" | "+")
        || (digits.len() < mark.len()
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The markup that is open in a run of inline text.
#[derive(Default)]
struct Inline {
    /// Open emphasis: the delimiter and its position.
    marks: Vec<(&'static str, usize)>,
    /// An open code span: the number of backticks and their position.
    code: Option<(usize, usize)>,
    /// Open brackets: the start of the link, the start of its text, and whether it is an image.
    brackets: Vec<(usize, usize, bool)>,
    /// A link whose URL is not complete: its start, the start and the end of its text, and
    /// whether it is an image.
    address: Option<(usize, usize, usize, bool)>,
}

impl Inline {
    fn close(mut self, text: &str) -> String {
        let mut at = 0;
        while at < text.len() {
            at += self.step(text, at).max(1);
            while !text.is_char_boundary(at) {
                at += 1;
            }
        }
        self.close_all(text)
    }

    /// Reads one delimiter or character and returns its length.
    fn step(&mut self, text: &str, at: usize) -> usize {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else {
            return 1;
        };
        let run = rest.len() - rest.trim_start_matches(c).len();
        if let Some((width, _)) = self.code {
            if c == '`' && run == width {
                self.code = None;
            }
            return if c == '`' { run } else { c.len_utf8() };
        }
        if let Some((start, inner, end, image)) = self.address {
            if c == ')' {
                self.address = None;
                self.marks
                    .retain(|(_, mark)| *mark < start || *mark > end || image || inner > *mark);
            }
            return c.len_utf8();
        }
        match c {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '`' => {
                self.code = Some((run, at));
                run
            }
            '*' | '_' | '~' => {
                self.emphasis(text, at, c, run);
                run
            }
            '[' => {
                let image = text[..at].ends_with('!');
                self.brackets
                    .push((if image { at - 1 } else { at }, at + 1, image));
                1
            }
            ']' => {
                if let Some((start, inner, image)) = self.brackets.pop()
                    && (rest.starts_with("](") || rest == "]")
                {
                    self.address = Some((start, inner, at, image));
                    return rest.len().min(2);
                }
                1
            }
            c => c.len_utf8(),
        }
    }

    fn emphasis(&mut self, text: &str, at: usize, c: char, run: usize) {
        let before = text[..at].chars().next_back();
        let after = text[at + run..].chars().next();
        let mut left = run;
        if before.is_some_and(|c| !c.is_whitespace()) {
            while let Some((mark, _)) = self.marks.last()
                && mark.starts_with(c)
                && left >= mark.len()
            {
                left -= mark.len();
                self.marks.pop();
            }
        }
        let opens = after.is_none_or(|c| !c.is_whitespace())
            && (c != '_' || !before.is_some_and(char::is_alphanumeric));
        if !opens {
            return;
        }
        let start = at + run - left;
        let marks: &[&'static str] = match (c, left) {
            ('*', 1) => &["*"],
            ('*', 2) => &["**"],
            ('*', 3) => &["*", "**"],
            ('_', 1) => &["_"],
            ('_', 2) => &["__"],
            ('~', 2) => &["~~"],
            _ => &[],
        };
        self.marks.extend(marks.iter().map(|mark| (*mark, start)));
    }

    fn close_all(mut self, text: &str) -> String {
        let mut out = text.to_owned();
        if let Some((width, at)) = self.code {
            if text.len() == at + width {
                out.truncate(at);
            } else {
                let pad = if out.ends_with('`') { " " } else { "" };
                out.push_str(pad);
                out.push_str(&"`".repeat(width));
            }
        }
        let cut = match (self.address, self.brackets.pop()) {
            (Some((start, inner, end, image)), _) => Some((start, inner, end, image)),
            // The box of a task is not a link.
            (None, Some((start, inner, image)))
                if !text[..start].trim_end().is_empty() || image =>
            {
                Some((start, inner, out.len(), image))
            }
            _ => None,
        };
        if let Some((start, inner, end, image)) = cut {
            let kept = if image {
                String::new()
            } else {
                out[inner..end].to_owned()
            };
            out.truncate(start);
            out.push_str(&kept);
        }
        self.close_marks(out)
    }

    /// Appends the closing delimiters, and removes an opening one without text after it.
    fn close_marks(&mut self, mut out: String) -> String {
        while let Some((mark, at)) = self.marks.pop() {
            let end = out.trim_end().trim_end_matches(['*', '_', '~']).len();
            if end <= at {
                out.truncate(at);
            } else {
                // Half of the closing delimiter may be there already.
                let written = out.trim_end().len();
                let half = out[end..written].len() < mark.len() && mark.len() == 2;
                out.truncate(if half { end } else { written });
                out.push_str(mark);
            }
        }
        out
    }
}
