//! What takings back that follow one another come to, file by file.
//!
//! A file that goes there and back is not changed, and one that somebody changed since is a
//! conflict, whichever of them met it.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{RevertChange, RevertFile};
use lathe_snapshot::{Conflict, PathRestore, RelPath, RestoreAction, SideRepo, TreeId};

use super::plan::{Planned, told};
use crate::error::Result;

/// Done one after the other, or only thought of.
#[derive(Debug, Default)]
pub struct Net {
    ways: BTreeMap<String, Way>,
}

/// The way of one file.
#[derive(Debug, Default)]
struct Way {
    /// From what was there first to what is there last, once something acted.
    span: Option<PathRestore>,
    /// How it was told, where only one acted.
    told: Option<RevertFile>,
    /// Why the last of them left it alone.
    conflict: Option<RevertFile>,
}

impl Net {
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    pub fn add(&mut self, planned: &Planned) {
        let each = planned.files.iter();
        let mut said: BTreeMap<&str, &RevertFile> =
            each.map(|file| (file.path.as_str(), file)).collect();
        for one in planned.moves.values() {
            let name = one.path.to_string();
            let file = said.remove(name.as_str());
            self.ways.entry(name).or_default().go(Some(one), file);
        }
        for (name, file) in said {
            let way = self.ways.entry(name.to_owned()).or_default();
            way.go(None, Some(file));
        }
    }

    /// What would happen to a file that these moved already; nothing if they did not.
    pub fn step(&self, repo: &SideRepo, one: &PathRestore) -> Result<Option<RestoreAction>> {
        let Some(tree) = self.stands(&one.path) else {
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

    /// The tree that has the file as it is after these.
    fn stands(&self, path: &RelPath) -> Option<TreeId> {
        let way = self.ways.get(&path.to_string())?;
        way.span.as_ref().map(|span| span.target)
    }

    /// In path order.
    pub fn files(self, repo: &SideRepo) -> Result<Vec<RevertFile>> {
        let mut files = Vec::new();
        for way in self.ways.into_values() {
            files.extend(match (way.conflict.or(way.told), way.span) {
                (Some(file), _) => Some(file),
                (None, Some(span)) => repo
                    .diff_path(&span.path, span.post_image, span.target)?
                    .map(|change| told(&change)),
                (None, None) => None,
            });
        }
        Ok(files)
    }
}

impl Way {
    /// Of what is said, nothing means that the file is as it should be.
    fn go(&mut self, one: Option<&PathRestore>, said: Option<&RevertFile>) {
        let left = said.filter(|file| file.change == RevertChange::Conflict);
        self.conflict = left.cloned();
        if said.is_none() || left.is_some() {
            return;
        }
        match (&mut self.span, one) {
            (Some(span), Some(one)) => {
                span.target = one.target;
                self.told = None;
            }
            (_, one) => {
                self.span = one.cloned();
                self.told = said.cloned();
            }
        }
    }
}
