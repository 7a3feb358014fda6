//! Settles what a crash of the program, or a failure of a turn, left open: running calls,
//! unfinished messages and interrupted reverts.

use std::path::{Path, PathBuf};

use lathe_protocol::{
    AssistantMessage, AssistantTime, Finish, Message, MessageError, MessageWithParts, Part,
    Session, SessionId, ToolPart, ToolState, UserMessage,
};
use lathe_records::{Records, Result};
use lathe_review::credit::{Credit, Proof, Span};
use lathe_review::revert;
use lathe_review::snapshots::with_room;

use super::history::is_sent;
use crate::core::Core;

/// The newest messages that a crash can have left open: one turn of many steps.
pub const TAIL: usize = 50;

/// Returns the sessions of tasks that were running. The caller holds the session's lock.
pub async fn settle(core: &Core, id: &SessionId) -> Result<Vec<SessionId>> {
    let records = &core.records;
    let page = records.messages(id, None, TAIL).await?;
    let Some(session) = records.store().session(id).await? else {
        return Ok(Vec::new());
    };
    let worktree = worktree_of(core, &session).await?;
    let ended = MessageError::aborted("Lathe was closed before this answer finished");
    let (tasks, _) = settle_messages(core, &worktree, page.messages, &ended).await?;
    end_compaction(records, id).await?;
    if let Err(error) = revert::recover(&core.review, &session, &worktree).await {
        tracing::warn!(%error, "an interrupted revert was not rolled back");
    }
    Ok(tasks)
}

/// The same for a turn of this process that failed: its newest prompt has the error as its answer.
pub async fn settle_failed(core: &Core, id: &SessionId, error: &MessageError) -> Result<()> {
    let records = &core.records;
    records.close_streams(id).await?;
    let Some(session) = records.store().session(id).await? else {
        return Ok(());
    };
    let worktree = worktree_of(core, &session).await?;
    let page = records.messages(id, None, TAIL).await?;
    // A prompt that still waits has nothing to do with it.
    let sent = page.messages.iter().rfind(|message| is_sent(message));
    let newest = sent.map(|message| message.info.clone());
    let (_, has_error) = settle_messages(core, &worktree, page.messages, error).await?;
    match newest {
        Some(Message::User(prompt)) if !has_error => {
            let answer = failed_answer(records, &prompt, error);
            records.put_message(Message::Assistant(answer)).await?;
        }
        // A step that was complete, and nothing came after it.
        Some(Message::Assistant(mut last)) if !has_error && last.error.is_none() => {
            last.error = Some(error.clone());
            records.put_message(Message::Assistant(last)).await?;
        }
        _ => {}
    }
    end_compaction(records, id).await
}

async fn worktree_of(core: &Core, session: &Session) -> Result<PathBuf> {
    let project = core.workspace.project_of(session).await?;
    let snapshots = &core.review.snapshots;
    Ok(snapshots.root_for(&project.worktree, &session.directory))
}

async fn end_compaction(records: &Records, id: &SessionId) -> Result<()> {
    let session = records.store().session(id).await?;
    if session.is_some_and(|session| session.time.compacting.is_some()) {
        let edit = |session: &mut Session| session.time.compacting = None;
        records.update_session(id, edit).await?;
    }
    Ok(())
}

fn failed_answer(
    records: &Records,
    prompt: &UserMessage,
    error: &MessageError,
) -> AssistantMessage {
    let now = records.now().max(prompt.time.created);
    let model = prompt.model.clone();
    let (provider_id, model_id) = model
        .map(|model| (model.provider_id, model.model_id))
        .unwrap_or_default();
    AssistantMessage {
        id: records.ids().message(now),
        session_id: prompt.session_id.clone(),
        time: AssistantTime {
            created: now,
            completed: Some(now),
            ..AssistantTime::default()
        },
        error: Some(error.clone()),
        parent_id: prompt.id.clone(),
        model_id,
        provider_id,
        mode: prompt.agent.clone(),
        agent: prompt.agent.clone(),
        path: None,
        summary: None,
        cost: 0.0,
        tokens: Default::default(),
        finish: Some(Finish::Error),
        extra: Default::default(),
    }
}

/// A call that was cut short has no tree from right after it. One is taken now: whatever differs
/// by then may be the agent's, and the person decides.
async fn take_late_tree(core: &Core, worktree: &Path, tool: &mut ToolPart) {
    let Some(mut credit) = Credit::of(tool) else {
        return;
    };
    let open = credit.spans.iter_mut().filter(|span| span.after.is_none());
    let open: Vec<&mut Span> = open.collect();
    if open.is_empty() {
        return;
    }
    match with_room::take(&core.review, worktree, &tool.session_id).await {
        Ok(tree) => {
            for span in open {
                span.after = Some(tree.to_string());
                span.proof = Proof::Late;
            }
        }
        Err(why) => credit.unknown = Some(why.to_string()),
    }
    credit.store_in(tool);
}

/// Returns the child sessions of the calls that were still open, and whether a message has the
/// error now.
async fn settle_messages(
    core: &Core,
    worktree: &Path,
    messages: Vec<MessageWithParts>,
    error: &MessageError,
) -> Result<(Vec<SessionId>, bool)> {
    let records = &core.records;
    let now = records.now();
    let mut tasks = Vec::new();
    let mut has_error = false;
    for message in messages {
        for part in message.parts {
            if let Part::Tool(mut tool) = part
                && tool.abort(now)
            {
                tasks.extend(task_session(&tool));
                take_late_tree(core, worktree, &mut tool).await;
                records.put_part(Part::Tool(tool)).await?;
            }
        }
        if let Message::Assistant(mut info) = message.info
            && info.time.completed.is_none()
        {
            info.time.completed = Some(now.max(info.time.created));
            info.error.get_or_insert_with(|| error.clone());
            records.put_message(Message::Assistant(info)).await?;
            has_error = true;
        }
    }
    Ok((tasks, has_error))
}

fn task_session(tool: &ToolPart) -> Option<SessionId> {
    let ToolState::Error(failed) = tool.state() else {
        return None;
    };
    let id = failed.metadata.as_ref()?.get("sessionId")?.as_str()?;
    SessionId::parse(id).ok()
}
