//! The net effect of several reverts in a row, file by file.
//!
//! A file that is changed and changed back is not listed. A file that was changed by the person
//! in the meantime is a conflict, whichever revert found it.

use std::collections::BTreeMap;

use lathe_protocol::ipc::RevertFile;
use lathe_snapshot::{Conflict, PathRestore, RestoreAction, TreeId};

use super::plan::{Place, RevertPlan, describe};
use crate::error::Result;

/// Collects reverts that were done or planned one after the other.
#[derive(Debug, Default)]
pub struct NetEffect {
    files: BTreeMap<String, FileEffect>,
}

/// The net effect on one file.
#[derive(Debug, Default)]
struct FileEffect {
    /// The file lies outside of the project.
    outside: bool,
    /// From the first state to the last, once a revert changed the file.
    span: Option<PathRestore>,
    /// The description, if only one revert changed the file.
    description: Option<RevertFile>,
    /// Why the last revert did not change the file.
    left: Option<RevertFile>,
}

impl NetEffect {
    /// Whether a file outside of the project is affected, or one inside.
    pub fn is_about(&self, outside: bool) -> bool {
        self.files.values().any(|effect| effect.outside == outside)
    }

    pub fn add(&mut self, planned: &RevertPlan) {
        let each = planned.files.iter();
        let mut listed: BTreeMap<&str, &RevertFile> =
            each.map(|file| (file.path.as_str(), file)).collect();
        for one in planned.moves.values() {
            let name = match planned.outside {
                true => format!("/{}", one.path),
                false => one.path.to_string(),
            };
            let file = listed.remove(name.as_str());
            let effect = self.files.entry(name).or_default();
            effect.outside = planned.outside;
            effect.add(Some(one), file);
        }
        for (name, file) in listed {
            let effect = self.files.entry(name.to_owned()).or_default();
            effect.outside = planned.outside;
            effect.add(None, Some(file));
        }
    }

    /// What a further move would do to a file; `None` if no revert has changed the file yet.
    pub fn next_action(
        &self,
        place: &Place<'_>,
        one: &PathRestore,
    ) -> Result<Option<RestoreAction>> {
        let Some(tree) = self.tree_after(&place.name(&one.path)) else {
            return Ok(None);
        };
        let repo = place.repo;
        Ok(Some(if repo.is_same(&one.path, tree, one.target)? {
            RestoreAction::Unchanged
        } else if repo.is_same(&one.path, tree, one.post_image)? {
            RestoreAction::Write
        } else {
            RestoreAction::Conflict(Conflict::ChangedSince)
        }))
    }

    /// The tree that has the file as the reverts leave it.
    fn tree_after(&self, name: &str) -> Option<TreeId> {
        let effect = self.files.get(name)?;
        effect.span.as_ref().map(|span| span.target)
    }

    /// The changed files and those that were left, in path order, of the place's repository.
    pub fn describe(&self, place: &Place<'_>) -> Result<Vec<RevertFile>> {
        let mut files = Vec::new();
        let mine = self.files.values();
        for effect in mine.filter(|effect| effect.outside == place.outside) {
            let listed = effect.left.as_ref().or(effect.description.as_ref());
            files.extend(match (listed, &effect.span) {
                (Some(file), _) => Some(file.clone()),
                (None, Some(span)) => place
                    .repo
                    .diff_path(&span.path, span.post_image, span.target)?
                    .map(|change| describe(place, &change)),
                (None, None) => None,
            });
        }
        Ok(files)
    }
}

impl FileEffect {
    /// `file` is `None` if the file already is as it should be.
    fn add(&mut self, one: Option<&PathRestore>, file: Option<&RevertFile>) {
        let left = file.filter(|file| file.change.is_left());
        self.left = left.cloned();
        if file.is_none() || left.is_some() {
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
