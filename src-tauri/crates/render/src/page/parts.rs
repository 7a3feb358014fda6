//! Each kind of part, drawn without a script.

use lathe_protocol::{
    FilePart, MessageError, Part, StepFinishPart, SubtaskPart, ToolPart, ToolState,
};
use serde_json::Value;

use super::{changes, close, element, open};
use crate::{ansi, html, markdown};

pub(super) fn draw(out: &mut String, part: &Part) {
    match part {
        Part::Text(part) if part.synthetic == Some(true) => {
            folded(out, "Added by the program", |out| prose(out, &part.text));
        }
        Part::Text(part) => prose(out, &part.text),
        Part::Reasoning(part) => folded(out, "Reasoning", |out| prose(out, &part.text)),
        Part::File(part) => file(out, part),
        Part::Agent(part) => note(out, &format!("@{}", part.name)),
        Part::Subtask(part) => subtask(out, part),
        Part::Tool(part) => tool(out, part),
        Part::StepFinish(part) => step(out, part),
        Part::Snapshot(part) => match &part.name {
            Some(name) => note(out, &format!("Snapshot: {name}")),
            None => note(out, "Snapshot before something was taken back"),
        },
        Part::Patch(part) => note(out, &format!("Changed {}", part.files.join(", "))),
        Part::Retry(part) => note(
            out,
            &format!("Tried again ({}): {}", part.attempt, said(&part.error.0)),
        ),
        Part::Compaction(_) => note(out, "From here back, the session was summed up"),
        Part::StepStart(_) => {}
        Part::Unknown(part) => {
            let value = serde_json::to_string_pretty(part).unwrap_or_default();
            folded(out, &part.kind, |out| plain(out, &value));
        }
    }
}

fn prose(out: &mut String, text: &str) {
    open(out, "div", Some("markdown"));
    for block in markdown::render(text, &markdown::Options::default()) {
        out.push_str("<div class=\"block\">");
        out.push_str(&block);
        out.push_str("</div>");
    }
    close(out, "div");
}

fn note(out: &mut String, text: &str) {
    element(out, "p", Some("note"), text);
}

fn plain(out: &mut String, text: &str) {
    element(out, "pre", None, text);
}

fn folded(out: &mut String, title: &str, content: impl FnOnce(&mut String)) {
    out.push_str("<details>");
    element(out, "summary", None, title);
    content(out);
    out.push_str("</details>");
}

fn file(out: &mut String, file: &FilePart) {
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

fn step(out: &mut String, part: &StepFinishPart) {
    let tokens = &part.tokens;
    if tokens.context() > 0 {
        let read = tokens.input.0 + tokens.cache.read.0 + tokens.cache.write.0;
        let facts = format!("{read} tokens read, {} written", tokens.output);
        element(out, "p", Some("step"), &facts);
    }
}

fn tool(out: &mut String, part: &ToolPart) {
    let state = part.state();
    let (title, class) = match state {
        ToolState::Completed(done) => (done.title.clone(), "tool"),
        ToolState::Error(_) => (String::new(), "tool failed"),
        _ => (String::new(), "tool open"),
    };
    out.push_str("<details");
    html::push_attribute(out, "class", class);
    out.push_str("><summary>");
    element(out, "b", None, &part.tool);
    out.push(' ');
    html::push_text(out, &title);
    out.push_str("</summary>");
    tool_body(out, state);
    out.push_str("</details>");
}

fn tool_body(out: &mut String, state: &ToolState) {
    let whole = serde_json::to_value(state).unwrap_or_default();
    let input = &whole["input"];
    if input.as_object().is_some_and(|input| !input.is_empty()) {
        let shown = serde_json::to_string_pretty(input).unwrap_or_default();
        plain(out, &shown);
    }
    let drawn = changes::of_call(out, &whole["metadata"]);
    match state {
        ToolState::Completed(done) => {
            if !drawn {
                output(out, &done.output);
            }
            for attachment in done.attachments.iter().flatten() {
                file(out, attachment);
            }
        }
        ToolState::Error(failed) => {
            element(out, "p", Some("error"), &failed.error);
            if let Some(text) = whole["metadata"]["output"].as_str() {
                output(out, text);
            }
        }
        ToolState::Pending(_) | ToolState::Running(_) => note(out, "It did not end"),
    }
}

fn output(out: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    out.push_str("<pre class=\"output\">");
    out.push_str(&ansi::to_html(text));
    out.push_str("</pre>");
}

fn said(error: &MessageError) -> String {
    let value: Value = serde_json::to_value(error).unwrap_or_default();
    let said = value["data"]["message"].as_str().or(value["name"].as_str());
    said.unwrap_or("it failed").to_owned()
}
