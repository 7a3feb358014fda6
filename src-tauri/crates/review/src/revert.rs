//! Taking back: to a message, a part, a file, a hunk or a snapshot, and the way back from it.
//!
//! A safety snapshot is taken first and told of by a snapshot part. What is done is written
//! down before it is done, so that it can be undone after a crash, too. Messages behind the
//! cut are hidden at once and removed by the next prompt. Nobody may work on the session
//! meanwhile; the handle sees to that.

mod cut;
mod net;
mod plan;
mod rounds;
mod undo;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{RevertFile, RevertOutcome, RevertPreview, RevertTarget};
use lathe_protocol::{
    Event, Extra, MessageId, MessageWithParts, Part, PartId, RevertState, RevertedFiles, Session,
    SessionId, SnapshotPart,
};
use lathe_snapshot::{SideRepo, TreeId};

use crate::Review;
use crate::error::{Result, ReviewError};
use crate::snapshots::temporary_label;
use crate::steps::{self, StepTrees};
pub use cut::Cut;
use cut::{part_position, position};
use net::Net;
use plan::{Planned, Task};
pub use rounds::left as undoable;
use rounds::{Moved, Round};

/// A session whose files or messages go back.
pub struct Revert {
    review: Arc<Review>,
    session: Session,
    worktree: PathBuf,
    messages: Vec<MessageWithParts>,
    steps: Vec<StepTrees>,
    /// Where an earlier revert cut.
    pending: Option<Cut>,
    /// From where on the files are taken back already: not as far as messages are hidden
    /// where a revert left the files alone.
    taken_back: Option<Cut>,
}

/// A target, found in the history.
struct Found {
    /// Only where messages are hidden.
    cut: Option<Cut>,
    task: Option<Task>,
    /// The message that the safety snapshot is told on.
    told_on: Option<usize>,
}

impl Revert {
    pub async fn open(review: &Arc<Review>, session: Session, worktree: &Path) -> Result<Self> {
        let page = review
            .records
            .messages(&session.id, None, usize::MAX)
            .await?;
        let messages = page.messages;
        let pending = session
            .revert
            .as_ref()
            .and_then(|state| Cut::of(&messages, state));
        let rounds = rounds::load(review, &session.id).await?;
        let kept = session
            .revert
            .as_ref()
            .and_then(|state| state.snapshot.as_ref());
        // Others, and an older Lathe, write down only that files were taken back.
        let taken_back = rounds::reach(&rounds, &messages, pending)
            .or_else(|| pending.filter(|_| kept.is_some()));
        Ok(Revert {
            review: review.clone(),
            steps: steps::read(&messages),
            session,
            worktree: worktree.to_owned(),
            messages,
            pending,
            taken_back,
        })
    }

    pub async fn preview(mut self, target: &RevertTarget) -> Result<RevertPreview> {
        let mut found = self.find(target)?;
        let mut tasks = Vec::new();
        if self.comes_forward(&found) {
            tasks = self.plan_undo_hiding().await?;
            found = self.find(target)?;
        }
        tasks.extend(found.task);
        let hides_messages = found.cut.map_or(0, |cut| cut.hidden(&self.messages));
        if tasks.is_empty() {
            return Ok(RevertPreview {
                files: Vec::new(),
                hides_messages,
            });
        }
        let label = temporary_label(&self.session.id);
        let files = self.review.snapshots.with(&self.worktree, move |repo| {
            let now = repo.take(&label)?;
            let files = foreseen(repo, &tasks, now.hash);
            repo.release(&[now.reference])?;
            files
        });
        Ok(RevertPreview {
            files: files.await?,
            hides_messages,
        })
    }

