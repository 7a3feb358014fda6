//! The open end of a text, mended so that half-written markup is not shown raw for a moment.
//!
//! Only previews pass through here; a finished block is drawn from its source alone. Where the
//! guess is wrong the next push corrects it.

use super::line::Line;
use crate::paths;

/// The line being written, or nothing while it may still become a marker of some kind:
/// a bullet, a fence, an underline, the start of bold text.
pub(super) fn without_marker(line: &str) -> &str {
    let rest = line.trim();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < rest.len() && matches!(digits, "" | "." | ")");
    let quoted = rest.trim_start_matches(['>', ' ']);
    let marks = quoted.chars().all(|c| "*-+_=#`~>|".contains(c)) && quoted.len() <= 8;
    let fence = rest.starts_with("```") || rest.starts_with("~~~");
    if numbered || marks || fence { "" } else { line }
}

/// Closes what is open at the end of `source`.
pub(super) fn mended(source: &str, root: Option<&str>) -> String {
    if let Some(table) = young_table(source) {
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
    let (settled, open) = source.split_at(start);
    let ending = open.trim_end_matches([' ', '\n']);
    format!(
        "{settled}{}{}",
        Inline::default().close(ending),
        &open[ending.len()..]
    )
}

/// A header row is drawn as a table as soon as it is complete, and not at all before.
fn young_table(source: &str) -> Option<String> {
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

/// Whether the end lies in a fence of a list or quote, or in indented code: its marks are code.
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

/// Where the last run of inline text starts: markers of blocks above are none of its business.
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

/// Follows the marks of a run of inline text.
#[derive(Default)]
struct Inline {
    /// Open emphasis: the mark and where it stands.
    marks: Vec<(&'static str, usize)>,
    /// An open code span: its width and where it stands.
    code: Option<(usize, usize)>,
    /// Open brackets, each with where its text starts and whether it is an image.
    brackets: Vec<(usize, usize, bool)>,
    /// A link whose address is still being written: where it starts.
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
        self.mend(text)
    }

    /// Reads one mark or character; returns its length.
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

    fn mend(mut self, text: &str) -> String {
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
            // A task's box is no link.
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

    /// Appends the closing marks, or takes an opening mark away that has nothing to hold yet.
    fn close_marks(&mut self, mut out: String) -> String {
        while let Some((mark, at)) = self.marks.pop() {
            let end = out.trim_end().trim_end_matches(['*', '_', '~']).len();
            if end <= at {
                out.truncate(at);
            } else {
                // Half of the closing mark may be there already.
                let written = out.trim_end().len();
                let half = out[end..written].len() < mark.len() && mark.len() == 2;
                out.truncate(if half { end } else { written });
                out.push_str(mark);
            }
        }
        out
    }
}
