//! Applies a plan path by path; a failure at one path does not stop the others.

use std::{
    io,
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::{
    CHUNK, Conflict, Item, Plan, RestoreAction,
    folders::{self, MissingFolders},
    inspect::{FolderError, Parents, walk},
    links,
    moves::{Moved, Mover},
    prepare::{Preparation, Prepared},
    round::{How, OpenRound, Record, Recovered, Round},
    trash::Trash,
};
use crate::{
    error::{Context, Result, SnapshotError},
    objects::Objects,
    os::{Folder, Inherited, NewFile},
    path::RelPath,
    repo::SideRepo,
    tree::{self, Leaf, Mode, TreeId},
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub written: Vec<RelPath>,
    /// Deleted files, each with its path in the trash.
    pub trashed: Vec<(RelPath, PathBuf)>,
    /// Of the written ones, those that replaced a file, each with the path of the old file in
    /// the trash.
    pub replaced: Vec<(RelPath, PathBuf)>,
    /// Empty folders that were removed.
    pub removed_folders: Vec<RelPath>,
    pub unchanged: Vec<RelPath>,
    pub conflicts: Vec<(RelPath, Conflict)>,
}

impl Outcome {
    /// Adds paths that were not changed.
    fn add(&mut self, other: Outcome) {
        self.conflicts.extend(other.conflicts);
        self.unchanged.extend(other.unchanged);
    }
}

impl SideRepo {
    /// Applies the plan where it still holds. Replaced and deleted files are moved below `trash`.
    /// If the program is killed meanwhile, all of it is rolled back when the repository is opened
    /// again.
    pub fn apply(&self, plan: &Plan, trash: &Path) -> Outcome {
        let (outcome, round) = self.apply_open(plan, trash, "");
        if let Some(Err(error)) = round.map(Round::commit) {
            tracing::warn!(%error, "the record of a restore stays");
        }
        outcome
    }

    /// The same, but the restore is final only once the returned round is committed: until then
    /// [`SideRepo::recover`] at the next start rolls it back. `note` is for the owner of the
    /// restore and must not be empty. No round is returned if nothing was changed.
    pub fn apply_open(&self, plan: &Plan, trash: &Path, note: &str) -> (Outcome, Option<Round>) {
        let place = Place {
            root: self.worktree(),
            rounds: &self.rounds(),
            trash,
            objects: self.objects(),
        };
        carry_out(&place, plan, note)
    }

    /// Restores that a killed program left behind, oldest first.
    pub fn open_rounds(&self) -> Result<Vec<OpenRound>> {
        OpenRound::find(&self.rounds(), Some(self.worktree()))
    }

    /// Rolls back every restore that a killed program left behind, the newest first.
    pub fn recover(&self) -> Result<Vec<Recovered>> {
        let rounds = self.open_rounds()?.into_iter().rev();
        rounds.map(OpenRound::roll_back).collect()
    }

    /// Writes all files of a snapshot into a folder that must not have any of them yet.
    pub fn write_out(&self, tree: TreeId, folder: &Path) -> Result<(), SnapshotError> {
        self.check(tree)?;
        for (path, leaf) in tree::files(self.objects(), tree.0)? {
            let bytes = match leaf.mode {
                Mode::Folder => Vec::new(),
                _ => self.objects().blob(leaf.id)?,
            };
            write_new(folder, &path, leaf, &bytes).context("writing a file")?;
        }
        Ok(())
    }
}

/// Where a plan is carried out.
pub(crate) struct Place<'a> {
    pub root: &'a Path,
    /// For the record of the restore and its new files.
    pub rounds: &'a Path,
    pub trash: &'a Path,
    pub objects: &'a Objects,
}

