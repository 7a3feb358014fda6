//! Reverts to a message, a part, a file, a hunk or a snapshot.
//!
//! A safety snapshot is taken first, and a snapshot part marks it in the timeline. The revert is
//! logged before files are changed, so that it can be undone after a crash too. Messages after
//! the cut are hidden at once and removed by the next prompt. The caller makes sure that no
//! turn or other process works on the session meanwhile.

mod cut;
mod finalize;
mod net_effect;
mod plan;
mod target;
mod undo;
mod undo_log;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{RevertFile, RevertOutcome, RevertPreview, RevertTarget};
use lathe_protocol::{
    Event, Extra, MessageWithParts, Part, RevertState, RevertedFiles, Session, SnapshotPart,
};
use lathe_snapshot::{SideRepo, TreeId};

use crate::Review;
use crate::error::{Result, ReviewError};
use crate::snapshots::temporary_label;
use crate::steps::{self, StepTrees};
pub use cut::Cut;
pub use finalize::finalize;
use net_effect::NetEffect;
use plan::{RevertPlan, RevertTask};
use target::Found;
pub use undo_log::count_undoable;
use undo_log::{RevertedFile, UndoEntry};

/// A revert of a session's files or messages.
pub struct Revert {
    review: Arc<Review>,
    session: Session,
    worktree: PathBuf,
    messages: Vec<MessageWithParts>,
    steps: Vec<StepTrees>,
    /// The cut of a pending revert.
    pending: Option<Cut>,
    /// The cut from which files are already reverted. It is later than `pending` where a revert
    /// hid messages but left the files alone.
    reverted_from: Option<Cut>,
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
            .and_then(|state| Cut::find(&messages, state));
        let entries = undo_log::load(review, &session.id).await?;
        let safety = session
            .revert
            .as_ref()
            .and_then(|state| state.snapshot.as_ref());
        // Other programs and older versions only store that files were reverted.
        let reverted_from = undo_log::files_reverted_from(&entries, &messages, pending)
            .or_else(|| pending.filter(|_| safety.is_some()));
        Ok(Revert {
            review: review.clone(),
            steps: steps::read(&messages),
            session,
            worktree: worktree.to_owned(),
            messages,
            pending,
            reverted_from,
        })
    }

    pub async fn preview(mut self, target: &RevertTarget) -> Result<RevertPreview> {
        let mut found = self.find(target)?;
        let mut tasks = Vec::new();
        if self.shows_more(&found) {
            tasks = self.plan_undo_hiding().await?;
            found = self.find(target)?;
        }
        tasks.extend(found.task);
        let hides_messages = found.cut.map_or(0, |cut| cut.hidden_count(&self.messages));
        if tasks.is_empty() {
            return Ok(RevertPreview {
                files: Vec::new(),
                hides_messages,
            });
        }
        let label = temporary_label(&self.session.id);
        let files = self
            .review
            .snapshots
            .with_repo(&self.worktree, move |repo| {
                let now = repo.take(&label)?;
                let files = preview_files(repo, &tasks, now.hash);
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
        let mut effect = NetEffect::default();
        if self.shows_more(&found) {
            effect = self.undo_hiding().await?;
            found = self.find(target)?;
        }
        if let Some(task) = found.task {
            let part = self.safety_part(found.marked_on).await?;
            effect.add(&self.apply(task, part, found.cut).await?);
        }
        let hides_messages = found.cut.map_or(0, |cut| cut.hidden_count(&self.messages));
        if let Some(cut) = found.cut {
            self.hide(cut).await?;
        }
        self.outcome(effect, hides_messages).await
    }

    /// Whether less is hidden than before: the pending revert is then undone first.
    fn shows_more(&self, found: &Found) -> bool {
        let cuts = found.cut.zip(self.pending);
        cuts.is_some_and(|(cut, pending)| cut > pending)
    }

    async fn outcome(self, effect: NetEffect, hides_messages: usize) -> Result<RevertOutcome> {
        let files = if effect.is_empty() {
            Vec::new()
        } else {
            let describe = move |repo: &SideRepo| effect.describe(repo);
            self.review
                .snapshots
                .with_repo(&self.worktree, describe)
                .await?
        };
        Ok(RevertOutcome {
            undoable: undo_log::count_undoable(&self.review, &self.session).await?,
            session: self.session,
            files,
            hides_messages,
        })
    }

    /// Takes the safety snapshot and returns its part, which is not stored yet.
    async fn safety_part(&self, marked_on: Option<usize>) -> Result<Option<SnapshotPart>> {
        let Some(message) = marked_on.and_then(|at| self.messages.get(at)) else {
            return Ok(None);
        };
        let label = self.session.id.to_string();
        let take = move |repo: &SideRepo| Ok(repo.take(&label)?.hash);
        let tree = self
            .review
            .snapshots
            .with_repo(&self.worktree, take)
            .await?;
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

    async fn apply(
        &mut self,
        task: RevertTask,
        part: Option<SnapshotPart>,
        cut: Option<Cut>,
    ) -> Result<RevertPlan> {
        let Some(mut part) = part else {
            return Err(ReviewError::refused("There is nothing to take back"));
        };
        let safety: TreeId = part.snapshot.parse()?;
        let planned = self
            .review
            .snapshots
            .with_repo(&self.worktree, move |repo| {
                RevertPlan::new(repo, &task, safety, &NetEffect::default())
            });
        let mut planned = planned.await?;
        self.review
            .records
            .put_part(Part::Snapshot(part.clone()))
            .await?;
        let mut entry = UndoEntry {
            safety: part.snapshot.clone(),
            hides: cut.is_some(),
            cut: cut.and_then(|cut| cut.ids(&self.messages)),
            files: reverted_files(
                planned
                    .moves
                    .values()
                    .map(|one| (one.path.to_string(), one.target)),
            ),
            part: Some((part.message_id.clone(), part.id.clone())),
        };
        let earlier = undo_log::load(&self.review, &self.session.id).await?;
        let with = |entry: &UndoEntry| {
            let mut entries = earlier.clone();
            entries.push(entry.clone());
            entries
        };
        undo_log::save(&self.review, &self.session.id, with(&entry)).await?;

        let (trash, label) = (self.trash(), self.session.id.to_string());
        let done = self
            .review
            .snapshots
            .with_repo(&self.worktree, move |repo| {
                let touched = planned.apply(repo, &trash);
                // Shows later whether a file was changed after the revert.
                let after = repo.take(&label)?.hash;
                Ok((planned, touched, after))
            });
        let (planned, touched, after) = done.await?;
        let to = |path| planned.moves.get(path).map_or(after, |one| one.target);
        entry.files = reverted_files(touched.iter().map(|path| (path.to_string(), to(path))));
        let entries = if entry.files.is_empty() {
            earlier
        } else {
            with(&entry)
        };
        undo_log::save(&self.review, &self.session.id, entries).await?;
        if cut.is_none() && !touched.is_empty() {
            part.reverted_files = Some(RevertedFiles {
                after: after.to_string(),
                files: touched.iter().map(ToString::to_string).collect(),
                extra: Extra::default(),
            });
            self.review.records.put_part(Part::Snapshot(part)).await?;
        }
        self.publish_file_edits(&touched);
        Ok(planned)
    }

    async fn hide(&mut self, cut: Cut) -> Result<()> {
        let Some((message_id, part_id)) = cut.ids(&self.messages) else {
            return Ok(());
        };
        let entries = undo_log::load(&self.review, &self.session.id).await?;
        let first = entries.iter().find(|entry| entry.hides);
        let snapshot = first.map(|entry| entry.safety.clone());
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

    fn publish_file_edits(&self, touched: &[lathe_snapshot::RelPath]) {
        for path in touched {
            let file = self.worktree.join(path.to_string()).display().to_string();
            self.review.records.publish(Event::FileEdited { file });
        }
    }

    /// The folder for files that a revert removes.
    fn trash(&self) -> PathBuf {
        let folder = self.review.data_dir.join("reverted");
        folder.join(self.session.id.as_str())
    }
}

/// The net effect of tasks that are planned one after the other. Reads trees and files: blocks.
fn preview_files(repo: &SideRepo, tasks: &[RevertTask], now: TreeId) -> Result<Vec<RevertFile>> {
    let mut effect = NetEffect::default();
    for task in tasks {
        let planned = RevertPlan::new(repo, task, now, &effect)?;
        effect.add(&planned);
    }
    effect.describe(repo)
}

fn reverted_files(files: impl Iterator<Item = (String, TreeId)>) -> Vec<RevertedFile> {
    files
        .map(|(path, to)| RevertedFile {
            path,
            to: to.to_string(),
        })
        .collect()
}
