//! One session as a page of its own: a file that needs no script and reaches no host.
//!
//! Everything a part holds is drawn, closed where it is long. The page forbids itself every
//! script and every request, so that nothing a model wrote can do more in a stranger's browser
//! than in our window.

mod changes;
mod parts;

use lathe_protocol::ipc::SessionExport;
use lathe_protocol::{AssistantMessage, Message, MessageError, MessageWithParts, Millis};

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
    for message in &session.messages {
        draw(&mut out, message);
    }
    changes::session(&mut out, session.diff.as_deref().unwrap_or_default());
    out.push_str("</main></body></html>\n");
    out
}

fn head(out: &mut String, session: &SessionExport) {
    out.push_str("<header>");
    element(out, "h1", None, &session.info.title);
    let turns = session.messages.iter();
    let turns = turns.filter(|message| message.info.as_user().is_some());
    let cost: f64 = session
        .messages
        .iter()
        .filter_map(|message| message.info.as_assistant())
        .map(|answer| answer.cost)
        .sum();
    let mut facts = vec![
        day(session.info.time.created),
        format!("{} prompts", turns.count()),
    ];
    if cost > 0.0 {
        facts.push(format!("${cost:.2}"));
    }
    element(out, "p", Some("facts"), &facts.join(" · "));
    out.push_str("</header>");
}

fn draw(out: &mut String, message: &MessageWithParts) {
    let (class, who) = match &message.info {
        Message::User(_) => ("message user", "You".to_owned()),
        Message::Assistant(answer) => ("message assistant", speaker(answer)),
    };
    out.push_str("<article");
    html::push_attribute(out, "class", class);
    out.push('>');
    element(out, "h2", None, &who);
    for part in &message.parts {
        parts::draw(out, part);
    }
    if let Message::Assistant(answer) = &message.info
        && let Some(error) = &answer.error
    {
        failed(out, error);
    }
    out.push_str("</article>");
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

/// The day in universal time, by the civil calendar.
fn day(time: Millis) -> String {
    let days = time.0.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests;
