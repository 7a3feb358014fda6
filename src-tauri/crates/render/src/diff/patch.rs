//! Parses unified diffs.

use std::time::Instant;

use lathe_protocol::view::{DiffLineKind, DiffStatus, FileDiffView};

use super::draw::{self, Colours, RawHunk, RawLine};
use super::{WORDS_DEADLINE, fold};

pub(super) const NO_FILE: &str = "/dev/null";

/// Parses a patch of any number of files, as git, `diff -u` and the JavaScript package `diff`
/// write it. Unknown lines are ignored. `unfold` also returns hunks that are folded by default.
pub(crate) fn parse_unified(patch: &str, unfold: bool) -> Vec<FileDiffView> {
    let mut parser = Parser {
        unfold,
        ..Parser::default()
    };
    for line in patch.split_terminator('\n') {
        parser.line(line);
    }
    parser.finish_file();
    parser.files
}

#[derive(Default)]
struct Parser<'t> {
    files: Vec<FileDiffView>,
    file: Option<File<'t>>,
    /// The numbers of old and new lines that the open hunk still expects.
    remaining: (usize, usize),
    unfold: bool,
}

#[derive(Default)]
struct File<'t> {
    old_path: String,
    new_path: String,
    status: Option<DiffStatus>,
    hunks: Vec<RawHunk<'t>>,
    /// Both names were read, so the next names belong to another file.
    named: bool,
}

impl<'t> Parser<'t> {
    fn line(&mut self, line: &'t str) {
        if self.remaining != (0, 0) && self.hunk_line(line) {
            return;
        }
        if line.starts_with("\\ ") {
            return self.no_newline();
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.finish_file();
            let (old, new) = git_names(names);
            self.file = Some(File {
                old_path: old,
                new_path: new,
                ..File::default()
            });
        } else if let Some(path) = line.strip_prefix("Index: ") {
            self.finish_file();
            let path = path.trim().to_owned();
            self.file = Some(File {
                old_path: path.clone(),
                new_path: path,
                ..File::default()
            });
        } else if let Some(path) = line.strip_prefix("--- ") {
            if self.file.as_ref().is_none_or(|file| file.named) {
                self.finish_file();
            }
            self.file.get_or_insert_default().old_path = file_name(path, "a/");
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let file = self.file.get_or_insert_default();
            file.new_path = file_name(path, "b/");
            file.named = true;
        } else if let Some(header) = line.strip_prefix("@@ ") {
            self.hunk_header(header);
        } else if let Some(file) = &mut self.file {
            file.header(line);
        }
    }

    fn hunk_header(&mut self, header: &str) {
        let Some((ranges, heading)) = header.split_once("@@") else {
            return;
        };
        let mut ranges = ranges.split_whitespace();
        let old = ranges
            .next()
            .and_then(|range| parse_range(range.strip_prefix('-')?));
        let new = ranges
            .next()
            .and_then(|range| parse_range(range.strip_prefix('+')?));
        let (Some((old_start, old_len)), Some((new_start, new_len))) = (old, new) else {
            return;
        };
        let heading = Some(heading.trim().to_owned()).filter(|heading| !heading.is_empty());
        self.remaining = (old_len, new_len);
        let hunk = RawHunk {
            old_start,
            new_start,
            heading,
            lines: Vec::new(),
        };
        self.file.get_or_insert_default().hunks.push(hunk);
    }

    /// Returns whether the line belongs to the open hunk.
    fn hunk_line(&mut self, line: &'t str) -> bool {
        let (kind, text) = match line.as_bytes().first() {
            Some(b' ') => (DiffLineKind::Context, &line[1..]),
            // Some tools remove the space of an empty context line.
            None => (DiffLineKind::Context, ""),
            Some(b'+') => (DiffLineKind::Add, &line[1..]),
            Some(b'-') => (DiffLineKind::Del, &line[1..]),
            Some(b'\\') => {
                self.no_newline();
                return true;
            }
            Some(_) => {
                self.remaining = (0, 0);
                return false;
            }
        };
        let Some(hunk) = self.file.as_mut().and_then(|file| file.hunks.last_mut()) else {
            return false;
        };
        let line = RawLine {
            kind,
            text,
            no_newline: false,
        };
        self.remaining.0 = self.remaining.0.saturating_sub(usize::from(line.is_old()));
        self.remaining.1 = self.remaining.1.saturating_sub(usize::from(line.is_new()));
        hunk.lines.push(line);
        true
    }

