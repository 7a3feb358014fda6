//! Edits of single lines and files, which are merged into the files as they are now.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_protocol::ipc::{RevertFile, RevertOptions};
use lathe_protocol::{MessageId, Part, PartId};
use lathe_snapshot::{FileImage, PathRestore, RelPath, SideRepo, TreeId};

use super::Revert;
use super::plan::{Merge, RevertPlan, RevertTask};
use super::undo_log::{self, RevertedFile, UndoEntry};
use crate::error::{Result, ReviewError};
use crate::judge::{self, Edit, PlannedEdit};
use crate::record::Moved;
use crate::snapshots::temporary_label;
use crate::steps::BEFORE_REVERT;

const NO_MESSAGE: &str =
    "A revert is noted in the timeline, and there is no message yet. Send a prompt first";

/// What edits did to files.
#[derive(Debug, Default)]
pub struct Edited {
    pub files: Vec<RevertFile>,
    /// Absent if nothing was changed.
    pub moved: Option<Moved>,
}

impl Revert {
    /// What the edits would come to.
    pub async fn preview_edits(
        &self,
        edits: Vec<Edit>,
        options: &RevertOptions,
    ) -> Result<Vec<PlannedEdit>> {
        if self.last_visible().is_none() {
            return Err(ReviewError::refused(NO_MESSAGE));
        }
        let choices = options.choices.clone();
        let plan = move |repo: &SideRepo| {
            let mut planned = Vec::with_capacity(edits.len());
            for edit in &edits {
                let choose = |path: &RelPath| choices.get(&path.to_string()).copied();
                planned.extend(judge::plan(repo, edit, choose)?);
            }
            Ok(planned)
        };
        self.review.snapshots.with_repo(&self.worktree, plan).await
    }

    /// Carries edits out. They are logged first, so that they can be undone after a crash too.
    pub async fn edit(&mut self, edits: Vec<Edit>, options: &RevertOptions) -> Result<Edited> {
        let merges = self.keep_edits(edits).await?;
        self.merge(merges, options).await
    }

    async fn merge(&mut self, merges: Vec<Merge>, options: &RevertOptions) -> Result<Edited> {
        if merges.is_empty() {
            return Ok(Edited::default());
        }
        let last = self.last_entry().await?;
        let marked_on = self.last_visible();
        let plans = self
            .apply(RevertTask::Edits(merges), (marked_on, None), None, options)
            .await?;
        let entry = self.last_entry().await?;
        let new = entry.filter(|entry| last.as_ref().is_none_or(|last| last.part != entry.part));
        let moved = match new {
            Some(entry) => Some(Moved {
                own: self.own_files(entry.part.as_ref()).await?,
                files: entry.files,
                part: entry.part,
            }),
            None => None,
        };
        Ok(Edited {
            files: files_of(plans),
            moved,
        })
    }

