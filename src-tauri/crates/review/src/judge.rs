//! Keeping, reverting, undoing: what a person decides about changed lines.
//!
//! A revert is the difference between what the agent left and what is wanted instead. It is
//! merged into the file as it is now, so that a person's edits elsewhere stay. Only where both
//! changed the same lines, a person decides.

mod edits;
mod select;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lathe_protocol::SessionId;
use lathe_protocol::ipc::{RevertFile, ReviewActionKind, ReviewSelection};
use lathe_snapshot::{FileContent, RelPath, SideRepo};

use crate::Review;
use crate::error::Result;
use crate::lines::{self, LineSet, marks, marks::Mark};
use crate::record::{Action, ReviewRecord};
use crate::scope::{Contents, ScopeFiles, kept_lines};
pub use edits::{Applied, Becomes, Edit, PlannedEdit, apply, edit_trees, plan, plan_edit};
pub use select::{Target, contents_of, targets};

/// What an action did.
#[derive(Debug, Default)]
pub struct Done {
    pub files: Vec<RevertFile>,
    pub changed: Vec<String>,
}

impl Review {
    /// The contents that a selection means.
    pub async fn targets(
        self: &Arc<Self>,
        worktree: &Path,
        files: &Arc<ScopeFiles>,
        selection: &ReviewSelection,
    ) -> Result<Vec<Target>> {
        let (review, files, selection) = (self.clone(), files.clone(), selection.clone());
        let read = move |repo: &SideRepo| targets(repo, &review.recent, &files, &selection);
        self.snapshots.with_repo(worktree, read).await
    }

    /// Marks lines as kept, or removes their marks.
    pub async fn mark(
        &self,
        session: &SessionId,
        targets: &[Target],
        keep: bool,
    ) -> Result<Vec<String>> {
        let kind = match keep {
            true => ReviewActionKind::Keep,
            false => ReviewActionKind::Unkeep,
        };
        self.edit_record(session, |record| {
            let mut action = Action::new(&self.records, kind, Vec::new());
            for target in targets {
                let path = target.contents.path.to_string();
                let before = record.marks(&path).to_vec();
                let after = marked(&before, target, keep);
                if marks::in_order(before.clone()) != after {
                    record.set_marks(&path, after.clone());
                    action.files.push(path.clone());
                    action.marks.insert(path, (before, after));
                }
            }
            let changed = action.files.clone();
            if !changed.is_empty() {
                record.add(action);
            }
            Ok(changed)
        })
        .await
    }
}

fn marked(before: &[Mark], target: &Target, keep: bool) -> Vec<Mark> {
    let contents = &*target.contents;
    let blocks = contents.blocks();
    let (old, new) = contents.lines();
    let mut kept = kept_lines(contents, before);
    let chosen = target.lines.changed_in(blocks);
    match keep {
        true => kept.add(&chosen),
        false => kept.remove(&chosen),
    }
    let mut after = marks::of(&old, &new, blocks, &kept);
    let whole = Mark::whole_file(&contents.version);
    // What was kept in another scope is no part of these contents.
    let elsewhere = marks::elsewhere(&old, &new, blocks, before);
    after.extend(elsewhere.into_iter().filter(|mark| *mark != whole));
    if target.whole && keep || !target.whole && before.contains(&whole) {
        after.push(whole);
    }
    marks::in_order(after)
}

/// What reverting targets changes. With `kept`, the lines that these marks keep stay.
pub fn edits(targets: &[Target], kept: Option<&ReviewRecord>) -> Vec<Edit> {
    let mut edits: BTreeMap<RelPath, Edit> = BTreeMap::new();
    for target in targets {
        let contents = &*target.contents;
        let marks = kept.map(|record| record.marks(&contents.path.to_string()));
        let mut chosen = target.lines.clone();
        let mut whole = target.whole;
        if let Some(marks) = marks.filter(|marks| !marks.is_empty()) {
            let kept = kept_lines(contents, marks);
            whole &= kept.is_empty() && !marks.contains(&Mark::whole_file(&contents.version));
            chosen.remove(&kept);
        }
        let chosen = chosen.changed_in(contents.blocks());
        let all = !chosen.is_empty() && chosen == LineSet::all(contents.blocks());
        if !whole && chosen.is_empty() {
            continue;
        }
        let wanted = match whole || all && contents.from.is_none() {
            true => contents.old.clone(),
            false => Some(without(contents, &chosen)),
        };
        let (path, base) = (contents.path.clone(), contents.new.clone());
        let edit = Edit {
            from: contents.from.clone().filter(|_| whole),
            doubt: target.doubt,
            ..Edit::new(path.clone(), base, wanted)
        };
        edits.insert(path, edit);
    }
    edits.into_values().collect()
}

/// The content after, without the chosen lines.
fn without(contents: &Contents, chosen: &LineSet) -> FileContent {
    let (old, new) = contents.lines();
    let text = lines::without(&old, &new, contents.blocks(), chosen);
    let like = contents.new.as_ref().or(contents.old.as_ref());
    match like {
        Some(like) => like.with_bytes(text.into_bytes()),
        None => FileContent::of_bytes(text.into_bytes()),
    }
}

/// Only the changes that are kept: what is staged, or saved as a patch.
pub fn only_kept(contents: &Contents, marks: &[Mark]) -> Option<FileContent> {
    let kept = kept_lines(contents, marks);
    let mut rest = LineSet::all(contents.blocks());
    rest.remove(&kept);
    let whole = marks.contains(&Mark::whole_file(&contents.version));
    match (rest.is_empty(), kept.is_empty()) {
        (true, false) => contents.new.clone(),
        (true, true) if whole => contents.new.clone(),
        (_, true) => contents.old.clone(),
        (false, false) => Some(without(contents, &rest)),
    }
}

/// The marks of each file after its chosen lines were reverted: what was kept stays kept. Of a
/// file that is reverted in the whole session, `all_of_it`, nothing is left to be kept.
pub fn marks_after(
    targets: &[Target],
    record: &ReviewRecord,
    all_of_it: bool,
) -> BTreeMap<String, Vec<Mark>> {
    let mut all = BTreeMap::new();
    for target in targets {
        let contents = &*target.contents;
        let path = contents.path.to_string();
        let marks = record.marks(&path);
        if marks.is_empty() {
            continue;
        }
        let chosen = target.lines.changed_in(contents.blocks());
        let mut kept = kept_lines(contents, marks);
        kept.remove(&chosen);
        let (old, new) = contents.lines();
        let mut after = match target.whole && all_of_it {
            true => Vec::new(),
            false => marks::elsewhere(&old, &new, contents.blocks(), marks),
        };
        after.retain(|mark| !mark.is_whole_file());
        if target.whole || kept.is_empty() {
            all.insert(path, marks::in_order(after));
            continue;
        }
        let text = lines::without(&old, &new, contents.blocks(), &chosen);
        let newer = lines::split(&text);
        let kept = marks::carry_over(&old, &new, &newer, &kept);
        let blocks = lines::blocks(&old, &newer, false);
        after.extend(marks::of(&old, &newer, &blocks, &kept));
        all.insert(path, marks::in_order(after));
    }
    all
}
