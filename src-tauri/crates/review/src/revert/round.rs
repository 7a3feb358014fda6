//! One round of a revert: planned, logged, carried out, logged again.

use std::collections::{BTreeMap, BTreeSet};

use lathe_protocol::ipc::RevertOptions;
use lathe_protocol::{Extra, MessageId, Part, PartId, RevertedFiles, SnapshotPart};
use lathe_snapshot::{FileImage, PathRestore, RelPath, TreeId};

use super::Revert;
use super::archive;
use super::cut::Cut;
use super::net_effect::NetEffect;
use super::plan::{Place, RevertPlan, RevertTask, Touched};
use super::trash;
use super::undo_log::{self, RevertedFile, Underway, UndoEntry};
use crate::error::{Result, ReviewError};
use crate::steps::BEFORE_REVERT;

/// A plan for one of the two places, before and after it was carried out.
pub(super) struct Round {
    pub outside: bool,
    pub planned: RevertPlan,
    pub touched: Vec<Touched>,
}

impl Revert {
    pub(super) async fn apply(
        &mut self,
        task: RevertTask,
        (marked_on, cut): (Option<usize>, Option<Cut>),
        hides: Option<Cut>,
        options: &RevertOptions,
    ) -> Result<Vec<RevertPlan>> {
        let Some(message) = marked_on.and_then(|at| self.messages.get(at)) else {
            return Err(ReviewError::refused("Nothing to revert"));
        };
        let message = message.info.id().clone();
        let newest = self.messages.last().map(|last| last.info.id().clone());
        let taken = self
            .review
            .snapshots
            .take_safety(&self.worktree, &self.session.id)
            .await;
        if let (Err(why), RevertTask::Tree(_)) = (&taken, &task) {
            return Err(ReviewError::refused(format!(
                "The files as they are now couldn’t be saved first: {why}"
            )));
        }
        let mut rounds = self
            .plan(&task, taken.as_ref().ok().copied(), options)
            .await?;
        let safety = match taken {
            Ok(tree) => tree,
            // Each file that will be touched is saved by itself: that always fits.
            Err(_) => match self.save_planned(&rounds).await? {
                Some(tree) => tree,
                None => return Ok(rounds.into_iter().map(|round| round.planned).collect()),
            },
        };
        let records = &self.review.records;
        let mut part = SnapshotPart {
            id: records.ids().part(records.now()),
            session_id: self.session.id.clone(),
            message_id: message,
            snapshot: safety.to_string(),
            name: None,
            reverted_files: None,
            skipped: None,
            extra: Extra::default(),
        };
        records.put_part(Part::Snapshot(part.clone())).await?;
        let mut entry = UndoEntry {
            safety: part.snapshot.clone(),
            hides: hides.is_some(),
            cut: cut.and_then(|cut| cut.ids(&self.messages)),
            partly: newest.filter(|_| cut.is_some() && hides.is_none()),
            files: rounds.iter().flat_map(Round::planned_files).collect(),
            left: rounds.iter().flat_map(Round::left).collect(),
            part: Some((part.message_id.clone(), part.id.clone())),
            underway: Some(Underway::Reverting),
        };
        let earlier = undo_log::load(&self.review, &self.session.id).await?;
        let with = |entry: &UndoEntry| {
            let mut entries = earlier.clone();
            entries.push(entry.clone());
            entries
        };
        undo_log::save(&self.review, &self.session.id, with(&entry)).await?;
        for round in &mut rounds {
            self.carry_out(round).await?;
        }
        entry.files = rounds.iter().flat_map(Round::touched_files).collect();
        entry.left = rounds.iter().flat_map(Round::left).collect();
        if entry.hides {
            entry.underway = Some(Underway::Hiding);
        }
        // A revert that only left files is remembered, too, until the person has decided.
        let decides = !entry.left.is_empty() || !options.choices.is_empty();
        let entries = match entry.files.is_empty() && !(entry.hides && decides) {
            true => earlier.clone(),
            false => with(&entry),
        };
        undo_log::save(&self.review, &self.session.id, entries).await?;
        if hides.is_none() {
            part.reverted_files = self.reverted_files(&rounds).await?;
            if part.reverted_files.is_some() {
                self.review.records.put_part(Part::Snapshot(part)).await?;
            }
            undo_log::close_newest(&self.review, &self.session.id).await?;
        }
        for round in &rounds {
            self.publish_file_edits(round.outside, &round.touched);
        }
        Ok(rounds.into_iter().map(|round| round.planned).collect())
    }

    pub(super) async fn plan(
        &self,
        task: &RevertTask,
        now: Option<TreeId>,
        options: &RevertOptions,
    ) -> Result<Vec<Round>> {
        let mut rounds = Vec::new();
        for outside in [false, true] {
            if !task.is_about(outside) {
                continue;
            }
            let task = task.clone();
            let planned = self.at(outside, Some(options.clone()), move |place| {
                let place = Place { now, ..*place };
                RevertPlan::new(&place, &task, &NetEffect::default())
            });
            rounds.push(Round {
                outside,
                planned: planned.await?,
                touched: Vec::new(),
            });
        }
        Ok(rounds)
    }