    /// What the part that marks a revert says about the agent's own content.
    async fn own_files(&self, part: Option<&(MessageId, PartId)>) -> Result<Vec<RevertedFile>> {
        let Some((message, part)) = part else {
            return Ok(Vec::new());
        };
        let part = self.review.records.store().part(message, part).await?;
        let Some(Part::Snapshot(part)) = part else {
            return Ok(Vec::new());
        };
        let Some(reverted) = part.reverted_files else {
            return Ok(Vec::new());
        };
        let before = reverted.extra.0.get(BEFORE_REVERT);
        let before: Option<TreeId> = before.and_then(|tree| tree.as_str()?.parse().ok());
        let after: Option<TreeId> = reverted.after.parse().ok();
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(Vec::new());
        };
        let paths = reverted.files.iter();
        let paths = paths.filter_map(|name| RelPath::new(name).ok());
        Ok(paths
            .map(|path| RevertedFile::new(&path, before, after, false))
            .collect())
    }

    /// Undoes edits, or does them again. With an open conflict nothing is done.
    pub async fn move_back(&mut self, moved: &Moved, options: &RevertOptions) -> Result<Edited> {
        let merge = |(path, from, to): (RelPath, TreeId, TreeId)| {
            let change = PathRestore {
                path,
                target: from,
                post_image: to,
            };
            Merge::new(change, (to, from))
        };
        let spans = moved.files.iter().filter_map(RevertedFile::span);
        let task = RevertTask::Edits(spans.map(merge).collect());
        let mut rounds = self.plan(&task, None, options).await?;
        let open: Vec<RevertFile> = rounds
            .iter()
            .flat_map(|round| round.planned.files.iter())
            .filter(|file| file.change.is_open())
            .cloned()
            .collect();
        if !open.is_empty() {
            return Ok(Edited {
                files: open,
                moved: None,
            });
        }
        for round in &mut rounds {
            self.carry_out(round).await?;
            self.publish_file_edits(round.outside, &round.touched);
        }
        self.forget_entry(moved.part.as_ref()).await?;
        Ok(Edited {
            files: files_of(rounds.into_iter().map(|round| round.planned).collect()),
            moved: Some(moved.clone()),
        })
    }

    /// The same edits once more.
    pub async fn edit_again(&mut self, moved: &Moved, options: &RevertOptions) -> Result<Edited> {
        let own: BTreeMap<RelPath, (TreeId, TreeId)> = moved
            .own
            .iter()
            .filter_map(RevertedFile::span)
            .map(|(path, from, to)| (path, (from, to)))
            .collect();
        let merges: Vec<Merge> = moved
            .files
            .iter()
            .filter_map(RevertedFile::span)
            .map(|(path, from, to)| {
                let own = own.get(&path).copied().unwrap_or((from, to));
                let change = PathRestore {
                    path,
                    target: to,
                    post_image: from,
                };
                Merge::new(change, own)
            })
            .collect();
        let task = RevertTask::Edits(merges.clone());
        let rounds = self.plan(&task, None, options).await?;
        let files = rounds.iter().flat_map(|round| &round.planned.files);
        let open: Vec<RevertFile> = files
            .filter(|file| file.change.is_open())
            .cloned()
            .collect();
        if !open.is_empty() {
            return Ok(Edited {
                files: open,
                moved: None,
            });
        }
        self.merge(merges, options).await
    }

    async fn last_entry(&self) -> Result<Option<UndoEntry>> {
        Ok(undo_log::load(&self.review, &self.session.id).await?.pop())
    }

    /// The revert is undone: its files count as the agent's changes again.
    async fn forget_entry(&self, part: Option<&(MessageId, PartId)>) -> Result<()> {
        let mut entries = undo_log::load(&self.review, &self.session.id).await?;
        let at = entries.iter().position(|entry| entry.part.as_ref() == part);
        if let Some(at) = at {
            entries.remove(at);
            undo_log::save(&self.review, &self.session.id, entries).await?;
        }
        // The entry may have been archived meanwhile; its part marks the files all the same.
        self.clear_reverted_mark(part).await
    }

    /// Stores both sides of edits as trees.
    async fn keep_edits(&self, edits: Vec<Edit>) -> Result<Vec<Merge>> {
        if edits.is_empty() {
            return Ok(Vec::new());
        }
        let label = temporary_label(&self.session.id);
        let keep = move |repo: &SideRepo| {
            let image = |path: &RelPath, content| FileImage {
                path: path.clone(),
                content,
            };
            let (mut base, mut wanted) = (Vec::new(), Vec::new());
            for edit in &edits {
                base.push(image(&edit.path, edit.base.clone()));
                wanted.push(image(
                    edit.from.as_ref().unwrap_or(&edit.path),
                    edit.wanted.clone(),
                ));
            }
            let base = repo.keep_images(&label, &base)?;
            let wanted = repo.keep_images(&label, &wanted)?;
            let merge = |edit: &Edit| Merge {
                change: PathRestore {
                    path: edit.path.clone(),
                    target: wanted,
                    post_image: base,
                },
                own: (base, wanted),
                from: edit.from.clone(),
                doubt: edit.doubt,
            };
            Ok(edits.iter().map(merge).collect())
        };
        let snapshots = &self.review.snapshots;
        snapshots.with_repo(&self.worktree, keep).await
    }

    /// Releases what was stored only for planning.
    pub async fn release_temporary(&self) -> Result<()> {
        let label = temporary_label(&self.session.id);
        let snapshots = &self.review.snapshots;
        let held = snapshots.references(&self.worktree, &label).await?;
        snapshots.release(&self.worktree, held).await
    }

    pub fn session(&self) -> &lathe_protocol::Session {
        &self.session
    }

    pub fn review(&self) -> &Arc<crate::Review> {
        &self.review
    }
}

fn files_of(plans: Vec<RevertPlan>) -> Vec<RevertFile> {
    plans.into_iter().flat_map(|plan| plan.files).collect()
}
