//! Plans edits that are merged into files as they are now. Reads trees and files: blocks.

use lathe_protocol::ipc::{RevertChoice, RevertFile};
use lathe_snapshot::{FileImage, PathRestore};

use super::left::free_name;
use super::plan::{Merge, Place, RevertPlan, conflict, describe};
use crate::error::Result;
use crate::judge::{Becomes, Edit, PlannedEdit, edit_trees, plan_edit};

pub fn plan_edits(place: &Place<'_>, edits: &[Merge]) -> Result<RevertPlan> {
    let repo = place.repo;
    let mut planned = Vec::new();
    let mut files = Vec::new();
    for Merge { change: one, .. } in edits {
        let name = place.name(&one.path);
        let choice = place.options.choices.get(&name).copied();
        let forced = place.options.force.then_some(RevertChoice::Before);
        let edit = Edit::between(repo, &one.path, one.post_image, one.target)?;
        let plan = plan_edit(repo, &edit, choice.or(forced))?;
        if choice == Some(RevertChoice::Both) && plan.was_conflict {
            planned.extend(write_beside(place, &edit));
        }
        if let Becomes::Conflict(why) = plan.becomes {
            files.push(RevertFile {
                sides: Some(plan.sides()),
                ..conflict(name, why)
            });
            continue;
        }
        planned.push(plan);
    }
    let Some((now, then)) = edit_trees(repo, place.label, &planned)? else {
        return Ok(RevertPlan {
            files,
            ..RevertPlan::nothing(place.outside)
        });
    };
    let moves: Vec<PathRestore> = planned
        .iter()
        .filter(|one| matches!(one.becomes, Becomes::Content(_)))
        .map(|one| PathRestore {
            path: one.path.clone(),
            target: then,
            post_image: now,
        })
        .collect();
    for one in &moves {
        let change = repo.diff_path(&one.path, now, then)?;
        files.extend(change.map(|change| describe(place, &change)));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(RevertPlan {
        plan: Some(repo.plan_restore(&moves)?),
        own: edits
            .iter()
            .map(|one| (one.change.path.clone(), one.own))
            .collect(),
        files,
        moves: moves
            .into_iter()
            .map(|one| (one.path.clone(), one))
            .collect(),
        ..RevertPlan::nothing(place.outside)
    })
}

/// The wanted content in a file of its own.
fn write_beside(place: &Place<'_>, edit: &Edit) -> Option<PlannedEdit> {
    let content = edit.wanted.clone()?;
    let path = free_name(place.repo, &edit.path, "before")?;
    Some(PlannedEdit::new_file(FileImage {
        path,
        content: Some(content),
    }))
}
