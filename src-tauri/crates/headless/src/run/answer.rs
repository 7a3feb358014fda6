//! What a turn asks, answered by the person at the terminal or by nobody.

use lathe_protocol::{PermissionRequest, Question, QuestionRequest};
use lathe_render::escape::{visible, visible_line};
use lathe_session::Answer;

use crate::output;

pub async fn permission(request: &PermissionRequest) -> Answer {
    let what = format!("{}: {}", request.permission, request.patterns.join(", "));
    // All of it: a person decides by what is shown.
    let what = visible_line(&what);
    if !output::has_person() {
        output::note(&format!("! rejected {what} (use --allow or --yes)"));
        return Answer::Reject { message: None };
    }
    let typed = output::ask(&format!("Allow {what}? [y]es, [a]lways, [N]o: ")).await;
    match typed.as_deref() {
        Some("y" | "yes") => Answer::Once,
        Some("a" | "always") if !request.always.is_empty() => Answer::Always,
        _ => Answer::Reject { message: None },
    }
}

pub async fn answers(request: &QuestionRequest) -> Option<Vec<Vec<String>>> {
    if !output::has_person() {
        return None;
    }
    let mut answers = Vec::new();
    for question in &request.questions {
        answers.push(vec![answer(question).await?]);
    }
    Some(answers)
}

/// The number of an option, or words of one's own.
async fn answer(question: &Question) -> Option<String> {
    let options = question.options.iter().enumerate();
    let lines: Vec<_> = options
        .map(|(index, option)| format!("  {}. {}", index + 1, visible_line(&option.label)))
        .collect();
    let text = format!("{}\n{}\n> ", visible(&question.question), lines.join("\n"));
    let typed = output::ask(&text).await.filter(|typed| !typed.is_empty())?;
    let chosen = typed
        .parse::<usize>()
        .ok()
        .and_then(|at| question.options.get(at.checked_sub(1)?));
    Some(chosen.map_or(typed, |option| option.label.clone()))
}
