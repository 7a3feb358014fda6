//! Parses the text of a patch. Does not access files.

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const UPDATE: &str = "*** Update File:";
const DELETE: &str = "*** Delete File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add {
        path: String,
        content: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

impl Action {
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }

    pub fn moved_to(&self) -> Option<&str> {
        match self {
            Self::Update { to, .. } => to.as_deref(),
            Self::Add { .. } | Self::Delete { .. } => None,
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines to find first, one after the other, before the hunk is searched.
    pub after: Vec<String>,
    pub lines: Vec<HunkLine>,
    pub at_end: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum HunkLine {
    Keep(String),
    Remove(String),
    Add(String),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPatch {
    #[error("it must begin with `{BEGIN}`")]
    NoBegin,
    #[error("it must end with `{END}`")]
    NoEnd,
    #[error("it holds no change")]
    Empty,
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: &'static str },
}

pub(super) fn parse(text: &str) -> Result<Vec<Action>, BadPatch> {
    let text = text.replace("\r\n", "\n");
    let lines = without_wrapper(text.trim());
    let [first, body @ .., last] = lines.as_slice() else {
        return Err(BadPatch::NoBegin);
    };
    if first.trim() != BEGIN {
        return Err(BadPatch::NoBegin);
    }
    if last.trim() != END {
        return Err(BadPatch::NoEnd);
    }
    let actions = Body { lines: body, at: 0 }.actions()?;
    if actions.is_empty() {
        return Err(BadPatch::Empty);
    }
    Ok(actions)
}

/// Models wrap the patch as they would in a shell: `apply_patch <<'EOF'` … `EOF`.
fn without_wrapper(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    if let [first, inner @ .., last] = lines.as_slice()
        && let Some((_, word)) = first.split_once("<<")
    {
        let word = word.trim_start_matches('-').trim();
        let word = word.trim_matches(['\'', '"']);
        if !word.is_empty() && last.trim() == word {
            return inner.to_vec();
        }
    }
    lines
}

struct Body<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Body<'a> {
    fn actions(mut self) -> Result<Vec<Action>, BadPatch> {
        let mut actions = Vec::new();
        while let Some(line) = self.next() {
            if line.trim().is_empty() {
                continue;
            }
            if let Some(path) = self.path(line, ADD)? {
                actions.push(Action::Add {
                    path,
                    content: self.content()?,
                });
            } else if let Some(path) = self.path(line, DELETE)? {
                actions.push(Action::Delete { path });
            } else if let Some(path) = self.path(line, UPDATE)? {
                actions.push(self.update(path)?);
            } else {
                return Err(
                    self.bad("expected `*** Add File:`, `*** Update File:` or `*** Delete File:`")
                );
            }
        }
        Ok(actions)
    }

    /// The path is everything after the header: it may contain colons and spaces.
    fn path(&self, line: &str, header: &str) -> Result<Option<String>, BadPatch> {
        let Some(path) = line.trim().strip_prefix(header) else {
            return Ok(None);
        };
        match path.trim() {
            "" => Err(self.bad("the path is missing")),
            path => Ok(Some(path.to_owned())),
        }
    }

    fn content(&mut self) -> Result<String, BadPatch> {
        let mut content = String::new();
        // Blank lines without a sign count as content, unless only the next header follows.
        let mut blank = 0;
        while let Some(line) = self.next_in_section() {
            match line.strip_prefix('+') {
                Some(line) => {
                    content.push_str(&"\n".repeat(std::mem::take(&mut blank)));
                    content.push_str(line);
                    content.push('\n');
                }
                None if line.trim().is_empty() => blank += 1,
                None => return Err(self.bad("every line of a new file must begin with `+`")),
            }
        }
        Ok(content)
    }

    fn update(&mut self, path: String) -> Result<Action, BadPatch> {
        let mut to = None;
        if let Some(next) = self.peek()
            && let Some(target) = self.path(next, MOVE)?
        {
            self.at += 1;
            to = Some(target);
        }
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut hunk = Hunk::default();
        while let Some(line) = self.next_in_section() {
            if line.trim_end() == END_OF_FILE {
                hunk.at_end = true;
                self.close(&mut hunk, &mut hunks)?;
            } else if let Some(head) = line.strip_prefix("@@") {
                if !hunk.lines.is_empty() {
                    self.close(&mut hunk, &mut hunks)?;
                }
                hunk.after.extend(context(head));
            } else {
                hunk.lines.push(self.hunk_line(line)?);
            }
        }
        if hunk != Hunk::default() {
            self.close(&mut hunk, &mut hunks)?;
        }
        if hunks.is_empty() && to.is_none() {
            return Err(self.bad("the update holds no hunk"));
        }
        Ok(Action::Update { path, to, hunks })
    }

    fn close(&self, hunk: &mut Hunk, hunks: &mut Vec<Hunk>) -> Result<(), BadPatch> {
        let changes = |line: &HunkLine| !matches!(line, HunkLine::Keep(_));
        // A blank line before the next header is not part of the hunk.
        let next_is_header = self.peek().is_none_or(is_header);
        if next_is_header
            && !hunk.at_end
            && hunk.lines.last() == Some(&HunkLine::Keep(String::new()))
            && self.last_was_empty()
        {
            hunk.lines.pop();
        }
        if !hunk.lines.iter().any(changes) {
            return Err(self.bad("a hunk must add or remove something"));
        }
        hunks.push(std::mem::take(hunk));
        Ok(())
    }

    fn hunk_line(&self, line: &str) -> Result<HunkLine, BadPatch> {
        let mut chars = line.chars();
        match chars.next() {
            None => Ok(HunkLine::Keep(String::new())),
            Some(' ') => Ok(HunkLine::Keep(chars.as_str().to_owned())),
            Some('-') => Ok(HunkLine::Remove(chars.as_str().to_owned())),
            Some('+') => Ok(HunkLine::Add(chars.as_str().to_owned())),
            Some(_) => Err(self.bad("a line of a hunk must begin with a blank, `-` or `+`")),
        }
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn next_in_section(&mut self) -> Option<&'a str> {
        self.peek().filter(|line| !is_header(line))?;
        self.next()
    }

    fn last_was_empty(&self) -> bool {
        self.at > 0 && self.lines[self.at - 1].is_empty()
    }

    /// Line numbers count from the `Begin Patch` line.
    fn bad(&self, problem: &'static str) -> BadPatch {
        BadPatch::Line {
            line: self.at + 1,
            problem,
        }
    }
}

fn is_header(line: &str) -> bool {
    let line = line.trim_end();
    [ADD, UPDATE, DELETE]
        .iter()
        .any(|header| line.starts_with(header))
}

/// Some models write line numbers as in a unified diff; they are ignored.
fn context(head: &str) -> Option<String> {
    let head = head.trim();
    let line = match head.strip_prefix('-') {
        Some(numbers) if numbers.starts_with(|c: char| c.is_ascii_digit()) => {
            head.split_once("@@").map_or("", |(_, rest)| rest).trim()
        }
        _ => head,
    };
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_may_hold_drives_blanks_and_colons() {
        let text = "*** Begin Patch\n*** Delete File: C:\\my project\\a: b.txt\n*** Update File: C:\\x.txt\n*** Move to: D:\\y.txt\n*** End Patch";
        assert_eq!(
            parse(text),
            Ok(vec![
                Action::Delete {
                    path: "C:\\my project\\a: b.txt".to_owned()
                },
                Action::Update {
                    path: "C:\\x.txt".to_owned(),
                    to: Some("D:\\y.txt".to_owned()),
                    hunks: Vec::new()
                },
            ])
        );
    }

    #[test]
    fn an_error_names_its_line() {
        let bad = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(bad("x"), "it must begin with `*** Begin Patch`");
        assert_eq!(
            bad("*** Begin Patch\n*** Delete File: a"),
            "it must end with `*** End Patch`"
        );
        assert_eq!(bad("*** Begin Patch\n*** End Patch"), "it holds no change");
        assert_eq!(
            bad("*** Begin Patch\n*** Add File: a\n+x\ny\n*** End Patch"),
            "line 4: every line of a new file must begin with `+`"
        );
    }
}
