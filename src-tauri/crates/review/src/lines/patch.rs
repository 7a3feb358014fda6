//! Patches that `git apply` takes.

use std::fmt::Write;
use std::ops::Range;

use lathe_snapshot::{FileContent, Mode};

use super::{binary_patch, blocks, extent, groups, split};
use crate::error::Result;

/// The patch from one content of a file to another one; empty if they are the same.
pub fn file(
    path: &str,
    from: Option<&str>,
    old: Option<&FileContent>,
    new: Option<&FileContent>,
) -> Result<String> {
    let same =
        |one: &FileContent, other: &FileContent| one.bytes == other.bytes && one.mode == other.mode;
    let from = from.filter(|from| *from != path && new.is_some());
    match (old, new) {
        (None, None) => return Ok(String::new()),
        (Some(old), Some(new)) if from.is_none() && same(old, new) => return Ok(String::new()),
        _ => {}
    }
    let (before, after) = (quoted("a/", from.unwrap_or(path)), quoted("b/", path));
    let mut out = format!("diff --git {before} {after}\n");
    let mut head: Vec<String> = Vec::new();
    let mut line = |text: String| head.push(text);
    match (old, new) {
        (None, Some(new)) => line(format!("new file mode {}", mode(new))),
        (Some(old), None) => line(format!("deleted file mode {}", mode(old))),
        (Some(old), Some(new)) if mode(old) != mode(new) => {
            line(format!("old mode {}", mode(old)));
            line(format!("new mode {}", mode(new)));
        }
        _ => {}
    }
    if let Some(from) = from {
        line(format!("rename from {}", quoted("", from)));
        line(format!("rename to {}", quoted("", path)));
    }
    let text = |content: Option<&FileContent>| match content {
        None => Some(String::new()),
        Some(content) => String::from_utf8(content.bytes.clone())
            .ok()
            .filter(|text| !text.contains('\0')),
    };
    let (Some(was), Some(is)) = (text(old), text(new)) else {
        push_head(&mut out, &head);
        let was = old.map(|one| one.bytes.as_slice());
        let is = new.map(|one| one.bytes.as_slice());
        if was != is {
            binary_patch::push(&mut out, was, is)?;
        }
        return Ok(out);
    };
    if was != is {
        let name = |content: Option<&FileContent>, name: &str| match content {
            Some(_) => name.to_owned(),
            None => "/dev/null".to_owned(),
        };
        line(format!("--- {}", name(old, &before)));
        line(format!("+++ {}", name(new, &after)));
    }
    push_head(&mut out, &head);
    push_hunks(&mut out, &was, &is);
    Ok(out)
}

fn push_head(out: &mut String, lines: &[String]) {
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
}

fn push_hunks(out: &mut String, was: &str, is: &str) {
    let (old, new) = (split(was), split(is));
    let blocks = blocks(&old, &new, false);
    for group in groups(&blocks) {
        let Some((from, to)) = extent(group, old.len()) else {
            continue;
        };
        let start = |range: &Range<usize>| range.start + usize::from(!range.is_empty());
        let (was, is) = (start(&from), start(&to));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "@@ -{was},{} +{is},{} @@", from.len(), to.len());
        let mut push = |sign: char, lines: &[&str]| {
            for line in lines {
                out.push(sign);
                out.push_str(line);
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        };
        let mut at = from.start;
        for block in group {
            push(' ', &old[at..block.old.start]);
            push('-', &old[block.old.clone()]);
            push('+', &new[block.new.clone()]);
            at = block.old.end;
        }
        push(' ', &old[at..from.end]);
    }
}

fn mode(content: &FileContent) -> &'static str {
    match content.mode {
        Mode::Executable => "100755",
        Mode::Link => "120000",
        Mode::File | Mode::Folder => "100644",
    }
}

/// A name as git writes it: in quotes if it has special characters.
fn quoted(prefix: &str, name: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    if name.chars().all(is_plain) {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            0x20..=0x7e => out.push(char::from(byte)),
            // Writing to a String cannot fail.
            byte => drop(write!(out, "\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> FileContent {
        FileContent::of_bytes(text.into())
    }

    #[test]
    fn a_patch_has_the_lines_the_names_and_the_modes() {
        let (old, new) = (content("a\nb\nc"), content("a\nB\nc"));
        assert_eq!(
            file("x y", None, Some(&old), Some(&new)).unwrap(),
            "diff --git a/x y b/x y\n--- a/x y\n+++ b/x y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n"
        );
        assert_eq!(
            file("n", None, None, Some(&content("a\n"))).unwrap(),
            "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+a\n"
        );
        let moved = file("new\tname", Some("old"), Some(&old), Some(&old)).unwrap();
        assert_eq!(
            moved,
            "diff --git a/old \"b/new\\011name\"\nrename from old\nrename to \"new\\011name\"\n"
        );
        assert_eq!(file("n", None, Some(&old), Some(&old)).unwrap(), "");
    }
}