pub(crate) fn carry_out(place: &Place<'_>, plan: &Plan, note: &str) -> (Outcome, Option<Round>) {
    let mut outcome = Outcome::default();
    let mut work = Vec::new();
    for (path, item) in &plan.items {
        match &item.action {
            RestoreAction::Unchanged => outcome.unchanged.push(path.clone()),
            RestoreAction::Conflict(conflict) => {
                outcome.conflicts.push((path.clone(), conflict.clone()));
            }
            RestoreAction::Write | RestoreAction::Delete => work.push((path, item)),
        }
    }
    if work.is_empty() {
        return (outcome, None);
    }
    let round = match move_all(place, plan, note, &work, &mut outcome) {
        Ok(round) => round,
        Err(error) => {
            // Nothing was moved yet.
            let why = Conflict::Failed(error.to_string());
            let all = work.iter().map(|(path, _)| ((*path).clone(), why.clone()));
            outcome.conflicts.extend(all);
            None
        }
    };
    outcome.written.sort();
    outcome.trashed.sort();
    outcome.replaced.sort();
    outcome.removed_folders.sort();
    outcome.unchanged.sort();
    outcome.conflicts.sort_by(|(a, _), (b, _)| a.cmp(b));
    (outcome, round)
}

/// Up to so many files are synced one by one.
const FEW: usize = 4;

fn move_all(
    place: &Place<'_>,
    plan: &Plan,
    note: &str,
    work: &[(&RelPath, &Item)],
    outcome: &mut Outcome,
) -> io::Result<Option<Round>> {
    let trash = Trash::create(place.trash)?;
    let begun = Round::begin(
        place.rounds,
        Record {
            note: note.to_owned(),
            root: place.root.to_owned(),
            batch: trash.batch().to_owned(),
            ..Record::default()
        },
    );
    let mut round = begun.inspect_err(|_| trash.remove_if_empty())?;
    let mut found = Vec::new();
    let mut kept = Outcome::default();
    let prepared = Folder::open(&round.prepared()).and_then(|folder| {
        // Syncing all at once takes one wait for the disk, and far less time for many files.
        let at_once = work.len() > FEW && cfg!(target_os = "linux");
        prepare(place, plan, work, &folder, at_once, &mut kept, &mut found)?;
        links::join(place.root, &plan.extras, &folder, &mut found);
        in_order(&mut found);
        describe(place, plan, &found, &mut round.record);
        if at_once {
            round.save_unsynced()?;
            folder.sync_all()?;
        } else {
            round.save()?;
        }
        Ok(folder)
    });
    if prepared.is_err() || found.is_empty() {
        trash.remove_if_empty();
        let _ = round.commit();
        prepared?;
        outcome.add(kept);
        return Ok(None);
    }
    let folder = prepared?;
    outcome.add(kept);
    let mut mover = Mover {
        record: &round.record,
        prepared: &folder,
        trash,
        parents: Parents::new(place.root),
        folders: MissingFolders::new(place.root, &plan.folders),
        stuck: false,
    };
    let mut removing = true;
    for one in &found {
        if removing && !is_before_writes(one) {
            removing = false;
            let removed = round.record.removed.iter().map(|(path, _)| path);
            folders::remove_empty(place.root, removed);
            mover.folders.forget();
        }
        let moved = mover.carry_out(one);
        note_down(one, moved, outcome);
    }
    if removing {
        let removed = round.record.removed.iter().map(|(path, _)| path);
        folders::remove_empty(place.root, removed);
    }
    mover.folders.set_permissions();
    mover.trash.remove_if_empty();
    if mover.stuck {
        round.save_prepared()?;
    }
    Ok(Some(round))
}

fn prepare(
    place: &Place<'_>,
    plan: &Plan,
    work: &[(&RelPath, &Item)],
    folder: &Folder,
    synced_later: bool,
    outcome: &mut Outcome,
    found: &mut Vec<Prepared>,
) -> io::Result<()> {
    let preparation = Preparation {
        root: place.root,
        objects: place.objects,
        extras: &plan.extras,
        folder,
        sync: !synced_later,
        device: folder.stat_self()?.stamp.device,
    };
    let numbered: Vec<(u64, &(&RelPath, &Item))> = (0..).zip(work).collect();
    let prepared: Vec<_> = numbered
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut parents = Parents::new(place.root);
            let each = chunk.iter().map(|(number, (path, item))| {
                let prepared = preparation.path(&mut parents, path, item, *number);
                ((*path).clone(), prepared)
            });
            each.collect::<Vec<_>>()
        })
        .collect();
    for (path, prepared) in prepared {
        match prepared {
            Ok(Some(one)) => found.push(one),
            Ok(None) => outcome.unchanged.push(path),
            Err(conflict) => outcome.conflicts.push((path, conflict)),
        }
    }
    Ok(())
}

