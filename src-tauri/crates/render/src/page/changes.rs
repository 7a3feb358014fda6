//! Diffs, line by line.

use lathe_protocol::FileDiff;
use lathe_protocol::view::{DiffLine, DiffLineKind, DiffStatus, FileDiffView};
use serde_json::Value;

use super::{close, element, open, texts};
use crate::diff::{Extent, parse_unified, render_stored};
use crate::html;

/// The changes of the whole session.
pub(super) fn of_session(out: &mut String, diffs: &[FileDiff]) {
    if diffs.is_empty() {
        return;
    }
    open(out, "section", Some("changes"));
    element(out, "h2", None, texts::CHANGES);
    for diff in diffs {
        file(out, &render_stored(diff, Extent::Folded));
    }
    close(out, "section");
}

/// The changes of one tool call. Returns false if it has none.
pub(super) fn of_call(out: &mut String, metadata: &Value) -> bool {
    let read = |value: &Value| serde_json::from_value::<FileDiff>(value.clone()).ok();
    let many = metadata["files"].as_array().into_iter().flatten();
    let one = std::iter::once(&metadata["filediff"]);
    let diffs: Vec<FileDiff> = many.chain(one).filter_map(read).collect();
    for diff in &diffs {
        file(out, &render_stored(diff, Extent::Whole));
    }
    if !diffs.is_empty() {
        return true;
    }
    let Some(patch) = metadata["diff"].as_str().filter(|patch| !patch.is_empty()) else {
        return false;
    };
    for view in parse_unified(patch, true) {
        file(out, &view);
    }
    true
}

fn file(out: &mut String, view: &FileDiffView) {
    out.push_str("<details class=\"diff\"");
    if view.hunks.len() <= 3 {
        out.push_str(" open");
    }
    out.push_str("><summary>");
    html::push_text(out, &view.path);
    out.push(' ');
    match view.status {
        DiffStatus::Binary => element(out, "small", None, "binary"),
        DiffStatus::Mode => element(out, "small", None, "mode"),
        _ => {
            let (added, deleted) = (view.additions, view.deletions);
            element(out, "small", Some("added"), &format!("+{added}"));
            out.push(' ');
            element(out, "small", Some("deleted"), &format!("−{deleted}"));
        }
    }
    out.push_str("</summary><table>");
    for hunk in &view.hunks {
        let heading = hunk.heading.as_deref().unwrap_or_default();
        out.push_str("<tr class=\"hunk\"><td colspan=\"3\">");
        html::push_text(
            out,
            &format!("@@ {} → {} {heading}", hunk.old_start, hunk.new_start),
        );
        out.push_str("</td></tr>");
        for line in &hunk.lines {
            table_row(out, line);
        }
    }
    out.push_str("</table></details>");
}

fn table_row(out: &mut String, line: &DiffLine) {
    let (class, sign) = match line.kind {
        DiffLineKind::Context => ("context", ' '),
        DiffLineKind::Add => ("add", '+'),
        DiffLineKind::Del => ("del", '-'),
    };
    out.push_str("<tr");
    html::push_attribute(out, "class", class);
    out.push('>');
    for number in [line.old, line.new] {
        let text = number.map(|number| number.to_string()).unwrap_or_default();
        element(out, "td", Some("number"), &text);
    }
    open(out, "td", Some("line"));
    out.push(sign);
    for span in &line.spans {
        out.push_str("<span");
        let mark = span.mark.then_some("mark");
        let classes: Vec<&str> = span.class.as_deref().into_iter().chain(mark).collect();
        if !classes.is_empty() {
            html::push_attribute(out, "class", &classes.join(" "));
        }
        out.push('>');
        html::push_text(out, span.shown.as_ref().unwrap_or(&span.text));
        out.push_str("</span>");
    }
    out.push_str("</td></tr>");
}
