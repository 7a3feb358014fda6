//! One change of a file, merged into the file as it is now. Reads files: blocks.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{LineConflict, RevertChange, RevertChoice, RevertFile, RevertSides};
use lathe_snapshot::{FileContent, FileImage, PathRestore, RelPath, SideRepo, TreeId};

use crate::error::Result;
use crate::lines::{self, merge::merge};
use crate::revert::RevertedFile;

/// A change from one content to another one, wherever the file is by now.
#[derive(Debug, Clone)]
pub struct Edit {
    pub path: RelPath,
    pub base: Option<FileContent>,
    pub wanted: Option<FileContent>,
}

/// What an edit comes to in the file as it is now.
#[derive(Debug, Clone)]
pub struct PlannedEdit {
    pub path: RelPath,
    pub now: Option<FileContent>,
    /// What it would be without a person's edits.
    pub wanted: Option<FileContent>,
    pub becomes: Becomes,
    /// A person's edits elsewhere in the file stay.
    pub merged: bool,
    pub conflicts: Vec<LineConflict>,
    /// A person had to decide about it.
    pub was_conflict: bool,
}

#[derive(Debug, Clone)]
pub enum Becomes {
    /// It is as wanted already, or the person wants it to stay.
    Same,
    Content(Option<FileContent>),
    /// The person has to decide.
    Conflict(&'static str),
}

impl Edit {
    pub fn new(path: RelPath, base: Option<FileContent>, wanted: Option<FileContent>) -> Edit {
        Edit { path, base, wanted }
    }

    /// The change between two trees.
    pub fn between(repo: &SideRepo, path: &RelPath, base: TreeId, wanted: TreeId) -> Result<Edit> {
        Ok(Edit {
            base: repo.image_in(base, path)?.content,
            wanted: repo.image_in(wanted, path)?.content,
            path: path.clone(),
        })
    }
}

impl PlannedEdit {
    /// A file that is not there yet.
    pub fn new_file(image: FileImage) -> PlannedEdit {
        PlannedEdit {
            path: image.path,
            now: None,
            wanted: None,
            becomes: Becomes::Content(image.content),
            merged: false,
            conflicts: Vec::new(),
            was_conflict: false,
        }
    }

    /// The file, if a person has to decide about it.
    pub fn open_file(&self) -> Option<RevertFile> {
        let Becomes::Conflict(why) = &self.becomes else {
            return None;
        };
        Some(RevertFile {
            path: self.path.to_string(),
            change: RevertChange::Conflict,
            reason: Some((*why).to_owned()),
            additions: 0,
            deletions: 0,
            sides: self.was_conflict.then(|| self.sides()),
        })
    }

    /// What a person decides between.
    pub fn sides(&self) -> RevertSides {
        const LONGEST: usize = 64 << 10;
        let text = |content: &Option<FileContent>| {
            let content = content.as_ref()?;
            let short = content.bytes.len() <= LONGEST;
            short.then(|| String::from_utf8(content.bytes.clone()).ok())?
        };
        RevertSides {
            before: text(&self.wanted),
            now: text(&self.now),
        }
    }

    pub fn change(&self) -> RevertChange {
        match &self.becomes {
            Becomes::Conflict(_) => RevertChange::Conflict,
            Becomes::Content(None) => RevertChange::Delete,
            Becomes::Content(Some(_)) if self.now.is_none() => RevertChange::Create,
            Becomes::Same | Becomes::Content(Some(_)) => RevertChange::Restore,
        }
    }

    /// The file as it is and as it will be, where there is one and it is text.
    pub fn texts(&self) -> (Option<String>, Option<String>) {
        let text = |content: &Option<FileContent>| {
            let bytes = content.as_ref().map(|one| one.bytes.clone())?;
            String::from_utf8(bytes).ok()
        };
        match &self.becomes {
            Becomes::Content(then) => (text(&self.now), text(then)),
            Becomes::Same | Becomes::Conflict(_) => (text(&self.now), text(&self.now)),
        }
    }

    /// The lines that are added and deleted on the disk.
    pub fn counts(&self) -> (usize, usize) {
        let (now, then) = self.texts();
        let (now, then) = (now.unwrap_or_default(), then.unwrap_or_default());
        let blocks = lines::blocks(&lines::split(&now), &lines::split(&then), false);
        let count = |of: fn(&lines::Block) -> usize| blocks.iter().map(of).sum();
        (count(|one| one.new.len()), count(|one| one.old.len()))
    }

