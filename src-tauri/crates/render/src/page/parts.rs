//! Each kind of part, drawn without a script.

use lathe_protocol::{FilePart, MessageError, Part, SubtaskPart};
use serde_json::Value;

use super::{calls, close, element, open};
use crate::{html, markdown};

/// `root` is the folder that files are named from.
pub(super) fn draw(out: &mut String, part: &Part, root: &str) {
    match part {
        Part::Text(part) if part.synthetic == Some(true) => {
            aside(out, "Added by the program", |out| prose(out, &part.text));
        }
        Part::Text(part) => prose(out, &part.text),
        Part::Reasoning(part) => aside(out, "Reasoning", |out| prose(out, &part.text)),
        Part::File(part) => file(out, part),
        Part::Agent(part) => note(out, &format!("@{}", part.name)),
        Part::Subtask(part) => subtask(out, part),
        Part::Tool(part) => calls::draw(out, part),
        Part::Snapshot(part) => match &part.name {
            Some(name) => note(out, &format!("Snapshot: {name}")),
            None => note(out, "Snapshot before something was taken back"),
        },
        Part::Patch(part) => {
            let files: Vec<&str> = part.files.iter().map(|file| below(root, file)).collect();
            note(out, &format!("Changed {}", files.join(", ")));
        }
        Part::Retry(part) => note(
            out,
            &format!("Tried again ({}): {}", part.attempt, said(&part.error.0)),
        ),
        Part::Compaction(_) => note(out, "From here back, the session was summed up"),
        // What the steps of a turn took stands at its end.
        Part::StepStart(_) | Part::StepFinish(_) => {}
        Part::Unknown(part) => {
            let value = serde_json::to_string_pretty(part).unwrap_or_default();
            folded(out, &part.kind, |out| plain(out, &value));
        }
    }
}

fn below<'a>(root: &str, file: &'a str) -> &'a str {
    let inside = file
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'));
    inside.unwrap_or(file)
}

pub(super) fn prose(out: &mut String, text: &str) {
    open(out, "div", Some("markdown"));
    for block in markdown::render(text, &markdown::Options::default()) {
        out.push_str("<div class=\"block\">");
        // A picture of the web is offered by a button, which does nothing without a program.
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

/// What was neither asked nor answered.
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
        note(out, &format!("Attached: {name}"));
    }
}

fn subtask(out: &mut String, part: &SubtaskPart) {
    let title = format!("Handed to {}: {}", part.agent, part.description);
    folded(out, &title, |out| prose(out, &part.prompt));
}

fn said(error: &MessageError) -> String {
    let value: Value = serde_json::to_value(error).unwrap_or_default();
    let said = value["data"]["message"].as_str().or(value["name"].as_str());
    said.unwrap_or("it failed").to_owned()
}
