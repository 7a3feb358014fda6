//! Plans edits that are merged into files as they are now. Reads trees and files: blocks.

use lathe_protocol::ipc::{RevertChoice, RevertFile};
use lathe_snapshot::{FileImage, PathRestore, RelPath};

use super::left::free_name;
use super::plan::{Merge, Place, RevertPlan, describe};
use crate::error::Result;
use crate::judge::{Becomes, Edit, PlannedEdit, edit_trees, plan};

pub fn plan_edits(place: &Place<'_>, edits: &[Merge]) -> Result<RevertPlan> {
    let repo = place.repo;
    let mut planned = Vec::new();
    let mut files = Vec::new();
    for Merge {
        change: one,
        from,
        doubt,
        ..
    } in edits
    {
        let edit = Edit {
            doubt: *doubt,
            ..Edit::between(repo, &one.path, from.as_ref(), (one.post_image, one.target))?
        };
        let forced = place.options.force.then_some(RevertChoice::Before);
        let choices = &place.options.choices;
        let choose = |path: &RelPath| choices.get(&place.name(path)).copied().or(forced);
        for one in plan(repo, &edit, choose)? {
            if one.beside {
                planned.extend(write_beside(place, &one));
            }
            match one.open_file() {
                Some(file) => files.push(RevertFile {
                    path: place.name(&one.path),
                    sides: Some(one.sides()),
                    ..file
                }),
                None => planned.push(one),
            }
        }
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
            .flat_map(|one| {
                let paths = one.from.iter().chain([&one.change.path]);
                paths.map(|path| (path.clone(), one.own))
            })
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
fn write_beside(place: &Place<'_>, one: &PlannedEdit) -> Option<PlannedEdit> {
    let content = one.wanted.clone()?;
    let path = free_name(place.repo, &one.path, "before")?;
    Some(PlannedEdit::new_file(FileImage {
        path,
        content: Some(content),
    }))
}
