//! What a turn asks to be allowed, answered by the person at the terminal or by nobody.

use lathe_protocol::PermissionRequest;
use lathe_render::escape::visible_line;
use lathe_session::Answer;

use super::what;
use crate::output;

pub async fn permission(request: &PermissionRequest) -> Answer {
    if !output::has_person() {
        output::note(&rejected(request));
        return Answer::Reject { message: None };
    }
    let choices = choices(request);
    // All of it: a person decides by what is shown.
    let mut question = format!("{}{choices}", what::shown(request));
    loop {
        let typed = output::ask(&question).await.unwrap_or_default();
        match reply(&typed, request) {
            Some(answer) => return answer,
            None => question.clone_from(&choices),
        }
    }
}

/// Only a rule for everything covers what no pattern can tell.
fn rejected(request: &PermissionRequest) -> String {
    let (what, reasons) = (what::brief(request), what::reasons(request));
    if reasons.is_empty() {
        return format!("! rejected {what} (use --allow or --yes)");
    }
    let (reasons, permission) = (reasons.join(", "), &request.permission);
    let line = format!("({reasons}: only --allow {permission} or --yes lets it run)");
    format!("! rejected {what} {}", visible_line(&line))
}

/// "Always" says exactly what it would allow.
fn choices(request: &PermissionRequest) -> String {
    let always = match request.always.as_slice() {
        [] => String::new(),
        patterns => format!("[a]lways ({}), ", patterns.join(", ")),
    };
    let permission = &request.permission;
    visible_line(&format!("Allow {permission}? [y]es, {always}[N]o: "))
}

/// None for what is no answer. Nothing at all is a no: it is also what nobody types.
fn reply(typed: &str, request: &PermissionRequest) -> Option<Answer> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Once),
        "a" | "always" if !request.always.is_empty() => Some(Answer::Always),
        "" | "n" | "no" => Some(Answer::Reject { message: None }),
        _ => None,
    }
}
