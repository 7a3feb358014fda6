//! What the agent changed: counted on the session, listed per turn, kept in `session_diff`.
//!
//! Made from the trees around the steps, file by file: from the tree before the first step
//! that changed a file to the tree after the last. Nobody waits for it but the end of a turn.

mod unknown;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::{
    Count, Event, Extra, FileDiff, FileStatus, Message, MessageId, MessageWithParts, Session,
    SessionId, SessionSummary, UserSummary,
};
use lathe_snapshot::{Change, ChangeKind, RelPath, SideRepo, TreeId};
use lathe_store::Key;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::Review;
use crate::error::Result;
use crate::steps::{self, Chains, StepTrees};
use unknown::{listed, unheld};

/// A longer text is not kept beside the trees that hold it.
const LONGEST_KEPT: usize = 128 << 10;

#[derive(Default)]
pub struct Summaries {
    /// Those under way, one behind the other for each session.
    under_way: Mutex<HashMap<SessionId, JoinHandle<()>>>,
    /// What was changed before a session was last summed up, so that a long one is read through
    /// once and not at every step.
    earlier: Mutex<HashMap<SessionId, (MessageId, Chains)>>,
}

/// Which turns are listed anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turns {
    All,
    Of(MessageId),
}

/// What a summary is made from.
pub struct Basis {
    pub session: SessionId,
    pub worktree: PathBuf,
    steps: Vec<StepTrees>,
    /// Those that a pending revert hides, too.
    with_hidden: Vec<StepTrees>,
    /// What prompts list of their turns, where all of them are listed anew.
    listed: Vec<FileDiff>,
    /// The message before which the history is not known, with where it stands.
    cut: Option<(MessageId, usize)>,
    /// Prompts, with where they and their answers stand.
    turns: Vec<(MessageId, Vec<usize>)>,
}

impl Basis {
    /// `messages` is what is visible of the history.
    pub fn new(
        session: &SessionId,
        worktree: &Path,
        messages: &[MessageWithParts],
        turns: &Turns,
    ) -> Self {
        let prompts = messages.iter().filter_map(|message| message.info.as_user());
        let wanted = prompts.filter(|user| match turns {
            Turns::All => true,
            Turns::Of(id) => user.id == *id,
        });
        let turn = |id: &MessageId| (id.clone(), steps::turn(messages, id));
        Basis {
            session: session.clone(),
            worktree: worktree.to_owned(),
            steps: steps::read(messages),
            with_hidden: Vec::new(),
            listed: match turns {
                Turns::All => listed(messages),
                Turns::Of(_) => Vec::new(),
            },
            cut: None,
            turns: wanted.map(|user| turn(&user.id)).collect(),
        }
    }

    /// `messages` is the history with what is hidden. What such a turn did to files whose trees
    /// are not here was not taken back with it, and nothing could count it again.
    pub fn hiding(mut self, messages: &[MessageWithParts]) -> Self {
        self.with_hidden = steps::read(messages);
        self
    }

    /// `messages` lack what lies before the one at `cut`.
    pub fn after(mut self, messages: &[MessageWithParts], cut: Option<usize>) -> Self {
        let message = |at: usize| Some((messages.get(at)?.info.id().clone(), at));
        self.cut = cut.and_then(message);
        self
    }
}

/// Begins a summary beside whatever goes on.
pub fn begin(review: &Arc<Review>, basis: Basis) {
    let mut under_way = review.summaries.under_way.lock();
    let before = under_way.remove(&basis.session);
    let (id, review) = (basis.session.clone(), review.clone());
    let task = tokio::spawn(async move {
        if let Some(before) = before {
            let _ = before.await;
        }
        if let Err(error) = write(&review, basis).await {
            tracing::warn!(%error, "no summary was written");
        }
    });
    under_way.insert(id, task);
}

/// Waits until what was begun is stored and told.
pub async fn finish(review: &Review, session: &SessionId) {
    let under_way = review.summaries.under_way.lock().remove(session);
    if let Some(task) = under_way {
        let _ = task.await;
    }
}

async fn write(review: &Review, basis: Basis) -> Result<()> {
    let Basis {
        session,
        worktree,
        steps,
        with_hidden,
        listed,
        cut,
        turns,
    } = basis;
    let store = review.records.store();
    let before = stored(review, &session, None).await?;
    let (known, from) = match &cut {
        Some((id, at)) => (earlier(review, &session, &worktree, id).await?, *at),
        None => (Chains::default(), 0),
    };
    let counted = review.snapshots.with(&worktree, move |repo| {
        let new = steps.partition_point(|step| step.message < from);
        let (mut all, mut unknown) = diffs(repo, known, &steps[new..])?;
        unknown.extend(unheld(repo, &with_hidden));
        let rest = unknown::keep(repo, &mut all, before, listed, &unknown);
        let mut per_turn = Vec::new();
        for (id, messages) in turns {
            let mut of_turn = steps.clone();
            of_turn.retain(|step| messages.contains(&step.message));
            let (diffs, unknown) = diffs(repo, Chains::default(), &of_turn)?;
            if unknown.is_empty() {
                per_turn.push((id, diffs));
            }
        }
        Ok((all, rest, per_turn))
    });
    let (all, rest, per_turn) = counted.await?;
    store.write(&Key::session_diff(&session)?, &all).await?;
    for (id, diffs) in per_turn {
        write_turn(review, &session, &id, diffs).await?;
    }
    let summary = totals(&all);
    review
        .records
        .update_session(&session, move |session: &mut Session| {
            let before = session.summary.take();
            session.summary = Some(rest.add_to(summary, before));
        })
        .await?;
    review.records.publish(Event::SessionDiff {
        session_id: session,
        diff: all,
    });
    Ok(())
}

