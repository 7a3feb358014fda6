//! Lets the person at the terminal answer a permission request. Without a terminal it is rejected.

use lathe_protocol::PermissionRequest;
use lathe_render::escape::visible_line;
use lathe_session::Answer;

use super::permission_text as text;
use crate::{output, texts};

pub async fn answer(request: &PermissionRequest) -> Answer {
    if !output::can_ask() {
        output::note(&rejection(request));
        return Answer::Reject { message: None };
    }
    let choices = choices(request);
    // The full request, because the person decides by what is shown.
    let mut question = format!("{}{choices}", text::full(request));
    loop {
        let typed = output::ask(&question).await.unwrap_or_default();
        match parse(&typed, request) {
            Some(answer) => return answer,
            None => question.clone_from(&choices),
        }
    }
}

fn rejection(request: &PermissionRequest) -> String {
    let (what, reasons) = (text::brief(request), text::reasons(request));
    // Where no pattern covers it, only a rule for everything does.
    let hint = match request.always.is_empty() {
        true => texts::only_allow(&request.permission),
        false => texts::ALLOW_OR_YES.to_owned(),
    };
    let reasons = reasons.iter().map(|reason| reason.trim_end_matches('.'));
    let said: Vec<_> = reasons.chain([hint.as_str()]).collect();
    texts::denied(&what, &visible_line(&said.join("; ")))
}

/// "Always" lists exactly the patterns that it would allow.
fn choices(request: &PermissionRequest) -> String {
    let patterns = request.needs.iter().flat_map(|need| &need.always);
    let patterns: Vec<_> = patterns.map(String::as_str).collect();
    let always = match request.always.is_empty() {
        true => String::new(),
        false => format!("[s]ession, [a]lways ({}), ", patterns.join(", ")),
    };
    visible_line(&texts::allow(&request.permission, &always))
}

/// `None` if the text is not a valid answer. Empty input is a no, as at the end of input.
fn parse(typed: &str, request: &PermissionRequest) -> Option<Answer> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Once),
        "s" | "session" if !request.always.is_empty() => Some(Answer::Session),
        "a" | "always" if !request.always.is_empty() => Some(Answer::Always),
        "" | "n" | "no" => Some(Answer::Reject { message: None }),
        _ => None,
    }
}
