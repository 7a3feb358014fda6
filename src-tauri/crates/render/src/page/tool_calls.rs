//! Tool calls: each known tool has its own form; an unknown one is shown by its input.

use lathe_protocol::{ToolPart, ToolState};
use serde_json::Value;

use super::parts::{file, note, prose};
use super::{changes, close, element, open, texts};
use crate::{ansi, html};

/// Input fields that can serve as the title of a call, the preferred one first.
const SUBJECTS: [&str; 8] = [
    "description",
    "filePath",
    "command",
    "pattern",
    "url",
    "path",
    "query",
    "name",
];

pub(super) fn tool_call(out: &mut String, part: &ToolPart) {
    let state = part.state();
    let whole = serde_json::to_value(state).unwrap_or_default();
    let (title, class) = match state {
        ToolState::Completed(done) => (done.title.as_str(), "tool"),
        ToolState::Error(_) => ("", "tool failed"),
        _ => ("", "tool open"),
    };
    out.push_str("<details");
    html::push_attribute(out, "class", class);
    out.push_str("><summary>");
    element(out, "b", None, texts::tool(&part.tool));
    out.push(' ');
    html::push_text(out, &subject(title, &whole["input"]));
    out.push_str("</summary>");
    body(out, &part.tool, state, &whole);
    out.push_str("</details>");
}

fn subject(title: &str, input: &Value) -> String {
    if let Some(todos) = input["todos"].as_array() {
        return texts::items(todos.len());
    }
    if !title.is_empty() {
        return title.to_owned();
    }
    let asked = input["questions"][0]["header"].as_str();
    let named = SUBJECTS.iter().find_map(|name| input[name].as_str());
    let line = asked.or(named).and_then(|text| text.lines().next());
    line.unwrap_or_default().to_owned()
}

fn body(out: &mut String, tool: &str, state: &ToolState, whole: &Value) {
    let (input, metadata) = (&whole["input"], &whole["metadata"]);
    // Whether the output needs no further display.
    let mut complete = changes::of_call(out, metadata);
    if !complete {
        complete = match tool {
            "bash" => command(out, input),
            "todowrite" => todos(out, input),
            "question" => questions(out, input, metadata),
            "task" => task(out, input, state),
            "read" | "list" | "glob" | "grep" | "todoread" => false,
            _ => {
                fields(out, input);
                false
            }
        };
    }
    match state {
        ToolState::Completed(done) => {
            if !complete {
                output(out, &done.output);
            }
            for attachment in done.attachments.iter().flatten() {
                file(out, attachment);
            }
        }
        ToolState::Error(failed) => {
            element(out, "p", Some("error"), &failed.error);
            if let Some(text) = metadata["output"].as_str() {
                output(out, text);
            }
        }
        ToolState::Pending(_) | ToolState::Running(_) => note(out, texts::NOT_FINISHED),
    }
}

/// Returns false, because the output has to follow.
fn command(out: &mut String, input: &Value) -> bool {
    if let Some(command) = input["command"].as_str() {
        element(out, "pre", Some("command"), &format!("$ {command}"));
    }
    false
}

fn todos(out: &mut String, input: &Value) -> bool {
    let Some(todos) = input["todos"].as_array() else {
        return false;
    };
    open(out, "ul", Some("todos"));
    for todo in todos {
        let status = todo["status"].as_str().unwrap_or_default();
        let (class, label) = match status {
            "completed" => ("task task-done", texts::TASK_DONE),
            "in_progress" => ("task task-begun", texts::TASK_IN_PROGRESS),
            "cancelled" => ("task task-dropped", texts::TASK_CANCELED),
            _ => ("task", texts::TASK_TO_DO),
        };
        out.push_str("<li><span role=\"img\"");
        html::push_attribute(out, "class", class);
        html::push_attribute(out, "aria-label", label);
        out.push_str("></span> ");
        html::push_text(out, todo["content"].as_str().unwrap_or_default());
        close(out, "li");
    }
    close(out, "ul");
    true
}

fn questions(out: &mut String, input: &Value, metadata: &Value) -> bool {
    let Some(questions) = input["questions"].as_array() else {
        return false;
    };
    for (at, question) in questions.iter().enumerate() {
        let asked = question["question"].as_str().unwrap_or_default();
        element(out, "p", None, asked);
        let answers = metadata["answers"][at].as_array();
        let answers: Vec<&str> = answers
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !answers.is_empty() {
            element(out, "p", Some("answer"), &answers.join(", "));
            continue;
        }
        let options = question["options"].as_array().into_iter().flatten();
        let labels: Vec<&str> = options
            .filter_map(|option| option["label"].as_str())
            .collect();
        note(out, &labels.join(" · "));
    }
    true
}

fn task(out: &mut String, input: &Value, state: &ToolState) -> bool {
    if let Some(prompt) = input["prompt"].as_str() {
        open(out, "blockquote", None);
        prose(out, prompt);
        close(out, "blockquote");
    }
    if let ToolState::Completed(done) = state {
        prose(out, &done.output);
    }
    true
}

fn fields(out: &mut String, input: &Value) {
    let Some(fields) = input.as_object().filter(|input| !input.is_empty()) else {
        return;
    };
    open(out, "dl", None);
    for (name, value) in fields {
        element(out, "dt", None, name);
        match value.as_str() {
            Some(text) => element(out, "dd", None, text),
            None => element(out, "dd", None, &value.to_string()),
        }
    }
    close(out, "dl");
}

fn output(out: &mut String, text: &str) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    out.push_str("<pre class=\"output\">");
    out.push_str(&ansi::to_html(text));
    out.push_str("</pre>");
}