    pub async fn perform(mut self, target: &RevertTarget) -> Result<RevertOutcome> {
        let mut found = self.find(target)?;
        let mut net = Net::default();
        if self.comes_forward(&found) {
            net = self.undo_hiding().await?;
            found = self.find(target)?;
        }
        if let Some(task) = found.task {
            let part = self.safety_part(found.told_on).await?;
            net.add(&self.act(task, part, found.cut).await?);
        }
        let hides_messages = found.cut.map_or(0, |cut| cut.hidden(&self.messages));
        if let Some(cut) = found.cut {
            self.hide(cut).await?;
        }
        self.outcome(net, hides_messages).await
    }

    /// Less is to be hidden than was: all of it comes back first.
    fn comes_forward(&self, found: &Found) -> bool {
        let cuts = found.cut.zip(self.pending);
        cuts.is_some_and(|(cut, pending)| cut > pending)
    }

    async fn outcome(self, net: Net, hides_messages: usize) -> Result<RevertOutcome> {
        let files = if net.is_empty() {
            Vec::new()
        } else {
            let tell = move |repo: &SideRepo| net.files(repo);
            self.review.snapshots.with(&self.worktree, tell).await?
        };
        Ok(RevertOutcome {
            undoable: rounds::left(&self.review, &self.session).await?,
            session: self.session,
            files,
            hides_messages,
        })
    }

    fn find(&self, target: &RevertTarget) -> Result<Found> {
        match target {
            RevertTarget::Message {
                message_id,
                keep_files,
            } => {
                let cut = Cut::at_message(&self.messages, message_id)?;
                Ok(self.cutting(cut, *keep_files))
            }
            RevertTarget::Part {
                message_id,
                part_id,
            } => {
                let cut = Cut::at_part(&self.messages, &self.steps, message_id, part_id)?;
                Ok(self.cutting(cut, false))
            }
            RevertTarget::File { message_id, path } => {
                let steps = self.scope(message_id.as_ref())?;
                let only = Some(path.clone());
                Ok(Found {
                    cut: None,
                    told_on: self.end_of(&steps, path),
                    task: Some(Task::Steps { steps, only }),
                })
            }
            RevertTarget::Hunk {
                message_id,
                path,
                hunk,
                fingerprint,
            } => {
                let steps = self.scope(message_id.as_ref())?;
                Ok(Found {
                    cut: None,
                    told_on: self.end_of(&steps, path),
                    task: Some(Task::Hunk {
                        steps,
                        path: path.clone(),
                        hunk: *hunk,
                        fingerprint: fingerprint.clone(),
                    }),
                })
            }
            RevertTarget::Snapshot {
                message_id,
                part_id,
            } => Ok(Found {
                cut: None,
                task: Some(Task::Tree(self.snapshot(message_id, part_id)?)),
                told_on: self.last_visible(),
            }),
        }
    }

    fn cutting(&self, cut: Cut, keep_files: bool) -> Found {
        let pending = self.pending.is_some_and(|pending| cut <= pending);
        let there = match self.taken_back.filter(|_| pending) {
            Some(taken_back) => taken_back.before(&self.messages, &self.steps),
            None => self.steps.clone(),
        };
        let steps = cut.after(&self.messages, &there);
        let changed = steps.iter().any(|step| step.start != step.finish);
        let told_on = match (cut.part, cut.message.checked_sub(1)) {
            (0, Some(before)) => before,
            _ => cut.message,
        };
        Found {
            cut: Some(cut),
            task: (changed && !keep_files).then_some(Task::Steps { steps, only: None }),
            told_on: Some(told_on),
        }
    }

    /// The steps that are visible, of one turn or of the whole session.
    fn scope(&self, message: Option<&MessageId>) -> Result<Vec<StepTrees>> {
        let mut steps = match self.pending {
            Some(cut) => cut.before(&self.messages, &self.steps),
            None => self.steps.clone(),
        };
        if let Some(id) = message {
            if position(&self.messages, id).is_none() {
                return Err(ReviewError::missing("message", id.as_str()));
            }
            let turn = steps::turn(&self.messages, id);
            steps.retain(|step| turn.contains(&step.message));
        }
        Ok(steps)
    }

