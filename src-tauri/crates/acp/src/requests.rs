//! Asks the person at the editor: permissions, and the agent's questions.

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client, Error};
use lathe_protocol::{PermissionRequest, Question, QuestionRequest};
use lathe_session::{Answer, Sessions};
use serde_json::Value;

use crate::turn::Editor;
use crate::updates::{Drawing, kind};

const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const REJECT: &str = "reject";

/// What the person reads before they decide: the call, its change, and why it is asked.
pub fn permission(
    editor: &Editor,
    drawing: &Drawing,
    request: &PermissionRequest,
) -> acp::RequestPermissionRequest {
    let mut content = drawing.diffs(&request.metadata);
    let reasons = request.needs.iter().flat_map(|need| &need.reasons);
    let dangers = request.dangers.iter();
    let dangers = dangers.map(|danger| format!("{}: {}", danger.text, danger.why));
    let notes: Vec<_> = reasons.cloned().chain(dangers).collect();
    if !notes.is_empty() {
        content.push(acp::ToolCallContent::from(notes.join("\n")));
    }
    let fields = acp::ToolCallUpdateFields::new()
        .title(title(request))
        .kind(kind(&request.permission))
        .status(acp::ToolCallStatus::Pending)
        .raw_input(Value::Object(request.metadata.clone()))
        .content((!content.is_empty()).then_some(content));
    let call = request.tool.as_ref().map(|tool| tool.call_id.clone());
    let call = call.unwrap_or_else(|| request.id.to_string());
    let call = acp::ToolCallUpdate::new(call, fields);
    acp::RequestPermissionRequest::new(editor.session.clone(), call, options(request))
}

fn title(request: &PermissionRequest) -> String {
    let needs = request.needs.iter();
    let needs = needs.map(|need| format!("{} {}", need.permission, need.patterns.join(", ")));
    let needs: Vec<_> = needs.collect();
    match needs.is_empty() {
        true => format!("{} {}", request.permission, request.patterns.join(", ")),
        false => needs.join("; "),
    }
}

/// The same choices as in the window: what cannot be allowed for longer is not offered.
fn options(request: &PermissionRequest) -> Vec<acp::PermissionOption> {
    use acp::PermissionOptionKind as Kind;
    let option =
        |id: &'static str, name: &str, kind| acp::PermissionOption::new(id, name.to_owned(), kind);
    let mut options = vec![option(ONCE, "Allow once", Kind::AllowOnce)];
    if !request.always.is_empty() {
        let patterns = request.needs.iter().flat_map(|need| &need.always);
        let patterns: Vec<_> = patterns.map(String::as_str).collect();
        let patterns = match patterns.is_empty() {
            true => request.always.join(", "),
            false => patterns.join(", "),
        };
        let always = format!("Always allow {patterns}");
        options.push(option(SESSION, "Allow in this session", Kind::AllowAlways));
        options.push(option(ALWAYS, &always, Kind::AllowAlways));
    }
    options.push(option(REJECT, "Reject", Kind::RejectOnce));
    options
}

/// What is not a clear yes is a no.
pub async fn answer_permission(
    sessions: &Sessions,
    connection: &ConnectionTo<Client>,
    asked: acp::RequestPermissionRequest,
    request: &PermissionRequest,
) {
    let chosen = choose(connection, asked).await;
    let answer = match chosen.as_deref() {
        Some(ONCE) => Answer::Once,
        Some(SESSION) if !request.always.is_empty() => Answer::Session,
        Some(ALWAYS) if !request.always.is_empty() => Answer::Always,
        _ => Answer::Reject { message: None },
    };
    // It may have been answered in the window in the meantime.
    if let Err(error) = sessions.answer_permission(&request.id, answer).await {
        tracing::debug!(%error, "a permission was already answered");
    }
}

/// The protocol has no questions of its own that every editor knows: each is asked like a
/// permission, with its options as the choices. Skipping one skips all.
pub async fn answer_question(sessions: &Sessions, editor: &Editor, request: &QuestionRequest) {
    let mut answers = Vec::new();
    for (number, question) in request.questions.iter().enumerate() {
        let asked = question_request(editor, request, number, question);
        let chosen = choose(&editor.connection, asked).await;
        let chosen = chosen.and_then(|chosen| chosen.parse::<usize>().ok());
        let chosen = chosen.and_then(|chosen| question.options.get(chosen));
        match chosen {
            Some(option) => answers.push(vec![option.label.clone()]),
            None => break,
        }
    }
    let done = match answers.len() == request.questions.len() {
        true => sessions.answer_question(&request.id, answers),
        false => sessions.dismiss_question(&request.id),
    };
    if let Err(error) = done {
        tracing::debug!(%error, "a question was already answered");
    }
}

fn question_request(
    editor: &Editor,
    request: &QuestionRequest,
    number: usize,
    question: &Question,
) -> acp::RequestPermissionRequest {
    use acp::PermissionOptionKind as Kind;
    let choices = question.options.iter().enumerate().map(|(index, option)| {
        let name = match option.description.is_empty() {
            true => option.label.clone(),
            false => format!("{}: {}", option.label, option.description),
        };
        acp::PermissionOption::new(index.to_string(), name, Kind::AllowOnce)
    });
    let skip = acp::PermissionOption::new(REJECT, "Skip", Kind::RejectOnce);
    let fields = acp::ToolCallUpdateFields::new()
        .title(question.question.clone())
        .kind(acp::ToolKind::Think)
        .status(acp::ToolCallStatus::Pending);
    let call = acp::ToolCallUpdate::new(format!("{}-{number}", request.id), fields);
    let choices = choices.chain([skip]).collect();
    acp::RequestPermissionRequest::new(editor.session.clone(), call, choices)
}

/// The id of the option that the person chose.
async fn choose(
    connection: &ConnectionTo<Client>,
    asked: acp::RequestPermissionRequest,
) -> Option<String> {
    let answered: Result<acp::RequestPermissionResponse, Error> =
        connection.send_request(asked).block_task().await;
    match answered {
        Ok(answered) => match answered.outcome {
            acp::RequestPermissionOutcome::Selected(selected) => {
                Some(selected.option_id.0.to_string())
            }
            _ => None,
        },
        Err(error) => {
            tracing::warn!(%error, "the editor did not answer a request");
            None
        }
    }
}
