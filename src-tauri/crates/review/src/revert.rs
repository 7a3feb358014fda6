//! Reverts to a message, a part, a file or a snapshot, and of single lines.
//!
//! A safety snapshot is taken first, and a snapshot part marks it in the timeline. The revert is
//! logged before files are changed, so that it can be undone after a crash too. Messages after
//! the cut are hidden at once and removed by the next prompt; what it removed stays in the list
//! "Reverted and removed". The caller makes sure that no turn or other process works on the
//! session meanwhile.

pub mod archive;
mod cut;
mod edit;
mod finalize;
mod late_saves;
mod left;
mod net_effect;
mod plan;
mod planned_edits;
mod planned_steps;
mod recover;
mod round;
mod target;
pub mod trash;
mod undo;
mod undo_log;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::{
    RevertChange, RevertFile, RevertOptions, RevertOutcome, RevertPreview, RevertTarget,
};
use lathe_protocol::{Event, Extra, MessageWithParts, RevertState, Session};
use lathe_snapshot::SideRepo;

use crate::Review;
use crate::error::Result;
use crate::snapshots::{OUTSIDE, temporary_label};
use crate::steps::{self, StepTrees};
pub use cut::Cut;
pub use edit::Edited;
pub use finalize::finalize;
pub(crate) use left::{CUT_SHORT, SHARED};
use net_effect::NetEffect;
use plan::{Place, RevertPlan, RevertTask, Touched};
pub(crate) use planned_steps::BROKEN;
pub use recover::{is_interrupted, recover};
use target::Found;
pub use undo_log::{RevertedFile, UndoEntry, count_undoable, left_by_pending, newest_part};

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
    /// The files that the pending revert left as they were, by name.
    left: BTreeSet<String>,
    /// The item of the list "Reverted and removed" with what an undo could not bring back.
    left_in: Option<String>,
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
            left: undo_log::still_left(&entries),
            left_in: None,
        })
    }

    pub async fn preview(
        mut self,
        target: &RevertTarget,
        options: &RevertOptions,
    ) -> Result<RevertPreview> {
        let mut found = self.find(target)?;
        let mut tasks = Vec::new();
        if self.shows_more(&found) {
            tasks = self.plan_undo_hiding().await?;
            found = self.find(target)?;
        }
        tasks.extend(found.task.clone());
        let files = self.preview_files(tasks, options).await?;
        let hides = hidden_by(&found, &files, options);
        let hides_messages = hides.map_or(0, |cut| cut.hidden_count(&self.messages));
        Ok(RevertPreview {
            complete: is_complete(&files, &found.unknown),
            files,
            hides_messages,
            unknown: found.unknown,
            not_kept: found.not_kept,
        })
    }

    pub async fn perform(
        mut self,
        target: &RevertTarget,
        options: &RevertOptions,
    ) -> Result<RevertOutcome> {
        let mut found = self.find(target)?;
        let mut effect = NetEffect::default();
        if self.shows_more(&found) {
            effect = self.undo_hiding(&RevertOptions::default()).await?;
            found = self.find(target)?;
        }
        let hides = match &found.task {
            Some(task) if task.has_cut_short_calls() => {
                let files = self.preview_files(vec![task.clone()], options).await?;
                hidden_by(&found, &files, options)
            }
            _ => hidden_by(&found, &[], options),
        };
        if let Some(task) = found.task {
            for planned in self
                .apply(task, (found.marked_on, found.cut), hides, options)
                .await?
            {
                effect.add(&planned);
            }
        }
        if let Some(cut) = hides {
            self.hide(cut).await?;
        }
        let hides_messages = hides.map_or(0, |cut| cut.hidden_count(&self.messages));
        let mut outcome = self.outcome(effect, hides_messages, found.unknown).await?;
        outcome.not_kept = found.not_kept;
        Ok(outcome)
    }

    /// Whether less is hidden than before: the pending revert is then undone first.
    fn shows_more(&self, found: &Found) -> bool {
        let cuts = found.cut.zip(self.pending);
        cuts.is_some_and(|(cut, pending)| cut > pending)
    }

    async fn outcome(
        self,
        effect: NetEffect,
        hides_messages: usize,
        unknown: Vec<String>,
    ) -> Result<RevertOutcome> {
        let effect = Arc::new(effect);
        let mut files = Vec::new();
        for outside in [false, true] {
            if effect.is_about(outside) {
                let effect = effect.clone();
                let described = self.at(outside, None, move |place| effect.describe(place));
                files.extend(described.await?);
            }
        }
        Ok(RevertOutcome {
            undoable: undo_log::count_undoable(&self.review, &self.session).await?,
            left_in: self.left_in,
            session: self.session,
            complete: is_complete(&files, &unknown),
            files,
            hides_messages,
            unknown,
            not_kept: Vec::new(),
        })
    }

    /// The net effect of tasks that are planned one after the other.
    async fn preview_files(
        &self,
        tasks: Vec<RevertTask>,
        options: &RevertOptions,
    ) -> Result<Vec<RevertFile>> {
        let mut files = Vec::new();
        for outside in [false, true] {
            let mut mine = tasks.clone();
            mine.retain(|task| task.is_about(outside));
            if mine.is_empty() {
                continue;
            }
            let (label, options) = (temporary_label(&self.session.id), options.clone());
            let planned = move |repo: &SideRepo| {
                let needs_now = mine.iter().any(|task| matches!(task, RevertTask::Tree(_)));
                let now = match needs_now {
                    // As the revert itself, it must not fail for want of room.
                    true => Some(repo.take_safety(&label)?.hash),
                    false => None,
                };
                let place = Place {
                    repo,
                    outside,
                    label: &label,
                    now,
                    options: &options,
                };
                let mut effect = NetEffect::default();
                for task in &mine {
                    effect.add(&RevertPlan::new(&place, task, &effect)?);
                }
                let files = effect.describe(&place);
                repo.release(&repo.references(&label)?)?;
                files
            };
            let snapshots = &self.review.snapshots;
            files.extend(snapshots.with_repo(self.root(outside), planned).await?);
        }
        Ok(files)
    }

    /// Runs blocking work inside or outside of the project, without choices of the person.
    async fn at<T: Send + 'static>(
        &self,
        outside: bool,
        options: Option<RevertOptions>,
        work: impl FnOnce(&Place<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let label = self.session.id.to_string();
        let run = move |repo: &SideRepo| {
            let options = options.unwrap_or_default();
            work(&Place {
                repo,
                outside,
                label: &label,
                now: None,
                options: &options,
            })
        };
        let snapshots = &self.review.snapshots;
        snapshots.with_repo(self.root(outside), run).await
    }

    fn root(&self, outside: bool) -> &Path {
        match outside {
            true => Path::new(OUTSIDE),
            false => &self.worktree,
        }
    }

    async fn hide(&mut self, cut: Cut) -> Result<()> {
        let Some((message_id, part_id)) = cut.ids(&self.messages) else {
            return Ok(());
        };
        let place = (message_id.clone(), part_id.clone());
        let entries = undo_log::load(&self.review, &self.session.id).await?;
        let mut hiding = entries.iter().filter(|entry| entry.hides);
        let first = hiding.find(|entry| !entry.files.is_empty());
        let snapshot = first.map(|entry| entry.safety.clone());
        let state = RevertState {
            message_id,
            part_id,
            snapshot,
            diff: None,
            extra: Extra::default(),
        };
        self.set_state(Some(state)).await?;
        let (review, id) = (&self.review, &self.session.id);
        if let Some(newest) = self.messages.last() {
            undo_log::join_partial(review, id, &place, newest.info.id()).await?;
        }
        undo_log::close_newest(review, id).await
    }

    async fn set_state(&mut self, state: Option<RevertState>) -> Result<()> {
        let id = self.session.id.clone();
        let records = &self.review.records;
        let edit = move |session: &mut Session| session.revert = state;
        self.session = records.update_session(&id, edit).await?;
        Ok(())
    }

    fn publish_file_edits(&self, outside: bool, touched: &[Touched]) {
        for one in touched {
            let file = self.root(outside).join(one.path.to_string());
            let file = file.display().to_string();
            self.review.records.publish(Event::FileEdited { file });
        }
    }

    /// The folder for files that a revert removes.
    fn trash(&self) -> PathBuf {
        trash::folder(&self.review, &self.session.id)
    }
}

