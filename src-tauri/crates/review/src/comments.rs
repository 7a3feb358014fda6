//! Comments of a person on changed lines: where those lines are now, and the prompt with them.

use std::fmt::Write;
use std::ops::Range;

use lathe_protocol::ipc::{
    CommentState, DiffComment, DiffSide, NewComment, ReviewActionKind, ReviewComment, ReviewScope,
};
use lathe_protocol::{Millis, SessionId};

use crate::Review;
use crate::error::{Result, ReviewError};
use crate::lines;
use crate::record::{Action, Comment};
use crate::scope::Contents;

/// A comment on lines that are shown.
pub fn new(
    id: String,
    time: Millis,
    scope: &ReviewScope,
    contents: &Contents,
    comment: NewComment,
) -> Result<Comment> {
    let (old, new) = contents.lines();
    let text = match comment.side {
        DiffSide::Old => old,
        DiffSide::New => new,
    };
    let first = comment.from.saturating_sub(1);
    let chosen = text
        .get(first..comment.to)
        .filter(|chosen| !chosen.is_empty());
    let chosen = chosen.ok_or_else(|| ReviewError::refused("These lines are not in the file"))?;
    let line = |at: Option<usize>| Some(bare(text.get(at?)?));
    Ok(Comment {
        id,
        path: comment.path,
        side: comment.side,
        line: first,
        lines: chosen.iter().map(bare).collect(),
        above: line(first.checked_sub(1)),
        below: line(Some(comment.to)),
        text: comment.text,
        time,
        state: CommentState::Open,
        sent: None,
        scope: scope.clone(),
    })
}

fn bare(line: impl AsRef<str>) -> String {
    line.as_ref().trim_end_matches(['\n', '\r']).to_owned()
}

impl Comment {
    /// With where its lines are in a text now; `None` if there is no such text.
    pub fn view(&self, text: Option<&str>) -> ReviewComment {
        let found = self.find(text.unwrap_or_default());
        let first = found.unwrap_or(self.line);
        ReviewComment {
            from: first + 1,
            to: first + self.lines.len(),
            changed: found.is_none(),
            ..self.as_written()
        }
    }

    /// Where its lines were.
    pub fn as_written(&self) -> ReviewComment {
        ReviewComment {
            id: self.id.clone(),
            path: self.path.clone(),
            side: self.side,
            from: self.line + 1,
            to: self.line + self.lines.len(),
            quote: self.lines.join("\n"),
            text: self.text.clone(),
            time: self.time,
            state: self.state,
            sent: self.sent,
            changed: false,
        }
    }

    /// The place of the lines that fits best: by the lines around them, then by the distance.
    fn find(&self, text: &str) -> Option<usize> {
        let text: Vec<String> = lines::split(text).iter().map(bare).collect();
        let count = self.lines.len();
        let places = (0..(text.len() + 1).saturating_sub(count))
            .filter(|at| text[*at..at + count] == self.lines);
        places.min_by_key(|at| {
            let above = at.checked_sub(1).and_then(|above| text.get(above));
            let below = text.get(at + count);
            let differs = usize::from(above != self.above.as_ref())
                + usize::from(below != self.below.as_ref());
            (differs, at.abs_diff(self.line))
        })
    }
}

impl Review {
    /// Changes a comment, adds one or removes one; can be undone.
    pub async fn edit_comment(
        &self,
        session: &SessionId,
        id: &str,
        edit: impl FnOnce(Option<&Comment>) -> Result<(ReviewActionKind, Option<Comment>)>,
    ) -> Result<Vec<String>> {
        self.edit_record(session, |record| {
            let before = record.comments.iter().find(|one| one.id == id).cloned();
            let (kind, after) = edit(before.as_ref())?;
            if before == after {
                return Ok(Vec::new());
            }
            let path = before
                .as_ref()
                .or(after.as_ref())
                .map(|one| one.path.clone());
            let files: Vec<String> = path.into_iter().collect();
            record.put_comment(before.as_ref(), after.as_ref());
            let mut action = Action::new(&self.records, kind, files.clone());
            action.comment = Some((before, after));
            record.add(action);
            Ok(files)
        })
        .await
    }

    /// These comments were sent to the agent.
    pub async fn mark_sent(&self, session: &SessionId, ids: &[String]) -> Result<()> {
        let time = self.records.now();
        self.edit_record(session, |record| {
            let sent = |one: &&mut Comment| ids.contains(&one.id);
            for comment in record.comments.iter_mut().filter(sent) {
                comment.sent = Some(time);
            }
            Ok(())
        })
        .await
    }
}

/// What the agent reads: each comment with its file, its lines and the quoted code. The ranges are
/// those of the quotes, in bytes: everything that is not a word of the person.
pub fn prompt(text: &str, comments: &[DiffComment]) -> (String, Vec<Range<usize>>) {
    let mut out = text.trim().to_owned();
    let mut quoted = Vec::new();
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str("Comments on your changes:\n");
    for comment in comments {
        let removed = if comment.removed { "removed " } else { "" };
        let lines = match comment.from == comment.to {
            true => format!("{removed}line {}", comment.from),
            false => format!("{removed}lines {}-{}", comment.from, comment.to),
        };
        let fence = fence(&comment.quote);
        let from = out.len();
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n{}, {lines}:\n{fence}\n{}\n{fence}\n",
            comment.path,
            comment.quote.trim_end_matches('\n'),
        );
        quoted.push(from..out.len());
        out.push_str(comment.text.trim());
        out.push('\n');
    }
    (out, quoted)
}

/// Longer than every run of backticks in the code.
fn fence(code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(line: usize, lines: &[&str], above: Option<&str>) -> Comment {
        Comment {
            id: "c".into(),
            path: "a.rs".into(),
            side: DiffSide::New,
            line,
            lines: lines.iter().map(ToString::to_string).collect(),
            above: above.map(str::to_owned),
            below: None,
            text: "why?".into(),
            time: Millis(1),
            state: CommentState::Open,
            sent: None,
            scope: ReviewScope::Session,
        }
    }

    #[test]
    fn the_lines_of_a_comment_are_found_where_they_have_moved_to() {
        let one = comment(1, &["b", "c"], Some("a"));
        let place = |text: &str| {
            let view = one.view(Some(text));
            (view.from, view.to, view.changed)
        };
        assert_eq!(place("a\nb\nc\n"), (2, 3, false));
        assert_eq!(place("b\nc\n\nnew\na\nb\nc\n"), (6, 7, false));
        assert_eq!(place("a\nB\nc\n"), (2, 3, true));
    }

    #[test]
    fn the_agent_reads_file_lines_code_and_comment() {
        let two = DiffComment {
            path: "b.md".into(),
            from: 3,
            to: 3,
            quote: "```rust".into(),
            text: " no fence here\n".into(),
            removed: false,
        };
        let one = DiffComment {
            path: "a.rs".into(),
            from: 2,
            to: 3,
            quote: "b\nc".into(),
            text: "why?".into(),
            removed: false,
        };
        let (text, quoted) = prompt("Please:", &[one, two]);
        assert_eq!(
            text,
            "Please:\n\nComments on your changes:\n\na.rs, lines 2-3:\n```\nb\nc\n```\nwhy?\n\n\
             b.md, line 3:\n````\n```rust\n````\nno fence here\n"
        );
        let quotes: Vec<&str> = quoted.into_iter().map(|quote| &text[quote]).collect();
        assert_eq!(
            quotes,
            [
                "\na.rs, lines 2-3:\n```\nb\nc\n```\n",
                "\nb.md, line 3:\n````\n```rust\n````\n"
            ]
        );
    }
}
