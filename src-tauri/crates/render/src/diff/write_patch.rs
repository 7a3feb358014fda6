//! Writes unified diffs, to test the parser with them.

use std::fmt::Write as _;

use lathe_protocol::view::DiffLineKind;

use super::draw::RawHunk;
use super::patch::NO_FILE;
use super::{DiffOptions, Lines};

/// Writes a unified diff that `patch` and `git apply` accept.
pub(super) fn unified(before: Option<&str>, after: Option<&str>, options: &DiffOptions) -> String {
    let lines = Lines::new(before, after);
    let hunks = lines.hunks(lines.ops(), options.context);
    if hunks.is_empty() {
        return String::new();
    }
    let old_path = options.old_path.as_deref().unwrap_or(&options.path);
    let side = |text: Option<&str>, prefix: &str, path: &str| match text {
        Some(_) => quote(&format!("{prefix}/{path}")),
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

/// Quotes a name as git does if it contains special characters.
fn quote(path: &str) -> String {
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