    /// A tree with the files that a plan moves, as they are now.
    async fn save_planned(&self, rounds: &[Round]) -> Result<Option<TreeId>> {
        let Some(round) = rounds.iter().find(|round| !round.planned.moves.is_empty()) else {
            return Ok(None);
        };
        let paths: Vec<_> = round.planned.moves.keys().cloned().collect();
        let save = move |place: &Place<'_>| {
            let images = paths
                .iter()
                .filter_map(|path| place.repo.read_image(path).ok());
            let images: Vec<FileImage> = images.collect();
            Ok(place.repo.keep_images(place.label, &images)?)
        };
        self.at(round.outside, None, save).await.map(Some)
    }

    pub(super) async fn carry_out(&self, round: &mut Round) -> Result<()> {
        let (trash, now) = (self.trash(), self.review.records.now());
        let mut planned = std::mem::replace(&mut round.planned, RevertPlan::nothing(round.outside));
        let done = self.at(round.outside, None, move |place| {
            let touched = planned.apply(place, &trash)?;
            trash::note_time(&trash, now);
            Ok((planned, touched))
        });
        (round.planned, round.touched) = done.await?;
        Ok(())
    }

    /// What the files of the project were and are, so that a later change of one is noticed.
    async fn reverted_files(&self, rounds: &[Round]) -> Result<Option<RevertedFiles>> {
        let Some(round) = rounds.iter().find(|round| !round.outside) else {
            return Ok(None);
        };
        if round.touched.is_empty() {
            return Ok(None);
        }
        let mut touched = round.touched.clone();
        // What a person has in the file is not the agent's, neither before nor after.
        for one in &mut touched {
            if let Some((from, to)) = round.planned.own.get(&one.path) {
                (one.from, one.to) = (*from, *to);
            }
        }
        let files = touched.iter().map(|one| one.path.to_string()).collect();
        let save = move |place: &Place<'_>| {
            let mut before = Vec::with_capacity(touched.len());
            let mut after = Vec::with_capacity(touched.len());
            for one in &touched {
                before.push(place.repo.image_in(one.from, &one.path)?);
                after.push(place.repo.image_in(one.to, &one.path)?);
            }
            let before = place.repo.keep_images(place.label, &before)?;
            Ok((before, place.repo.keep_images(place.label, &after)?))
        };
        let (before, after) = self.at(false, None, save).await?;
        let mut extra = Extra::default();
        extra
            .0
            .insert(BEFORE_REVERT.to_owned(), before.to_string().into());
        Ok(Some(RevertedFiles {
            after: after.to_string(),
            files,
            extra,
        }))
    }

    /// Undoes one entry. Returns its plans, and what could not be brought back.
    pub(super) async fn undo_entry(
        &self,
        entry: &UndoEntry,
        options: &RevertOptions,
    ) -> Result<(Vec<RevertPlan>, Option<UndoEntry>)> {
        let task = RevertTask::Undo(entry.clone());
        let mut rounds = self.plan(&task, None, options).await?;
        self.keep_replaced(entry, &rounds).await?;
        for round in &mut rounds {
            self.carry_out(round).await?;
            self.publish_file_edits(round.outside, &round.touched);
        }
        self.clear_reverted_mark(entry.part.as_ref()).await?;
        let left: BTreeSet<String> = rounds.iter().flat_map(Round::left).collect();
        let mut remaining = UndoEntry {
            underway: None,
            ..entry.clone()
        };
        remaining.files.retain(|file| left.contains(&file.name()));
        let remaining = Some(remaining).filter(|entry| !entry.files.is_empty());
        let plans = rounds.into_iter().map(|round| round.planned).collect();
        Ok((plans, remaining))
    }

    /// What the person wrote since the revert and wants replaced goes to the list "Reverted and
    /// removed" first.
    async fn keep_replaced(&self, entry: &UndoEntry, rounds: &[Round]) -> Result<()> {
        let mut replaced = UndoEntry {
            safety: entry.safety.clone(),
            ..UndoEntry::default()
        };
        for round in rounds {
            let outside = round.outside;
            let spans = entry.spans(outside);
            let reverted_to: BTreeMap<RelPath, TreeId> =
                spans.map(|(path, _, to)| (path, to)).collect();
            let moves = round.planned.moves.values();
            let mut moves: Vec<PathRestore> = moves.cloned().collect();
            moves.retain(|one| reverted_to.get(&one.path) != Some(&one.post_image));
            if moves.is_empty() {
                continue;
            }
            let find = move |place: &Place<'_>| {
                let mut files = Vec::new();
                for one in moves {
                    let (now, next) = (one.post_image, one.target);
                    let has_file = place.repo.image_in(now, &one.path)?.content.is_some();
                    if has_file && !place.repo.is_same(&one.path, now, next)? {
                        files.push(RevertedFile::new(&one.path, now, next, outside));
                    }
                }
                Ok(files)
            };
            replaced.files.extend(self.at(outside, None, find).await?);
        }
        match replaced.files.is_empty() {
            true => Ok(()),
            false => archive::add_replaced(&self.review, &self.session.id, replaced).await,
        }
    }

    /// The files count as the agent's changes again.
    pub(super) async fn clear_reverted_mark(
        &self,
        part: Option<&(MessageId, PartId)>,
    ) -> Result<()> {
        let Some((message, part)) = part else {
            return Ok(());
        };
        let found = self.review.records.store().part(message, part).await?;
        if let Some(Part::Snapshot(mut part)) = found
            && part.reverted_files.take().is_some()
        {
            self.review.records.put_part(Part::Snapshot(part)).await?;
        }
        Ok(())
    }
}

impl Round {
    fn planned_files(&self) -> Vec<RevertedFile> {
        let moves = self.planned.moves.values();
        moves
            .map(|one| RevertedFile::new(&one.path, one.post_image, one.target, self.outside))
            .collect()
    }

    fn touched_files(&self) -> Vec<RevertedFile> {
        let touched = self.touched.iter();
        touched
            .map(|one| RevertedFile::new(&one.path, one.from, one.to, self.outside))
            .collect()
    }

    fn left(&self) -> Vec<String> {
        let files = self.planned.files.iter();
        let left = files.filter(|file| file.change.is_open());
        left.map(|file| file.path.clone()).collect()
    }
}
