//! What a turn asks, answered by the person at the terminal or by nobody.

use lathe_protocol::{PermissionRequest, QuestionRequest};
use lathe_session::Answer;

use super::follow::visible;
use crate::output;

pub fn permission(request: &PermissionRequest) -> Answer {
    let what = format!("{}: {}", request.permission, request.patterns.join(", "));
    let what = visible(&what);
    if !output::has_person() {
        output::note(&format!("! rejected {what} (use --allow or --yes)"));
        return Answer::Reject { message: None };
    }
    match output::ask(&format!("Allow {what}? [y]es, [a]lways, [N]o: ")).as_deref() {
        Some("y" | "yes") => Answer::Once,
        Some("a" | "always") if !request.always.is_empty() => Answer::Always,
        _ => Answer::Reject { message: None },
    }
}

pub fn answers(request: &QuestionRequest) -> Option<Vec<Vec<String>>> {
    if !output::has_person() {
        return None;
    }
    let ask_one = |question: &lathe_protocol::Question| {
        let options = question.options.iter().enumerate();
        let lines: Vec<_> = options
            .map(|(index, option)| format!("  {}. {}", index + 1, visible(&option.label)))
            .collect();
        let text = format!("{}\n{}\n> ", visible(&question.question), lines.join("\n"));
        let typed = output::ask(&text).filter(|typed| !typed.is_empty())?;
        let chosen = typed
            .parse::<usize>()
            .ok()
            .and_then(|at| question.options.get(at.checked_sub(1)?));
        Some(vec![
            chosen.map_or(typed.clone(), |option| option.label.clone()),
        ])
    };
    request.questions.iter().map(ask_one).collect()
}
