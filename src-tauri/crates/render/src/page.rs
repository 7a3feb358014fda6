//! Renders a session as one HTML file, for sharing.
//!
//! All parts are in the page; long ones are collapsed. Its content security policy forbids all
//! scripts and all requests, so that what a model wrote can do no more in a browser than in our
//! window.

mod changes;
mod parts;
mod texts;
mod tool_calls;

use lathe_protocol::ipc::SessionExport;
use lathe_protocol::{AssistantMessage, Message, MessageError, MessageWithParts, Part};

use crate::html;

const STYLE: &str = include_str!("page/style.css");
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

pub fn render_session(session: &SessionExport) -> String {
    let mut out = String::new();
    out.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    out.push_str("<meta http-equiv=\"content-security-policy\"");
    html::push_attribute(&mut out, "content", POLICY);
    out.push_str("><meta name=\"viewport\" content=\"width=device-width\">");
    out.push_str("<meta name=\"referrer\" content=\"no-referrer\">");
    element(&mut out, "title", None, &session.info.title);
    out.push_str("<style>");
    out.push_str(STYLE);
    out.push_str("</style></head><body><main>");
    header(&mut out, session);
    for turn in turns(&session.messages) {
        for (at, current) in turn.iter().enumerate() {
            let previous = at.checked_sub(1).map(|previous| &turn[previous].info);
            message(&mut out, current, previous, &session.info.directory);
        }
        usage(&mut out, turn);
    }
    changes::of_session(&mut out, session.diff.as_deref().unwrap_or_default());
    out.push_str("</main></body></html>\n");
    out
}

fn header(out: &mut String, session: &SessionExport) {
    out.push_str("<header>");
    element(out, "h1", None, &session.info.title);
    let prompts = session.messages.iter();
    let prompts = prompts.filter(|message| message.info.as_user().is_some());
    let prompts = prompts.count();
    let cost: f64 = session
        .messages
        .iter()
        .filter_map(|message| message.info.as_assistant())
        .map(|answer| answer.cost)
        .sum();
    let mut facts = vec![session.info.time.created.date(), texts::prompts(prompts)];
    if cost > 0.0 {
        facts.push(format!("${cost:.2}"));
    }
    element(out, "p", Some("facts"), &facts.join(" · "));
    out.push_str("</header>");
}

/// Splits the messages into turns: a prompt and its answers.
fn turns(messages: &[MessageWithParts]) -> impl Iterator<Item = &[MessageWithParts]> {
    messages.chunk_by(|_, next| next.info.as_user().is_none())
}

/// The author is named only once in a row, because an answer has one message per step.
fn message(out: &mut String, message: &MessageWithParts, previous: Option<&Message>, root: &str) {
    let (class, author) = match &message.info {
        Message::User(_) => ("message user", texts::YOU.to_owned()),
        Message::Assistant(answer) => ("message assistant", agent_and_model(answer)),
    };
    out.push_str("<article");
    html::push_attribute(out, "class", class);
    out.push('>');
    let previous = previous
        .and_then(Message::as_assistant)
        .map(agent_and_model);
    if previous.as_ref() != Some(&author) {
        element(out, "h2", None, &author);
    }
    for part in &message.parts {
        parts::part(out, part, root);
    }
    if let Message::Assistant(answer) = &message.info
        && let Some(error) = &answer.error
    {
        element(out, "p", Some("error"), &error_text(error));
    }
    out.push_str("</article>");
}

/// The tokens that a turn used.
fn usage(out: &mut String, turn: &[MessageWithParts]) {
    let (mut read, mut written) = (0, 0);
    for part in turn.iter().flat_map(|message| &message.parts) {
        if let Part::StepFinish(step) = part {
            let tokens = &step.tokens;
            read += tokens.input.0 + tokens.cache.read.0 + tokens.cache.write.0;
            written += tokens.output.0;
        }
    }
    if read + written > 0 {
        let (read, written) = (with_commas(read), with_commas(written));
        let facts = texts::tokens(&read, &written);
        element(out, "p", Some("usage"), &facts);
    }
}

/// Formats 12345 as `12,345`.
fn with_commas(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digit.is_ascii_digit() && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn agent_and_model(answer: &AssistantMessage) -> String {
    match &answer.agent {
        Some(agent) => format!("{agent} · {}", answer.model_id),
        None => answer.model_id.clone(),
    }
}

fn error_text(error: &MessageError) -> String {
    let value = serde_json::to_value(error).unwrap_or_default();
    let text = value["data"]["message"].as_str().or(value["name"].as_str());
    text.unwrap_or(texts::FAILED).to_owned()
}

/// Appends an element with escaped text in it.
fn element(out: &mut String, tag: &'static str, class: Option<&'static str>, text: &str) {
    open(out, tag, class);
    html::push_text(out, text);
    close(out, tag);
}

fn open(out: &mut String, tag: &'static str, class: Option<&'static str>) {
    out.push('<');
    out.push_str(tag);
    if let Some(class) = class {
        html::push_attribute(out, "class", class);
    }
    out.push('>');
}

fn close(out: &mut String, tag: &'static str) {
    out.push_str("</");
    out.push_str(tag);
    out.push('>');
}

#[cfg(test)]
mod tests;