    pub fn image(&self, content: Option<FileContent>) -> FileImage {
        FileImage {
            path: self.path.clone(),
            content,
        }
    }
}

const EDITED: &str = "you have changed the same lines since";
const NOT_TEXT: &str = "it is not text, and was changed since";
const REMOVED: &str = "the file was removed since";
const MADE: &str = "a file of this name was made since";
const ADDED_TO: &str = "the agent made this file, and you have changed it since";
const NO_FILE: &str = "something that is no file is in its place";

/// `choice` is what the person has decided about a conflict.
pub fn plan_edit(
    repo: &SideRepo,
    edit: &Edit,
    choice: Option<RevertChoice>,
) -> Result<PlannedEdit> {
    let mut planned = PlannedEdit {
        path: edit.path.clone(),
        now: None,
        wanted: edit.wanted.clone(),
        becomes: Becomes::Same,
        merged: false,
        conflicts: Vec::new(),
        was_conflict: false,
    };
    let Ok(now) = repo.read_image(&edit.path) else {
        planned.becomes = Becomes::Conflict(NO_FILE);
        return Ok(planned);
    };
    planned.now = now.content;
    let is_same = |one: &Option<FileContent>, other: &Option<FileContent>| match (one, other) {
        (Some(one), Some(other)) => one.mode == other.mode && one.bytes == other.bytes,
        (None, None) => true,
        _ => false,
    };
    if is_same(&planned.now, &edit.wanted) {
        return Ok(planned);
    }
    if is_same(&planned.now, &edit.base) {
        planned.becomes = Becomes::Content(edit.wanted.clone());
        return Ok(planned);
    }
    let why = match (&edit.base, &planned.now, &edit.wanted) {
        (Some(base), Some(now), Some(wanted)) => match merged(base, now, wanted) {
            Some(both) => {
                planned.merged = true;
                let mine = content(now, wanted, base, both.mine);
                let other = content(now, wanted, base, both.other);
                planned.conflicts = both
                    .conflicts
                    .into_iter()
                    .map(|overlap| LineConflict {
                        line: overlap.line,
                        mine: overlap.mine,
                        before: overlap.other,
                        agent: overlap.common,
                    })
                    .collect();
                planned.was_conflict = !planned.conflicts.is_empty();
                planned.becomes = match (planned.conflicts.is_empty(), choice) {
                    (true, _) if mine.bytes == now.bytes && mine.mode == now.mode => Becomes::Same,
                    (true, _) | (false, Some(RevertChoice::Mine | RevertChoice::Both)) => {
                        Becomes::Content(Some(mine))
                    }
                    (false, Some(RevertChoice::Before)) => Becomes::Content(Some(other)),
                    (false, None) => Becomes::Conflict(EDITED),
                };
                return Ok(planned);
            }
            None => NOT_TEXT,
        },
        (Some(_), Some(_), None) => ADDED_TO,
        (_, None, _) => REMOVED,
        (None, Some(_), _) => MADE,
    };
    planned.was_conflict = true;
    planned.becomes = match choice {
        None => Becomes::Conflict(why),
        Some(RevertChoice::Before) => Becomes::Content(edit.wanted.clone()),
        Some(RevertChoice::Mine | RevertChoice::Both) => Becomes::Same,
    };
    Ok(planned)
}

fn merged(
    base: &FileContent,
    now: &FileContent,
    wanted: &FileContent,
) -> Option<crate::lines::merge::Merged> {
    let text = |content: &'_ FileContent| {
        let text = String::from_utf8(content.bytes.clone()).ok()?;
        (!text.contains('\0')).then_some(text)
    };
    Some(merge(&text(base)?, &text(now)?, &text(wanted)?))
}

/// The mode is the wanted one, unless the person has changed it.
fn content(
    now: &FileContent,
    wanted: &FileContent,
    base: &FileContent,
    text: String,
) -> FileContent {
    let mut content = match now.mode == base.mode {
        true => wanted.clone(),
        false => now.clone(),
    };
    content.bytes = text.into_bytes();
    content
}

/// Both sides of a conflict have to be there as trees before anything is moved.
pub fn edit_trees(
    repo: &SideRepo,
    label: &str,
    planned: &[PlannedEdit],
) -> Result<Option<(TreeId, TreeId)>> {
    let becomes = |one: &PlannedEdit| match &one.becomes {
        Becomes::Content(content) => Some((one.image(one.now.clone()), one.image(content.clone()))),
        Becomes::Same | Becomes::Conflict(_) => None,
    };
    let (now, then): (Vec<_>, Vec<_>) = planned.iter().filter_map(becomes).unzip();
    if now.is_empty() {
        return Ok(None);
    }
    Ok(Some((
        repo.keep_images(label, &now)?,
        repo.keep_images(label, &then)?,
    )))
}

/// What was written of what was planned, and what was not, with the reason.
#[derive(Debug, Default)]
pub struct Applied {
    pub written: Vec<RevertedFile>,
    pub left: BTreeMap<RelPath, String>,
}

/// Writes what was planned, where the files are still as they were.
pub fn apply(
    repo: &SideRepo,
    label: &str,
    planned: &[PlannedEdit],
    trash: &std::path::Path,
) -> Result<Applied> {
    let Some((now, then)) = edit_trees(repo, label, planned)? else {
        return Ok(Applied::default());
    };
    let changed = planned
        .iter()
        .filter(|one| matches!(one.becomes, Becomes::Content(_)));
    let moves: Vec<PathRestore> = changed
        .map(|one| PathRestore {
            path: one.path.clone(),
            target: then,
            post_image: now,
        })
        .collect();
    let outcome = repo.apply(&repo.plan_restore(&moves)?, trash);
    let left = outcome.conflicts.into_iter();
    let left: BTreeMap<RelPath, String> = left.map(|(path, why)| (path, why.to_string())).collect();
    let written = moves.iter().filter(|one| !left.contains_key(&one.path));
    let written = written.map(|one| RevertedFile::new(&one.path, now, then, false));
    Ok(Applied {
        written: written.collect(),
        left,
    })
}