    /// Where taking back a file belongs: behind the steps it takes back, if nothing changed
    /// the file since.
    fn end_of(&self, steps: &[StepTrees], path: &str) -> Option<usize> {
        let Some(end) = steps.last().map(|step| step.message) else {
            return self.last_visible();
        };
        let file = self.worktree.join(path).display().to_string();
        let named = |step: &StepTrees| step.named.iter().any(|one| *one == file || one == path);
        let later = |step: &&StepTrees| step.message > end && named(step);
        match self.steps.iter().find(later) {
            Some(_) => self.last_visible(),
            None => Some(end),
        }
    }

    fn last_visible(&self) -> Option<usize> {
        let end = match self.pending {
            Some(cut) => cut.message + usize::from(cut.part > 0),
            None => self.messages.len(),
        };
        end.checked_sub(1)
    }

    fn snapshot(&self, message: &MessageId, part: &PartId) -> Result<TreeId> {
        let at = position(&self.messages, message)
            .ok_or_else(|| ReviewError::missing("message", message.as_str()))?;
        let found = part_position(&self.messages[at], part);
        let found = found.and_then(|part| self.messages[at].parts.get(part));
        match found {
            Some(Part::Snapshot(part)) => Ok(part.snapshot.parse::<TreeId>()?),
            _ => Err(ReviewError::missing("snapshot", part.as_str())),
        }
    }

    /// Takes the safety snapshot; the part that tells of it is not stored yet.
    async fn safety_part(&self, told_on: Option<usize>) -> Result<Option<SnapshotPart>> {
        let Some(message) = told_on.and_then(|at| self.messages.get(at)) else {
            return Ok(None);
        };
        let label = self.session.id.to_string();
        let take = move |repo: &SideRepo| Ok(repo.take(&label)?.hash);
        let tree = self.review.snapshots.with(&self.worktree, take).await?;
        let records = &self.review.records;
        Ok(Some(SnapshotPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message.info.id().clone(),
            snapshot: tree.to_string(),
            name: None,
            reverted_files: None,
            skipped: None,
            extra: Extra::default(),
        }))
    }

    async fn act(
        &mut self,
        task: Task,
        part: Option<SnapshotPart>,
        cut: Option<Cut>,
    ) -> Result<Planned> {
        let Some(mut part) = part else {
            return Err(ReviewError::refused("There is nothing to take back"));
        };
        let safety: TreeId = part.snapshot.parse()?;
        let planned = self.review.snapshots.with(&self.worktree, move |repo| {
            Planned::new(repo, &task, safety, &Net::default())
        });
        let mut planned = planned.await?;
        self.review
            .records
            .put_part(Part::Snapshot(part.clone()))
            .await?;
        let mut round = Round {
            safety: part.snapshot.clone(),
            hides: cut.is_some(),
            cut: cut.and_then(|cut| cut.state(&self.messages)),
            files: moved(
                planned
                    .moves
                    .values()
                    .map(|one| (one.path.to_string(), one.target)),
            ),
            part: Some((part.message_id.clone(), part.id.clone())),
        };
        let earlier = rounds::load(&self.review, &self.session.id).await?;
        let with = |round: &Round| {
            let mut rounds = earlier.clone();
            rounds.push(round.clone());
            rounds
        };
        rounds::save(&self.review, &self.session.id, with(&round)).await?;

        let (trash, label) = (self.trash(), self.session.id.to_string());
        let done = self.review.snapshots.with(&self.worktree, move |repo| {
            let touched = planned.apply(repo, &trash);
            // Kept so that what was made can be told from what somebody makes of it later.
            let after = repo.take(&label)?.hash;
            Ok((planned, touched, after))
        });
        let (planned, touched, after) = done.await?;
        let to = |path| planned.moves.get(path).map_or(after, |one| one.target);
        round.files = moved(touched.iter().map(|path| (path.to_string(), to(path))));
        let rounds = if round.files.is_empty() {
            earlier
        } else {
            with(&round)
        };
        rounds::save(&self.review, &self.session.id, rounds).await?;
        if cut.is_none() && !touched.is_empty() {
            part.reverted_files = Some(RevertedFiles {
                after: after.to_string(),
                files: touched.iter().map(ToString::to_string).collect(),
                extra: Extra::default(),
            });
            self.review.records.put_part(Part::Snapshot(part)).await?;
        }
        self.tell_of_files(&touched);
        Ok(planned)
    }

    async fn hide(&mut self, cut: Cut) -> Result<()> {
        let Some((message_id, part_id)) = cut.state(&self.messages) else {
            return Ok(());
        };
        let rounds = rounds::load(&self.review, &self.session.id).await?;
        let first = rounds.iter().find(|round| round.hides);
        let snapshot = first.map(|round| round.safety.clone());
        let state = RevertState {
            message_id,
            part_id,
            snapshot,
            diff: None,
            extra: Extra::default(),
        };
        self.set_state(Some(state)).await
    }

    async fn set_state(&mut self, state: Option<RevertState>) -> Result<()> {
        let id = self.session.id.clone();
        let records = &self.review.records;
        let edit = move |session: &mut Session| session.revert = state;
        self.session = records.update_session(&id, edit).await?;
        Ok(())
    }

    fn tell_of_files(&self, touched: &[lathe_snapshot::RelPath]) {
        for path in touched {
            let file = self.worktree.join(path.to_string()).display().to_string();
            self.review.records.publish(Event::FileEdited { file });
        }
    }

    /// Where files go that taking back removes.
    fn trash(&self) -> PathBuf {
        let folder = self.review.data_dir.join("reverted");
        folder.join(self.session.id.as_str())
    }
}

