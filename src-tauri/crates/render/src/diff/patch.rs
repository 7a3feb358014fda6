//! Unified diffs as text: reading those that are stored, writing those that are copied.

use std::fmt::Write as _;
use std::time::Instant;

use lathe_protocol::view::{DiffLineKind, DiffStatus, FileDiffView};

use super::draw::{self, Colours, RawHunk, RawLine};
use super::{DiffOptions, Lines, WORDS_DEADLINE, fold};

const NO_FILE: &str = "/dev/null";

/// The change as a unified diff that `patch` and `git apply` take.
pub fn unified(before: Option<&str>, after: Option<&str>, options: &DiffOptions) -> String {
    let lines = Lines::new(before, after);
    let hunks = lines.hunks(lines.ops(), options.context);
    if hunks.is_empty() {
        return String::new();
    }
    let old_path = options.old_path.as_deref().unwrap_or(&options.path);
    let side = |text: Option<&str>, prefix: &str, path: &str| match text {
        Some(_) => quoted(&format!("{prefix}/{path}")),
        None => NO_FILE.to_owned(),
    };
    let mut out = format!(
        "--- {}\n+++ {}\n",
        side(before, "a", old_path),
        side(after, "b", &options.path)
    );
    for hunk in &hunks {
        push_hunk(&mut out, hunk);
    }
    out
}

fn push_hunk(out: &mut String, hunk: &RawHunk<'_>) {
    let old = hunk.lines.iter().filter(|line| line.is_old()).count();
    let new = hunk.lines.iter().filter(|line| line.is_new()).count();
    let heading = hunk
        .heading
        .as_ref()
        .map(|text| format!(" {text}"))
        .unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "@@ -{},{old} +{},{new} @@{heading}",
        hunk.old_start, hunk.new_start
    );
    for line in &hunk.lines {
        out.push(match line.kind {
            DiffLineKind::Context => ' ',
            DiffLineKind::Add => '+',
            DiffLineKind::Del => '-',
        });
        out.push_str(line.text);
        out.push('\n');
        if line.no_newline {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

/// Reads a patch of any number of files, as git, `diff -u` and JavaScript's `diff` write it.
/// What is not understood is passed over. `unfold` draws also what is usually folded.
pub fn parse_unified(patch: &str, unfold: bool) -> Vec<FileDiffView> {
    let mut reader = Reader {
        unfold,
        ..Reader::default()
    };
    for line in patch.split_terminator('\n') {
        reader.line(line);
    }
    reader.close();
    reader.files
}

#[derive(Default)]
struct Reader<'t> {
    files: Vec<FileDiffView>,
    file: Option<File<'t>>,
    /// Old and new lines that the open hunk still expects.
    left: (usize, usize),
    unfold: bool,
}

#[derive(Default)]
struct File<'t> {
    old_path: String,
    new_path: String,
    status: Option<DiffStatus>,
    hunks: Vec<RawHunk<'t>>,
    /// Both names have come; more names start another file.
    named: bool,
}

impl<'t> Reader<'t> {
    fn line(&mut self, line: &'t str) {
        if self.left != (0, 0) && self.hunk_line(line) {
            return;
        }
        if line.starts_with("\\ ") {
            return self.no_newline();
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.close();
            let (old, new) = git_names(names);
            self.file = Some(File {
                old_path: old,
                new_path: new,
                ..File::default()
            });
        } else if let Some(path) = line.strip_prefix("Index: ") {
            self.close();
            let path = path.trim().to_owned();
            self.file = Some(File {
                old_path: path.clone(),
                new_path: path,
                ..File::default()
            });
        } else if let Some(path) = line.strip_prefix("--- ") {
            if self.file.as_ref().is_none_or(|file| file.named) {
                self.close();
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
        self.left = (old_len, new_len);
        let hunk = RawHunk {
            old_start,
            new_start,
            heading,
            lines: Vec::new(),
        };
        self.file.get_or_insert_default().hunks.push(hunk);
    }

    /// Whether the line belongs to the open hunk.
    fn hunk_line(&mut self, line: &'t str) -> bool {
        let (kind, text) = match line.as_bytes().first() {
            Some(b' ') => (DiffLineKind::Context, &line[1..]),
            // Some tools strip the blank of an empty context line.
            None => (DiffLineKind::Context, ""),
            Some(b'+') => (DiffLineKind::Add, &line[1..]),
            Some(b'-') => (DiffLineKind::Del, &line[1..]),
            Some(b'\\') => {
                self.no_newline();
                return true;
            }
            Some(_) => {
                self.left = (0, 0);
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
        self.left.0 = self.left.0.saturating_sub(usize::from(line.is_old()));
        self.left.1 = self.left.1.saturating_sub(usize::from(line.is_new()));
        hunk.lines.push(line);
        true
    }

    fn no_newline(&mut self) {
        let hunk = self.file.as_mut().and_then(|file| file.hunks.last_mut());
        if let Some(line) = hunk.and_then(|hunk| hunk.lines.last_mut()) {
            line.no_newline = true;
        }
    }

    fn close(&mut self) {
        self.left = (0, 0);
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
            self.old_path = unquoted(path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            self.new_path = unquoted(path);
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
        let gone = self.new_path == NO_FILE || self.new_path.is_empty();
        let path = if gone {
            self.old_path.clone()
        } else {
            self.new_path
        };
        let folded = fold::reason(&path, None, None, additions + deletions).filter(|_| !unfold);
        let hunks = match folded {
            Some(_) => Vec::new(),
            None => {
                let colours = Colours::of_hunks(&path);
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

/// `a/x b/x`. Names with blanks are only told apart when both are the same.
fn git_names(names: &str) -> (String, String) {
    let half = names.len() / 2;
    let same = names.is_char_boundary(half)
        && names.get(..half).is_some_and(|old| {
            names
                .get(half + 1..)
                .is_some_and(|new| strip(old, "a/") == strip(new, "b/"))
        });
    let (old, new) = match names.split_once(" b/") {
        _ if same => (&names[..half], &names[half + 1..]),
        Some((old, new)) => (old, new),
        None => names.split_once(' ').unwrap_or((names, names)),
    };
    (
        strip(&unquoted(old), "a/").to_owned(),
        strip(&unquoted(new), "b/").to_owned(),
    )
}

/// A name in a `---` or `+++` line, without its date and prefix.
fn file_name(text: &str, prefix: &str) -> String {
    let text = text
        .split('\t')
        .next()
        .unwrap_or(text)
        .trim_end_matches('\r');
    strip(&unquoted(text), prefix).to_owned()
}

fn strip<'t>(path: &'t str, prefix: &str) -> &'t str {
    path.strip_prefix(prefix).unwrap_or(path)
}

/// Quotes a name as git does when it would break the line.
fn quoted(path: &str) -> String {
    if !path
        .chars()
        .any(|c| c.is_control() || c == '"' || c == '\\')
    {
        return path.to_owned();
    }
    let mut out = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            0x20..=0x7e => out.push(char::from(byte)),
            // Writing to a String cannot fail.
            byte => drop(write!(out, "\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

fn unquoted(text: &str) -> String {
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