    fn no_newline(&mut self) {
        let hunk = self.file.as_mut().and_then(|file| file.hunks.last_mut());
        if let Some(line) = hunk.and_then(|hunk| hunk.lines.last_mut()) {
            line.no_newline = true;
        }
    }

    fn finish_file(&mut self) {
        self.remaining = (0, 0);
        let unfold = self.unfold;
        self.files
            .extend(self.file.take().map(|file| file.view(unfold)));
    }
}

impl File<'_> {
    fn header(&mut self, line: &str) {
        let starts = |prefix| line.starts_with(prefix);
        if starts("new file mode") {
            self.status = Some(DiffStatus::Added);
        } else if starts("deleted file mode") {
            self.status = Some(DiffStatus::Deleted);
        } else if starts("Binary files ") || starts("GIT binary patch") {
            self.status = Some(DiffStatus::Binary);
        } else if starts("new mode") && self.status.is_none() {
            self.status = Some(DiffStatus::Mode);
        } else if let Some(path) = line.strip_prefix("rename from ") {
            self.status = Some(DiffStatus::Renamed);
            self.old_path = unquote(path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            self.new_path = unquote(path);
        }
    }

    fn view(self, unfold: bool) -> FileDiffView {
        let count = |kind| {
            self.hunks
                .iter()
                .flat_map(|hunk| &hunk.lines)
                .filter(|line| line.kind == kind)
                .count()
        };
        let (additions, deletions) = (count(DiffLineKind::Add), count(DiffLineKind::Del));
        let status = match self.status {
            Some(DiffStatus::Mode) if !self.hunks.is_empty() => DiffStatus::Modified,
            Some(status) => status,
            None if self.old_path == NO_FILE => DiffStatus::Added,
            None if self.new_path == NO_FILE => DiffStatus::Deleted,
            None if !self.old_path.is_empty() && self.old_path != self.new_path => {
                DiffStatus::Renamed
            }
            None => DiffStatus::Modified,
        };
        let deleted = self.new_path == NO_FILE || self.new_path.is_empty();
        let path = if deleted {
            self.old_path.clone()
        } else {
            self.new_path
        };
        let folded = fold::reason(&path, None, None, additions + deletions).filter(|_| !unfold);
        let hunks = match folded {
            Some(_) => Vec::new(),
            None => {
                let colours = Colours::from_hunks(&path);
                draw::hunks(&self.hunks, &colours, Instant::now() + WORDS_DEADLINE)
            }
        };
        let old_path = Some(self.old_path).filter(|_| status == DiffStatus::Renamed);
        FileDiffView {
            path,
            old_path,
            status,
            additions,
            deletions,
            hunks,
            folded,
        }
    }
}

fn parse_range(range: &str) -> Option<(usize, usize)> {
    match range.split_once(',') {
        Some((start, len)) => Some((start.parse().ok()?, len.parse().ok()?)),
        None => Some((range.parse().ok()?, 1)),
    }
}

/// Splits `a/x b/x`. If the names contain spaces, this is reliable only if both are the same.
fn git_names(names: &str) -> (String, String) {
    let half = names.len() / 2;
    let same = names.is_char_boundary(half)
        && names.get(..half).is_some_and(|old| {
            names
                .get(half + 1..)
                .is_some_and(|new| without_prefix(old, "a/") == without_prefix(new, "b/"))
        });
    let (old, new) = match names.split_once(" b/") {
        _ if same => (&names[..half], &names[half + 1..]),
        Some((old, new)) => (old, new),
        None => names.split_once(' ').unwrap_or((names, names)),
    };
    (
        without_prefix(&unquote(old), "a/").to_owned(),
        without_prefix(&unquote(new), "b/").to_owned(),
    )
}

/// A name in a `---` or `+++` line, without its date and prefix.
fn file_name(text: &str, prefix: &str) -> String {
    let text = text
        .split('\t')
        .next()
        .unwrap_or(text)
        .trim_end_matches('\r');
    without_prefix(&unquote(text), prefix).to_owned()
}

fn without_prefix<'t>(path: &'t str, prefix: &str) -> &'t str {
    path.strip_prefix(prefix).unwrap_or(path)
}

/// Reverses the quoting that git uses for names with special characters.
fn unquote(text: &str) -> String {
    let Some(inner) = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    else {
        return text.to_owned();
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = if byte == b'\\' { bytes.next() } else { None };
        match escaped {
            None => out.push(byte),
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(first @ b'0'..=b'7') => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    if let Some(digit) = bytes.next_if(|b| matches!(b, b'0'..=b'7')) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
