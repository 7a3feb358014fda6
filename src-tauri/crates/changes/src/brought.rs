//! What was brought from a worktree to its original: remembered, undone and done again.

use std::path::{Path, PathBuf};

use lathe_protocol::SessionId;
use lathe_protocol::ipc::{RevertChange, RevertFile, RevertLinesOptions, ReviewActionKind};
use lathe_records::{Failed, Result};
use lathe_review::judge::{self, Applied, Becomes, Edit, PlannedEdit};
use lathe_review::record::{Action, Moved};
use lathe_review::revert::{Edited, RevertedFile};
use lathe_snapshot::SideRepo;

use crate::Changes;

impl Changes {
    /// Writes files of the original.
    pub(crate) async fn write_original(
        &self,
        id: &SessionId,
        original: &Path,
        planned: Vec<PlannedEdit>,
    ) -> Result<Applied> {
        let (label, trash) = (id.to_string(), self.trash_of(id));
        let apply = move |repo: &SideRepo| judge::apply(repo, &label, &planned, &trash);
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(original, apply).await?)
    }

    /// Remembers what was brought as one action, so that it can be undone.
    pub(crate) async fn remember_brought(
        &self,
        id: &SessionId,
        original: &str,
        written: Vec<RevertedFile>,
    ) -> Result<()> {
        if written.is_empty() {
            return Ok(());
        }
        let files: Vec<String> = written.iter().map(RevertedFile::name).collect();
        let mut action = Action::new(&self.records, ReviewActionKind::BringBack, files);
        action.moved = Some(moved(written));
        action.folder = Some(original.to_owned());
        let add = self.review.edit_record(id, |record| {
            record.add(action);
            Ok(())
        });
        add.await?;
        self.review_changed(id, Vec::new());
        Ok(())
    }

    /// Undoes it in the original, or does it again. With an open conflict nothing is done.
    pub(crate) async fn move_brought(
        &self,
        id: &SessionId,
        original: &Path,
        brought: &Moved,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<Edited> {
        let work = async {
            let planned = self.plan_brought(original, brought, back, options).await?;
            let open: Vec<RevertFile> = planned.iter().filter_map(PlannedEdit::open_file).collect();
            if !open.is_empty() {
                return Ok(Edited {
                    files: open,
                    moved: None,
                });
            }
            let applied = self.write_original(id, original, planned.clone()).await?;
            let changed = planned.iter();
            let changed = changed.filter(|one| matches!(one.becomes, Becomes::Content(_)));
            Ok::<Edited, Failed>(Edited {
                files: changed.map(|one| done_file(one, &applied)).collect(),
                moved: Some(moved(applied.written)),
            })
        };
        let sessions = &self.sessions;
        sessions.while_folders_idle(&[original], work).await
    }

    async fn plan_brought(
        &self,
        original: &Path,
        brought: &Moved,
        back: bool,
        options: &RevertLinesOptions,
    ) -> Result<Vec<PlannedEdit>> {
        let spans: Vec<_> = brought
            .files
            .iter()
            .filter_map(RevertedFile::span)
            .collect();
        let choices = options.choices.clone();
        let plan = move |repo: &SideRepo| {
            let each = spans.iter().map(|(path, before, after)| {
                let change = match back {
                    true => (*after, *before),
                    false => (*before, *after),
                };
                let edit = Edit::between(repo, path, None, change)?;
                judge::plan_edit(repo, &edit, choices.get(&path.to_string()).copied())
            });
            each.collect()
        };
        let snapshots = &self.review.snapshots;
        Ok(snapshots.with_repo(original, plan).await?)
    }

    fn trash_of(&self, id: &SessionId) -> PathBuf {
        self.data_dir.join("reverted").join(id.as_str())
    }
}

fn moved(files: Vec<RevertedFile>) -> Moved {
    Moved {
        files,
        own: Vec::new(),
        part: None,
    }
}

fn done_file(planned: &PlannedEdit, applied: &Applied) -> RevertFile {
    let (additions, deletions) = planned.counts();
    let left = applied.left.get(&planned.path).cloned();
    RevertFile {
        path: planned.path.to_string(),
        change: match left {
            Some(_) => RevertChange::Conflict,
            None => planned.change(),
        },
        reason: left,
        additions,
        deletions,
        sides: None,
    }
}
