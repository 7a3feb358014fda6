//! The parts of a message.

use lathe_protocol::{FilePart, Part, SubtaskPart};

use super::{close, element, error_text, open, texts, tool_calls};
use crate::{html, markdown};

/// Paths are shown relative to `root`.
pub(super) fn part(out: &mut String, part: &Part, root: &str) {
    match part {
        Part::Text(part) if part.synthetic == Some(true) => {
            aside(out, texts::ADDED, |out| prose(out, &part.text));
        }
        Part::Text(part) => prose(out, &part.text),
        Part::Reasoning(part) => aside(out, texts::THINKING, |out| prose(out, &part.text)),
        Part::File(part) => file(out, part),
        Part::Agent(part) => note(out, &format!("@{}", part.name)),
        Part::Subtask(part) => subtask(out, part),
        Part::Tool(part) => tool_calls::tool_call(out, part),
        Part::Snapshot(part) => match &part.name {
            Some(name) => note(out, &texts::snapshot(name)),
            None => note(out, texts::SNAPSHOT_BEFORE_REVERT),
        },
        Part::Patch(part) => {
            let files: Vec<&str> = part
                .files
                .iter()
                .map(|file| relative_to(root, file))
                .collect();
            note(out, &texts::changed(&files.join(", ")));
        }
        Part::Retry(part) => note(
            out,
            &texts::attempt_failed(part.attempt, &error_text(&part.error.0)),
        ),
        Part::Compaction(_) => note(out, texts::COMPACTED),
        // The tokens of all steps are shown at the end of the turn.
        Part::StepStart(_) | Part::StepFinish(_) => {}
        Part::Unknown(part) => {
            let value = serde_json::to_string_pretty(part).unwrap_or_default();
            folded(out, &part.kind, |out| plain(out, &value));
        }
    }
}

fn relative_to<'a>(root: &str, file: &'a str) -> &'a str {
    let inside = file
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'));
    inside.unwrap_or(file)
}

pub(super) fn prose(out: &mut String, text: &str) {
    open(out, "div", Some("markdown"));
    for block in markdown::render(text, &markdown::Options::default()) {
        out.push_str("<div class=\"block\">");
        // The button that loads a remote image has no function here.
        let block = block.replace("<button type=\"button\"", "<span");
        out.push_str(&block.replace("</button>", "</span>"));
        out.push_str("</div>");
    }
    close(out, "div");
}

pub(super) fn note(out: &mut String, text: &str) {
    element(out, "p", Some("note"), text);
}

fn plain(out: &mut String, text: &str) {
    element(out, "pre", None, text);
}

fn folded(out: &mut String, title: &str, content: impl FnOnce(&mut String)) {
    open(out, "details", None);
    element(out, "summary", None, title);
    content(out);
    close(out, "details");
}

/// A collapsed part that is neither a prompt nor an answer.
fn aside(out: &mut String, title: &str, content: impl FnOnce(&mut String)) {
    open(out, "details", Some("aside"));
    element(out, "summary", None, title);
    content(out);
    close(out, "details");
}

pub(super) fn file(out: &mut String, file: &FilePart) {
    let name = file.filename.as_deref().unwrap_or(&file.mime);
    let picture = ["image/png", "image/jpeg", "image/gif", "image/webp"]
        .iter()
        .any(|mime| file.mime == *mime && file.url.starts_with(&format!("data:{mime};base64,")));
    if picture {
        out.push_str("<figure><img");
        html::push_attribute(out, "src", &file.url);
        html::push_attribute(out, "alt", name);
        out.push('>');
        element(out, "figcaption", None, name);
        out.push_str("</figure>");
    } else {
        note(out, &texts::attached(name));
    }
}

fn subtask(out: &mut String, part: &SubtaskPart) {
    let title = texts::task(&part.agent, &part.description);
    folded(out, &title, |out| prose(out, &part.prompt));
}
