//! Prints one session, as text or for other programs.

use std::process::ExitCode;

use lathe_protocol::{Message, MessageWithParts, Part, Session, SessionId, ToolState};
use lathe_session::Sessions;
use serde::Serialize;

use crate::args::Form;
use crate::revert::counted;
use crate::{Outcome, output, texts};

pub async fn show(sessions: &Sessions, id: &SessionId, form: Form) -> Outcome {
    match form {
        Form::Json => export(sessions, id).await,
        Form::Model => {
            output::json(&sessions.next_request(id).await?.neutral)?;
            Ok(ExitCode::SUCCESS)
        }
        Form::Request => {
            let body = sessions.next_request(id).await?.body;
            let body = body.ok_or(texts::BUILT_IN_MODEL)?;
            output::json(&body)?;
            Ok(ExitCode::SUCCESS)
        }
        Form::Html => {
            let shared = sessions.export_redacted(id).await?;
            output::text(&lathe_render::page::render_session(&shared))?;
            Ok(ExitCode::SUCCESS)
        }
        Form::Text => {
            let session = sessions.get(id).await?;
            output::line(&session.title)?;
            if let Some(pending) = pending_revert(sessions, &session).await? {
                output::line(&pending)?;
            }
            for message in sessions.visible_messages(&session).await? {
                output::line(&format!("\n{}\n", as_text(&message).trim_end()))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What a revert that can still be undone hides.
async fn pending_revert(sessions: &Sessions, session: &Session) -> Outcome<Option<String>> {
    if session.revert.is_none() {
        return Ok(None);
    }
    let all = sessions.messages(&session.id, None, usize::MAX).await?;
    let visible = sessions.visible_messages(session).await?;
    let hidden = all.messages.len().saturating_sub(visible.len());
    let hidden = counted(hidden, "message");
    Ok(Some(texts::hidden_until_prompt(&hidden)))
}

pub async fn export(sessions: &Sessions, id: &SessionId) -> Outcome {
    let info = sessions.get(id).await?;
    let page = sessions.messages(id, None, usize::MAX).await?;
    for damaged in &page.damaged {
        output::note(&texts::skipped(damaged));
    }
    output::json(&Exported {
        info: &info,
        messages: &page.messages,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Borrows its data, so that a long session is not copied.
#[derive(Serialize)]
struct Exported<'a> {
    info: &'a Session,
    messages: &'a [MessageWithParts],
}

pub fn as_text(message: &MessageWithParts) -> String {
    let who = match &message.info {
        Message::User(_) => "You".to_owned(),
        Message::Assistant(info) => format!("{}/{}", info.provider_id, info.model_id),
    };
    let mut text = format!("── {who}  {}\n", message.info.id());
    for part in &message.parts {
        if let Some(line) = part_text(part) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    if let Some(error) = message
        .info
        .as_assistant()
        .and_then(|info| info.error.as_ref())
    {
        text.push_str(&format!("! {}\n", error.message()));
    }
    text
}

fn part_text(part: &Part) -> Option<String> {
    match part {
        Part::Text(part) => Some(part.text.clone()),
        Part::Tool(tool) => Some(match tool.state() {
            ToolState::Completed(done) => format!("· {} {}", tool.tool, done.title),
            ToolState::Error(failed) => format!("× {} {}", tool.tool, failed.error),
            other => format!("· {} ({})", tool.tool, other.name()),
        }),
        Part::File(file) => Some(format!(
            "[{}]",
            file.filename.as_deref().unwrap_or(&file.mime)
        )),
        Part::Patch(patch) => Some(format!("Changed: {}", patch.files.join(", "))),
        Part::Retry(retry) => Some(format!(
            "! try {}: {}",
            retry.attempt,
            retry.error.0.message()
        )),
        Part::Compaction(_) => Some(texts::COMPACTED.to_owned()),
        Part::Subtask(task) => Some(format!("→ {}: {}", task.agent, task.description)),
        Part::Reasoning(_)
        | Part::Agent(_)
        | Part::StepStart(_)
        | Part::StepFinish(_)
        | Part::Snapshot(_)
        | Part::Unknown(_) => None,
    }
}