/// What tasks would come to, one after the other. Blocks: trees and files are read.
fn foreseen(repo: &SideRepo, tasks: &[Task], now: TreeId) -> Result<Vec<RevertFile>> {
    let mut net = Net::default();
    for task in tasks {
        let planned = Planned::new(repo, task, now, &net)?;
        net.add(&planned);
    }
    net.files(repo)
}

fn moved(files: impl Iterator<Item = (String, TreeId)>) -> Vec<Moved> {
    files
        .map(|(path, to)| Moved {
            path,
            to: to.to_string(),
        })
        .collect()
}

/// Makes a pending revert final: what was hidden goes. The newest goes first, so that a crash
/// in between leaves something that can be hidden and removed again.
pub async fn settle(review: &Review, session: Session) -> Result<Session> {
    let Some(state) = &session.revert else {
        return Ok(session);
    };
    let id = session.id.clone();
    let records = &review.records;
    let messages = records.messages(&id, None, usize::MAX).await?.messages;
    if let Some(cut) = Cut::of(&messages, state) {
        let whole = cut.message + usize::from(cut.part > 0);
        for message in messages.iter().skip(whole).rev() {
            remove_message(review, &id, message.info.id()).await?;
        }
        if cut.part > 0 {
            let parts = messages[cut.message].parts.iter().skip(cut.part);
            for part in parts.rev() {
                records.remove_part(part).await?;
            }
        }
    }
    let mut rounds = rounds::load(review, &id).await?;
    if let Some(first) = rounds.iter().position(|round| round.hides) {
        rounds.truncate(first);
        rounds::save(review, &id, rounds).await?;
    }
    let done = |session: &mut Session| session.revert = None;
    Ok(records.update_session(&id, done).await?)
}

async fn remove_message(review: &Review, session: &SessionId, id: &MessageId) -> Result<()> {
    review.records.store().remove_message(session, id).await?;
    review.records.publish(Event::MessageRemoved {
        session_id: session.clone(),
        message_id: id.clone(),
    });
    Ok(())
}
