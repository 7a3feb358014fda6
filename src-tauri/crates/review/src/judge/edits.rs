//! One change of a file, merged into the file as it is now. Reads files: blocks.

use std::collections::BTreeMap;

use lathe_protocol::ipc::{
    LineConflict, RevertChange, RevertChoice, RevertFile, RevertSides, ReviewDoubt,
};
use lathe_snapshot::{FileContent, FileImage, PathRestore, RelPath, SideRepo, TreeId};

use crate::error::Result;
use crate::lines::{self, merge::merge};
use crate::revert::{BROKEN, CUT_SHORT, RevertedFile, SHARED};

/// A change from one content to another one, wherever the file is by now.
#[derive(Debug, Clone)]
pub struct Edit {
    pub path: RelPath,
    pub base: Option<FileContent>,
    pub wanted: Option<FileContent>,
    /// Where the file is wanted, if it has been renamed: then it is brought back there, and is no
    /// longer at `path`.
    pub from: Option<RelPath>,
    /// Why not all of it is known to be the agent's: then the person decides.
    pub doubt: Option<ReviewDoubt>,
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
    pub doubt: Option<ReviewDoubt>,
    /// The person wants what is wanted in a file of its own, too.
    pub beside: bool,
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
        Edit {
            path,
            base,
            wanted,
            from: None,
            doubt: None,
        }
    }

    /// The change between two trees.
    pub fn between(
        repo: &SideRepo,
        path: &RelPath,
        from: Option<&RelPath>,
        (base, wanted): (TreeId, TreeId),
    ) -> Result<Edit> {
        let place = from.unwrap_or(path);
        Ok(Edit {
            from: from.cloned(),
            ..Edit::new(
                path.clone(),
                repo.image_in(base, path)?.content,
                repo.image_in(wanted, place)?.content,
            )
        })
    }
}

impl PlannedEdit {
    /// A file that is not there yet.
    pub fn new_file(image: FileImage) -> PlannedEdit {
        PlannedEdit {
            becomes: Becomes::Content(image.content),
            ..PlannedEdit::same(image.path)
        }
    }

    /// The person has to decide about it, or wants it to stay.
    fn staying(edit: &Edit, path: &RelPath, choice: Option<RevertChoice>) -> PlannedEdit {
        PlannedEdit {
            wanted: edit.wanted.clone(),
            was_conflict: true,
            doubt: edit.doubt,
            beside: choice == Some(RevertChoice::Both),
            ..PlannedEdit::same(path.clone())
        }
    }

    fn same(path: RelPath) -> PlannedEdit {
        PlannedEdit {
            path,
            now: None,
            wanted: None,
            becomes: Becomes::Same,
            merged: false,
            conflicts: Vec::new(),
            was_conflict: false,
            doubt: None,
            beside: false,
        }
    }

    /// The file, if a person has to decide about it.
    pub fn open_file(&self) -> Option<RevertFile> {
        let Becomes::Conflict(why) = &self.becomes else {
            return None;
        };
        Some(RevertFile {
            path: self.path.to_string(),
            change: self.change(),
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
            Becomes::Conflict(_) => match self.doubt {
                Some(ReviewDoubt::Shared) => RevertChange::Shared,
                Some(ReviewDoubt::CutShort) => RevertChange::Unknown,
                Some(ReviewDoubt::Between) | None => RevertChange::Conflict,
            },
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

fn why(doubt: ReviewDoubt) -> &'static str {
    match doubt {
        ReviewDoubt::Between => BROKEN,
        ReviewDoubt::Shared => SHARED,
        ReviewDoubt::CutShort => CUT_SHORT,
    }
}

/// What an edit comes to: a renamed file is brought back to its old place and is gone from its
/// new one, both or neither. `choose` has what the person has decided, by the path in conflict.
pub fn plan(
    repo: &SideRepo,
    edit: &Edit,
    choose: impl Fn(&RelPath) -> Option<RevertChoice>,
) -> Result<Vec<PlannedEdit>> {
    let choice = choose(&edit.path);
    let Some(from) = &edit.from else {
        return Ok(vec![plan_edit(repo, edit, choice)?]);
    };
    if let Some(doubt) = edit.doubt.filter(|_| choice != Some(RevertChoice::Before)) {
        let now = repo.read_image(&edit.path).ok();
        return Ok(vec![PlannedEdit {
            now: now.and_then(|image| image.content),
            becomes: choice.map_or(Becomes::Conflict(why(doubt)), |_| Becomes::Same),
            ..PlannedEdit::staying(edit, choice.map_or(&edit.path, |_| from), choice)
        }]);
    }
    let back = Edit::new(from.clone(), None, edit.wanted.clone());
    let mut back = plan_edit(repo, &back, choose(from))?;
    let is_back = matches!(back.becomes, Becomes::Same) && !back.was_conflict;
    let away = Edit {
        wanted: edit.wanted.clone().filter(|_| !is_back),
        ..Edit::new(edit.path.clone(), edit.base.clone(), None)
    };
    let mut away = plan_edit(repo, &away, choice)?;
    let is_open = |one: &&PlannedEdit| matches!(one.becomes, Becomes::Conflict(_));
    let open: Vec<PlannedEdit> = [&back, &away]
        .into_iter()
        .filter(is_open)
        .cloned()
        .collect();
    if !open.is_empty() {
        return Ok(open);
    }
    if is_back {
        return Ok(vec![away]);
    }
    let stays = |one: &PlannedEdit| matches!(one.becomes, Becomes::Same) && one.was_conflict;
    if stays(&back) || stays(&away) {
        let chosen = if stays(&back) { choose(from) } else { choice };
        return Ok(vec![PlannedEdit::staying(edit, from, chosen)]);
    }
    let content = match std::mem::replace(&mut away.becomes, Becomes::Content(None)) {
        Becomes::Content(content) => content,
        Becomes::Same | Becomes::Conflict(_) => away.now.clone(),
    };
    back.becomes = Becomes::Content(content);
    back.merged = std::mem::take(&mut away.merged);
    back.conflicts = std::mem::take(&mut away.conflicts);
    back.was_conflict |= away.was_conflict;
    back.beside |= std::mem::take(&mut away.beside);
    Ok(match away.now {
        Some(_) => vec![back, away],
        None => vec![back],
    })
}

/// `choice` is what the person has decided about a conflict.
pub fn plan_edit(
    repo: &SideRepo,
    edit: &Edit,
    choice: Option<RevertChoice>,
) -> Result<PlannedEdit> {
    let mut planned = plan_choice(repo, edit, choice)?;
    planned.beside = planned.was_conflict && choice == Some(RevertChoice::Both);
    Ok(planned)
}

fn plan_choice(repo: &SideRepo, edit: &Edit, choice: Option<RevertChoice>) -> Result<PlannedEdit> {
    let mut planned = PlannedEdit {
        wanted: edit.wanted.clone(),
        doubt: edit.doubt,
        ..PlannedEdit::same(edit.path.clone())
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
    if let Some(doubt) = edit.doubt {
        planned.was_conflict = true;
        match choice {
            Some(RevertChoice::Before) => {}
            Some(RevertChoice::Mine | RevertChoice::Both) => return Ok(planned),
            None => {
                planned.becomes = Becomes::Conflict(why(doubt));
                return Ok(planned);
            }
        }
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
                planned.was_conflict |= !planned.conflicts.is_empty();
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