/// Folders that become writable first, then deletes, the deeper ones first, and all deletes before
/// all writes, because a folder may have to be replaced by a file, or a file by a folder. Folders
/// that become read-only come last.
fn in_order(found: &mut [Prepared]) {
    let is_removal = |how| matches!(how, How::Delete | How::RemoveFolder);
    let rank = |one: &Prepared| match one.one.how {
        How::SetBits if becomes_writable(one) => 0,
        how if is_removal(how) => 1,
        How::SetBits => 3,
        _ => 2,
    };
    found.sort_by(|one, other| {
        let paths = one.one.path.cmp(&other.one.path);
        let paths = match is_removal(one.one.how) {
            true => paths.reverse(),
            false => paths,
        };
        rank(one).cmp(&rank(other)).then(paths)
    });
}

fn becomes_writable(one: &Prepared) -> bool {
    let is_writable = |leaf: Leaf| {
        let bits = leaf.permissions.bits();
        leaf.mode == Mode::Folder && bits.is_none_or(|bits| bits & 0o300 == 0o300)
    };
    one.one.wanted.is_some_and(is_writable)
}

fn is_before_writes(one: &Prepared) -> bool {
    match one.one.how {
        How::Delete | How::RemoveFolder => true,
        How::SetBits => becomes_writable(one),
        _ => false,
    }
}

/// Adds to the record what a roll-back has to know.
fn describe(place: &Place<'_>, plan: &Plan, found: &[Prepared], record: &mut Record) {
    let is_removal = |one: &&Prepared| matches!(one.one.how, How::Delete | How::RemoveFolder);
    let removals = found.iter().filter(is_removal).map(|one| &one.one.path);
    record.removed = folders::may_be_removed(place.root, removals, &plan.folders);
    let is_new = |one: &&Prepared| matches!(one.one.how, How::Create | How::MakeFolder);
    let new = found.iter().filter(is_new).map(|one| &one.one.path);
    record.made = folders::missing(place.root, new).into_iter().collect();
    record.moves = found.iter().map(|one| one.one.clone()).collect();
}

fn note_down(one: &Prepared, moved: Result<Moved, Conflict>, outcome: &mut Outcome) {
    let path = one.one.path.clone();
    match moved {
        Ok(Moved::Written(old)) => {
            outcome.replaced.extend(old.map(|old| (path.clone(), old)));
            outcome.written.push(path);
        }
        Ok(Moved::Removed(Some(to))) => outcome.trashed.push((path, to)),
        Ok(Moved::Removed(None)) => outcome.removed_folders.push(path),
        Ok(Moved::Unchanged) => outcome.unchanged.push(path),
        Err(conflict) => outcome.conflicts.push((path, conflict)),
    }
}

fn write_new(root: &Path, path: &RelPath, leaf: Leaf, bytes: &[u8]) -> io::Result<()> {
    let create = |_: &RelPath, folder: &Folder, name: &[u8]| folder.make_folder(name, None);
    let folder = walk(root, path, create).map_err(|error| match error {
        FolderError::Missing => io::ErrorKind::NotFound.into(),
        FolderError::Blocked(_) => io::ErrorKind::NotADirectory.into(),
        FolderError::Failed(error) => error,
    })?;
    let new = NewFile {
        executable: leaf.mode == Mode::Executable,
        bits: leaf.permissions.bits(),
        sync: false,
    };
    match leaf.mode {
        Mode::Link => folder.create_link(path.name(), bytes).map(drop),
        Mode::Folder => folder.make_folder(path.name(), leaf.permissions.bits()),
        _ => folder
            .create(path.name(), bytes, new, Inherited::default())
            .map(drop),
    }
}
