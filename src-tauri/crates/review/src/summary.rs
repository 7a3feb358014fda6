//! What the agent changed: counted on the session, listed per turn, stored in `session_diff`.
//!
//! Computed from the trees around the steps, file by file: from the tree before the first step
//! that changed a file to the tree after the last. Only the end of a turn waits for it.

mod diffs;
mod missing_trees;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{
    Event, FileDiff, Message, MessageId, MessageWithParts, Session, SessionId, UserSummary,
};
use lathe_snapshot::SideRepo;
use lathe_store::Key;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::Review;
use crate::error::Result;
use crate::steps::{self, Chains, StepTrees};
pub use diffs::full_file_diff;
use missing_trees::{files_without_trees, listed_files};

/// The sessions whose changes before a compaction are remembered; of more, they are read again.
const MOST_COMPACTED: usize = 32;

#[derive(Default)]
pub struct Summaries {
    /// The running update of each session; the next one waits for it.
    running: Mutex<HashMap<SessionId, JoinHandle<()>>>,
    /// The changes before the newest compaction of each session, so that a long session is
    /// read once and not at every step.
    before_compaction: Mutex<HashMap<SessionId, (MessageId, Chains)>>,
}

/// The turns whose list of changes is updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turns {
    All,
    One(MessageId),
}

/// What a summary is computed from.
pub struct SummaryInput {
    pub session: SessionId,
    pub worktree: PathBuf,
    steps: Vec<StepTrees>,
    /// The same with the steps that a pending revert hides.
    with_hidden: Vec<StepTrees>,
    /// The files that prompts list for their turns, if all of them are updated.
    listed: Vec<FileDiff>,
    /// The message before which the history is not loaded, with its position.
    cut: Option<(MessageId, usize)>,
    /// Prompts, with the positions of their messages.
    turns: Vec<(MessageId, Vec<usize>)>,
}

impl SummaryInput {
    /// `messages` is the visible history.
    pub fn new(
        session: &SessionId,
        worktree: &Path,
        messages: &[MessageWithParts],
        turns: &Turns,
    ) -> Self {
        let prompts = messages.iter().filter_map(|message| message.info.as_user());
        let wanted = prompts.filter(|user| match turns {
            Turns::All => true,
            Turns::One(id) => user.id == *id,
        });
        let turn = |id: &MessageId| (id.clone(), steps::turn_positions(messages, id));
        SummaryInput {
            session: session.clone(),
            worktree: worktree.to_owned(),
            steps: steps::read_project(messages),
            with_hidden: Vec::new(),
            listed: match turns {
                Turns::All => listed_files(messages),
                Turns::One(_) => Vec::new(),
            },
            cut: None,
            turns: wanted.map(|user| turn(&user.id)).collect(),
        }
    }

    /// `messages` is the history including what a revert hides. Changes of a hidden turn whose
    /// trees are missing were not reverted, and could not be counted again.
    pub fn with_hidden(mut self, messages: &[MessageWithParts]) -> Self {
        self.with_hidden = steps::read_project(messages);
        self
    }

    /// `messages` are complete only from the position `cut` on.
    pub fn starting_at(mut self, messages: &[MessageWithParts], cut: Option<usize>) -> Self {
        let message = |at: usize| Some((messages.get(at)?.info.id().clone(), at));
        self.cut = cut.and_then(message);
        self
    }
}

/// Updates the summary in the background.
pub fn start(review: &Arc<Review>, input: SummaryInput) {
    let mut running = review.summaries.running.lock();
    running.retain(|_, task| !task.is_finished());
    let before = running.remove(&input.session);
    let (id, review) = (input.session.clone(), review.clone());
    let task = tokio::spawn(async move {
        if let Some(before) = before {
            let _ = before.await;
        }
        if let Err(error) = write(&review, input).await {
            tracing::warn!(%error, "no summary was written");
        }
    });
    running.insert(id, task);
}

/// Waits until a running update is stored and published.
pub async fn wait(review: &Review, session: &SessionId) {
    let running = review.summaries.running.lock().remove(session);
    if let Some(task) = running {
        let _ = task.await;
    }
}

