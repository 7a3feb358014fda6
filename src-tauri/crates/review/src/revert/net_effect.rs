//! The net effect of several reverts in a row, file by file.
//!
//! A file that is changed and changed back is not listed. A file that was changed by the person
//! in the meantime is a conflict, whichever revert found it.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{RevertChange, RevertFile};
use lathe_snapshot::{Conflict, PathRestore, RelPath, RestoreAction, SideRepo, TreeId};

use super::plan::{RevertPlan, describe};
use crate::error::Result;

/// Collects reverts that were done or planned one after the other.
#[derive(Debug, Default)]
pub struct NetEffect {
    files: BTreeMap<String, FileEffect>,
}

/// The net effect on one file.
#[derive(Debug, Default)]
struct FileEffect {
    /// From the first state to the last, once a revert changed the file.
    span: Option<PathRestore>,
    /// The description, if only one revert changed the file.
    description: Option<RevertFile>,
    /// Why the last revert did not change the file.
    conflict: Option<RevertFile>,
}

impl NetEffect {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn add(&mut self, planned: &RevertPlan) {
        let each = planned.files.iter();
        let mut listed: BTreeMap<&str, &RevertFile> =
            each.map(|file| (file.path.as_str(), file)).collect();
        for one in planned.moves.values() {
            let name = one.path.to_string();
            let file = listed.remove(name.as_str());
            self.files.entry(name).or_default().add(Some(one), file);
        }
        for (name, file) in listed {
            let effect = self.files.entry(name.to_owned()).or_default();
            effect.add(None, Some(file));
        }
    }

    /// What a further move would do to a file; `None` if no revert has changed the file yet.
    pub fn next_action(&self, repo: &SideRepo, one: &PathRestore) -> Result<Option<RestoreAction>> {
        let Some(tree) = self.tree_after(&one.path) else {
            return Ok(None);
        };
        Ok(Some(if repo.is_same(&one.path, tree, one.target)? {
            RestoreAction::Unchanged
        } else if repo.is_same(&one.path, tree, one.post_image)? {
            RestoreAction::Write
        } else {
            RestoreAction::Conflict(Conflict::ChangedSince)
        }))
    }

    /// The tree that has the file as the reverts leave it.
    fn tree_after(&self, path: &RelPath) -> Option<TreeId> {
        let effect = self.files.get(&path.to_string())?;
        effect.span.as_ref().map(|span| span.target)
    }

    /// The changed and conflicting files, in path order.
    pub fn describe(self, repo: &SideRepo) -> Result<Vec<RevertFile>> {
        let mut files = Vec::new();
        for effect in self.files.into_values() {
            files.extend(
                match (effect.conflict.or(effect.description), effect.span) {
                    (Some(file), _) => Some(file),
                    (None, Some(span)) => repo
                        .diff_path(&span.path, span.post_image, span.target)?
                        .map(|change| describe(&change)),
                    (None, None) => None,
                },
            );
        }
        Ok(files)
    }
}

impl FileEffect {
    /// `file` is `None` if the file already is as it should be.
    fn add(&mut self, one: Option<&PathRestore>, file: Option<&RevertFile>) {
        let conflict = file.filter(|file| file.change == RevertChange::Conflict);
        self.conflict = conflict.cloned();
        if file.is_none() || conflict.is_some() {
            return;
        }
        match (&mut self.span, one) {
            (Some(span), Some(one)) => {
                span.target = one.target;
                self.description = None;
            }
            (_, one) => {
                self.span = one.cloned();
                self.description = file.cloned();
            }
        }
    }
}
