//! Settles what a crash left open: running calls and unfinished messages.

use lathe_protocol::{
    Message, MessageError, MessageWithParts, Part, Session, SessionId, ToolPart, ToolState,
};
use lathe_records::{Records, Result};

/// The newest messages that a crash can have left open: one turn of many steps.
pub const TAIL: usize = 50;

/// Returns the sessions of tasks that were running. The caller holds the session's lock.
pub async fn settle(records: &Records, id: &SessionId) -> Result<Vec<SessionId>> {
    let page = records.messages(id, None, TAIL).await?;
    let tasks = settle_messages(records, page.messages).await?;
    let session = records.store().session(id).await?;
    if session.is_some_and(|session| session.time.compacting.is_some()) {
        let edit = |session: &mut Session| session.time.compacting = None;
        records.update_session(id, edit).await?;
    }
    Ok(tasks)
}

/// Returns the child sessions of the calls that were still open.
async fn settle_messages(
    records: &Records,
    messages: Vec<MessageWithParts>,
) -> Result<Vec<SessionId>> {
    let now = records.now();
    let mut tasks = Vec::new();
    for message in messages {
        for part in message.parts {
            if let Part::Tool(mut tool) = part
                && tool.abort(now)
            {
                tasks.extend(task_session(&tool));
                records.put_part(Part::Tool(tool)).await?;
            }
        }
        if let Message::Assistant(mut info) = message.info
            && info.time.completed.is_none()
        {
            info.time.completed = Some(now.max(info.time.created));
            info.error.get_or_insert_with(|| {
                MessageError::aborted("The program ended before this answer was complete")
            });
            records.put_message(Message::Assistant(info)).await?;
        }
    }
    Ok(tasks)
}

fn task_session(tool: &ToolPart) -> Option<SessionId> {
    let ToolState::Error(failed) = tool.state() else {
        return None;
    };
    let id = failed.metadata.as_ref()?.get("sessionId")?.as_str()?;
    SessionId::parse(id).ok()
}