async fn write(review: &Review, input: SummaryInput) -> Result<()> {
    let SummaryInput {
        session,
        worktree,
        steps,
        with_hidden,
        listed,
        cut,
        turns,
    } = input;
    let store = review.records.store();
    let before = read_stored(review, &session, None).await?;
    let (known, from) = match &cut {
        Some((id, at)) => (changes_before(review, &session, &worktree, id).await?, *at),
        None => (Chains::default(), 0),
    };
    let counted = review.snapshots.with_repo(&worktree, move |repo| {
        let new = steps.partition_point(|step| step.message < from);
        let (mut all, mut unknown) = diffs::between_trees(repo, known, &steps[new..])?;
        unknown.extend(files_without_trees(repo, &with_hidden));
        let unlisted = missing_trees::add_listed(repo, &mut all, before, listed, &unknown);
        let mut per_turn = Vec::new();
        for (id, messages) in turns {
            let mut of_turn = steps.clone();
            of_turn.retain(|step| messages.contains(&step.message));
            let (diffs, unknown) = diffs::between_trees(repo, Chains::default(), &of_turn)?;
            if unknown.is_empty() {
                per_turn.push((id, diffs));
            }
        }
        Ok((all, unlisted, per_turn))
    });
    let (all, unlisted, per_turn) = counted.await?;
    store.write(&Key::session_diff(&session)?, &all).await?;
    for (id, diffs) in per_turn {
        write_turn(review, &session, &id, diffs).await?;
    }
    let summary = diffs::totals(&all);
    review
        .records
        .update_session(&session, move |session: &mut Session| {
            let before = session.summary.take();
            session.summary = Some(unlisted.add_to(summary, before));
        })
        .await?;
    review.records.publish(Event::SessionDiff {
        session_id: session,
        diff: all,
    });
    Ok(())
}

/// The changes before a message that summarizes everything before it.
async fn changes_before(
    review: &Review,
    session: &SessionId,
    worktree: &Path,
    cut: &MessageId,
) -> Result<Chains> {
    if let Some((at, known)) = review.summaries.before_compaction.lock().get(session)
        && at == cut
    {
        return Ok(known.clone());
    }
    let mut messages = review
        .records
        .messages(session, None, usize::MAX)
        .await?
        .messages;
    let at = messages.iter().position(|one| one.info.id() == cut);
    messages.truncate(at.unwrap_or(0));
    let steps = steps::read_project(&messages);
    let read = move |repo: &SideRepo| Ok(steps::chains(repo, &steps)?);
    let known = review.snapshots.with_repo(worktree, read).await?;
    let cached = (cut.clone(), known.clone());
    let mut all = review.summaries.before_compaction.lock();
    if all.len() >= MOST_COMPACTED {
        all.clear();
    }
    all.insert(session.clone(), cached);
    Ok(known)
}

async fn write_turn(
    review: &Review,
    session: &SessionId,
    id: &MessageId,
    diffs: Vec<FileDiff>,
) -> Result<()> {
    let found = review.records.store().message_info(session, id).await?;
    let Some(Message::User(mut user)) = found else {
        return Ok(());
    };
    let before = user.summary.as_ref().map(|summary| &summary.diffs);
    let unchanged = before.map_or(diffs.is_empty(), |before| *before == diffs);
    if unchanged {
        return Ok(());
    }
    let summary = user.summary.get_or_insert_with(UserSummary::default);
    summary.diffs = diffs;
    Ok(review
        .records
        .write_message_file(Message::User(user))
        .await?)
}

/// The stored differences of the session or of one of its turns.
pub async fn read_stored(
    review: &Review,
    session: &SessionId,
    message: Option<&MessageId>,
) -> Result<Vec<FileDiff>> {
    let store = review.records.store();
    let Some(message) = message else {
        let key = Key::session_diff(session)?;
        return Ok(store.read(&key).await?.unwrap_or_default());
    };
    let info = store.message_info(session, message).await?;
    let info =
        info.ok_or_else(|| crate::error::ReviewError::missing("message", message.as_str()))?;
    let summary = match info {
        Message::User(user) => user.summary,
        Message::Assistant(_) => None,
    };
    Ok(summary.map(|summary| summary.diffs).unwrap_or_default())
}
