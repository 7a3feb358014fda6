//! For which paths a snapshot can speak.

use crate::{
    error::Result,
    path::RelPath,
    repo::{SideRepo, Skipped},
    restore::look_at,
    scan::{LeftOut, Reason},
    tree::{self, TreeId, same},
};

/// Whether a snapshot says what was at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The path was as the snapshot has it; if it has nothing there, nothing was there.
    Covered,
    LeftOut(Reason),
    /// The snapshot was released, so its list of left-out paths is gone.
    Unknown,
}

/// The paths that one snapshot covered.
#[derive(Debug, Clone)]
pub struct TreeCoverage(Option<LeftOut>);

impl TreeCoverage {
    pub fn of(&self, path: &RelPath) -> Coverage {
        match self.0.as_ref().map(|left_out| left_out.reason_for(path)) {
            Some(None) => Coverage::Covered,
            Some(Some(reason)) => Coverage::LeftOut(reason),
            None => Coverage::Unknown,
        }
    }

    /// Everything that was left out, ignored paths too; of a folder, only the folder itself.
    /// `None` if that is not known.
    pub fn left_out(&self) -> Option<Vec<Skipped>> {
        let all = self.0.as_ref()?.iter();
        let all = all.filter(|(_, reason)| *reason != Reason::EmptyFolder);
        Some(
            all.map(|(path, reason)| Skipped {
                path: String::from_utf8_lossy(path).into_owned(),
                reason,
            })
            .collect(),
        )
    }
}

impl SideRepo {
    pub fn coverage(&self, tree: TreeId) -> Result<TreeCoverage> {
        self.check(tree)?;
        self.left_out(tree).map(TreeCoverage)
    }

    /// Which of the paths are not as a snapshot has them. Only these paths are looked at, so the
    /// cost does not depend on the size of the work tree. A path that cannot be read counts as
    /// changed.
    pub fn changed_since(&self, tree: TreeId, paths: &[RelPath]) -> Result<Vec<RelPath>> {
        self.check(tree)?;
        let mut changed = Vec::new();
        for path in paths {
            let node = tree::lookup(self.objects(), tree.0, path)?;
            let stored = match node {
                Some(tree::Node::Leaf(leaf)) => Some(leaf),
                folder => folder.and_then(tree::Node::as_folder),
            };
            let is_same =
                look_at(self.worktree(), path).is_some_and(|current| same(current, stored));
            if !is_same {
                changed.push(path.clone());
            }
        }
        Ok(changed)
    }
}