/// What was changed before a message that sums up all before it.
async fn earlier(
    review: &Review,
    session: &SessionId,
    worktree: &Path,
    cut: &MessageId,
) -> Result<Chains> {
    if let Some((at, known)) = review.summaries.earlier.lock().get(session)
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
    let steps = steps::read(&messages);
    let read = move |repo: &SideRepo| Ok(steps::chains(repo, &steps)?);
    let known = review.snapshots.with(worktree, read).await?;
    let kept = (cut.clone(), known.clone());
    review
        .summaries
        .earlier
        .lock()
        .insert(session.clone(), kept);
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

fn totals(diffs: &[FileDiff]) -> SessionSummary {
    let sum = |count: fn(&FileDiff) -> Count| Count(diffs.iter().map(|diff| count(diff).0).sum());
    SessionSummary {
        additions: sum(|diff| diff.additions),
        deletions: sum(|diff| diff.deletions),
        files: Some(Count(diffs.len() as i64)),
        diffs: None,
        extra: Extra::default(),
    }
}

/// In path order, and the files of steps whose trees are not here.
fn diffs(
    repo: &SideRepo,
    known: Chains,
    steps: &[StepTrees],
) -> Result<(Vec<FileDiff>, Vec<String>)> {
    let Chains {
        files: chains,
        unknown,
    } = steps::chains_after(repo, known, steps)?;
    let spans: Vec<(RelPath, TreeId, TreeId)> = chains
        .iter()
        .map(|(path, chain)| (path.clone(), chain.start, chain.finish))
        .collect();
    let changes = repo.diff_paths(&spans)?;
    let side = |path: &RelPath, old: bool| {
        let chain = chains.get(path)?;
        let tree = if old { chain.start } else { chain.finish };
        repo.blob(tree, path).ok()
    };
    let diff = |change: &Change| {
        let from = match &change.kind {
            ChangeKind::Renamed { from } => from,
            _ => &change.path,
        };
        let before = change.old_mode.and_then(|_| side(from, true));
        let after = change.new_mode.and_then(|_| side(&change.path, false));
        file_diff(change, before, after, LONGEST_KEPT)
    };
    Ok((changes.iter().map(diff).collect(), unknown))
}

fn file_diff(
    change: &Change,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    longest: usize,
) -> FileDiff {
    let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.unwrap_or_default()).ok();
    let long = [&before, &after]
        .iter()
        .any(|side| side.as_ref().is_some_and(|bytes| bytes.len() > longest));
    let texts = text(before).zip(text(after)).filter(|_| !change.binary);
    let binary = texts.is_none();
    // Empty texts rather than none: older readers take them for granted.
    let (before, after) = texts.filter(|_| !long).unwrap_or_default();
    FileDiff {
        file: change.path.to_string(),
        before: Some(before),
        after: Some(after),
        additions: Count(change.additions as i64),
        deletions: Count(change.deletions as i64),
        status: Some(status(&change.kind)),
        from: match &change.kind {
            ChangeKind::Renamed { from } => Some(from.to_string()),
            _ => None,
        },
        binary: binary.then_some(true),
        mode: (change.kind == ChangeKind::Mode).then_some(true),
        folded: (long && !binary).then_some(true),
        ..FileDiff::default()
    }
}

fn status(kind: &ChangeKind) -> FileStatus {
    match kind {
        ChangeKind::Added => FileStatus::Added,
        ChangeKind::Deleted => FileStatus::Deleted,
        ChangeKind::Renamed { .. } => FileStatus::Renamed,
        ChangeKind::Modified | ChangeKind::Mode | ChangeKind::TypeChange => FileStatus::Modified,
    }
}

/// The stored differences of the session or of one of its turns.
pub async fn stored(
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

/// One file with both texts, however long they are.
pub async fn whole(
    review: &Review,
    worktree: &Path,
    messages: &[MessageWithParts],
    message: Option<&MessageId>,
    path: &str,
) -> Result<Option<FileDiff>> {
    let mut steps = steps::read(messages);
    if let Some(id) = message {
        let turn = steps::turn(messages, id);
        steps.retain(|step| turn.contains(&step.message));
    }
    let path = path.to_owned();
    review
        .snapshots
        .with(worktree, move |repo| {
            let chains = steps::chains(repo, &steps)?.files;
            let found = chains.iter().find(|(name, _)| name.to_string() == path);
            let Some((path, chain)) = found else {
                return Ok(None);
            };
            let change = repo.diff_path(path, chain.start, chain.finish)?;
            Ok(change.map(|change| {
                let before = repo.blob(chain.start, path).ok();
                let after = repo.blob(chain.finish, path).ok();
                file_diff(&change, before, after, usize::MAX)
            }))
        })
        .await
}
