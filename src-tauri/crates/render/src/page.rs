//! One session as a page of its own: a file that needs no script and reaches no host.
//!
//! Everything a part holds is drawn, closed where it is long. The page forbids itself every
//! script and every request, so that nothing a model wrote can do more in a stranger's browser
//! than in our window.

mod calls;
mod changes;
mod parts;

use lathe_protocol::ipc::SessionExport;
use lathe_protocol::{AssistantMessage, Message, MessageError, MessageWithParts, Part};

use crate::html;

const STYLE: &str = include_str!("page/style.css");
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/// The whole page.
pub fn session(session: &SessionExport) -> String {
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
    head(&mut out, session);
    for turn in turns(&session.messages) {
        for (at, message) in turn.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &turn[before].info);
            draw(&mut out, message, before, &session.info.directory);
        }
        took(&mut out, turn);
    }
    changes::session(&mut out, session.diff.as_deref().unwrap_or_default());
    out.push_str("</main></body></html>\n");
    out
}

fn head(out: &mut String, session: &SessionExport) {
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
    let mut facts = vec![
        session.info.time.created.date(),
        format!(
            "{prompts} {}",
            if prompts == 1 { "prompt" } else { "prompts" }
        ),
    ];
    if cost > 0.0 {
        facts.push(format!("${cost:.2}"));
    }
    element(out, "p", Some("facts"), &facts.join(" · "));
    out.push_str("</header>");
}

/// Prompts with their answers, in order.
fn turns(messages: &[MessageWithParts]) -> impl Iterator<Item = &[MessageWithParts]> {
    messages.chunk_by(|_, next| next.info.as_user().is_none())
}

/// Who speaks is said once: an answer has as many messages as it took steps.
fn draw(out: &mut String, message: &MessageWithParts, before: Option<&Message>, root: &str) {
    let (class, who) = match &message.info {
        Message::User(_) => ("message user", "You".to_owned()),
        Message::Assistant(answer) => ("message assistant", speaker(answer)),
    };
    out.push_str("<article");
    html::push_attribute(out, "class", class);
    out.push('>');
    let before = before.and_then(Message::as_assistant).map(speaker);
    if before.as_ref() != Some(&who) {
        element(out, "h2", None, &who);
    }
    for part in &message.parts {
        parts::draw(out, part, root);
    }
    if let Message::Assistant(answer) = &message.info
        && let Some(error) = &answer.error
    {
        failed(out, error);
    }
    out.push_str("</article>");
}

/// What a turn took.
fn took(out: &mut String, turn: &[MessageWithParts]) {
    let (mut read, mut written) = (0, 0);
    for part in turn.iter().flat_map(|message| &message.parts) {
        if let Part::StepFinish(step) = part {
            let tokens = &step.tokens;
            read += tokens.input.0 + tokens.cache.read.0 + tokens.cache.write.0;
            written += tokens.output.0;
        }
    }
    if read + written > 0 {
        let (read, written) = (grouped(read), grouped(written));
        let facts = format!("{read} tokens read, {written} written");
        element(out, "p", Some("took"), &facts);
    }
}

/// 12345 is `12,345`.
fn grouped(number: i64) -> String {
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

fn speaker(answer: &AssistantMessage) -> String {
    match &answer.agent {
        Some(agent) => format!("{agent} · {}", answer.model_id),
        None => answer.model_id.clone(),
    }
}

fn failed(out: &mut String, error: &MessageError) {
    let value = serde_json::to_value(error).unwrap_or_default();
    let said = value["data"]["message"].as_str().or(value["name"].as_str());
    element(out, "p", Some("error"), said.unwrap_or("It failed"));
}

/// A tag with text in it, as text.
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