/// Whether a pending revert begins where this entry's messages were hidden.
fn has_cut(state: &RevertState, entry: &UndoEntry) -> bool {
    let cut = entry.cut.as_ref();
    cut.is_some_and(|(message, part)| *message == state.message_id && *part == state.part_id)
}

/// Messages are not hidden while it is not known what they did: their effects may still be there.
fn hidden_by(found: &Found, files: &[RevertFile], options: &RevertOptions) -> Option<Cut> {
    let left = files
        .iter()
        .any(|file| file.change == RevertChange::Unknown);
    let is_known = found.unknown.is_empty() && !left;
    found.cut.filter(|_| is_known || options.force)
}

impl RevertTask {
    fn has_cut_short_calls(&self) -> bool {
        match self {
            RevertTask::Steps { steps, .. } => steps.iter().any(StepTrees::is_cut_short),
            RevertTask::Edits(_) | RevertTask::Tree(_) | RevertTask::Undo(_) => false,
        }
    }

    /// Whether the task concerns files outside of the project, or inside.
    fn is_about(&self, outside: bool) -> bool {
        match self {
            RevertTask::Steps { steps, only, again } => {
                let mut all = steps.iter().chain(&again.steps);
                let named = only.as_ref().map(|only| only.starts_with('/'));
                named.map_or_else(
                    || all.any(|step| step.is_outside() == outside),
                    |is| is == outside,
                )
            }
            RevertTask::Edits(_) | RevertTask::Tree(_) => !outside,
            RevertTask::Undo(entry) => entry.is_about(outside),
        }
    }
}

fn is_complete(files: &[RevertFile], unknown: &[String]) -> bool {
    unknown.is_empty() && !files.iter().any(|file| file.change.is_open())
}
