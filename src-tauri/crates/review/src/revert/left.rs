//! Files that a revert leaves as they are, and what a person decides about them. Reads and writes
//! trees: blocks.

use lathe_protocol::ipc::{RevertChange, RevertChoice, RevertFile, RevertSides};
use lathe_snapshot::{FileContent, FileImage, PathRestore, RelPath, SideRepo, TreeId};

use super::plan::Place;
use crate::credit::Doubt;
use crate::error::Result;
use crate::steps::Doubtful;

/// Longer texts are not shown side by side.
const LONGEST_SIDE: usize = 64 << 10;

const BY_OTHERS: &str = "changed while a command of the agent ran, and not by the command";
pub const SHARED: &str =
    "changed while a command of the agent ran, and it is not known whether only the command did it";
pub const CUT_SHORT: &str = "changed since a step of the agent that was cut short";

/// A file that is not moved unless the person decides so.
pub struct Left {
    /// Absent where no tree has the file.
    pub path: Option<RelPath>,
    pub name: String,
    /// The tree that has the file as it was before the agent.
    pub before: Option<TreeId>,
    pub change: RevertChange,
    pub reason: String,
    pub additions: usize,
    pub deletions: usize,
}

impl Left {
    /// A file that cannot be moved as planned.
    pub fn conflict(place: &Place<'_>, one: &PathRestore, reason: String) -> Result<Left> {
        let change = place
            .repo
            .diff_path(&one.path, one.post_image, one.target)?;
        Ok(Left {
            name: place.name(&one.path),
            path: Some(one.path.clone()),
            before: Some(one.target),
            change: RevertChange::Conflict,
            reason,
            additions: change.as_ref().map_or(0, |change| change.additions),
            deletions: change.as_ref().map_or(0, |change| change.deletions),
        })
    }

    pub fn doubtful(place: &Place<'_>, path: RelPath, doubtful: &Doubtful) -> Result<Left> {
        let (change, reason) = match doubtful.why {
            Doubt::ByOthers => (RevertChange::Others, BY_OTHERS),
            Doubt::Shared => (RevertChange::Shared, SHARED),
            Doubt::CutShort => (RevertChange::Unknown, CUT_SHORT),
        };
        Ok(Left {
            name: place.name(&path),
            path: Some(path),
            before: Some(doubtful.start),
            change,
            reason: reason.to_owned(),
            additions: 0,
            deletions: 0,
        })
    }

    /// Whether the file already is as it was before the agent.
    fn is_settled(&self, place: &Place<'_>) -> bool {
        let (Some(path), Some(before)) = (&self.path, self.before) else {
            return false;
        };
        let now = place.repo.read_image(path).ok();
        now.is_some_and(
            |now| match (now.content, content(place.repo, before, path)) {
                (Some(now), Some(before)) => now.is_same(&before),
                (None, None) => true,
                _ => false,
            },
        )
    }

    fn sides(&self, place: &Place<'_>) -> Option<RevertSides> {
        let (path, before) = (self.path.as_ref()?, self.before?);
        let text = |content: Option<FileContent>| {
            let content = content.filter(|content| content.bytes.len() <= LONGEST_SIDE)?;
            String::from_utf8(content.bytes).ok()
        };
        let now = place.repo.read_image(path).ok().and_then(|now| now.content);
        Some(RevertSides {
            before: text(content(place.repo, before, path)),
            now: text(now),
        })
    }
}

fn content(repo: &SideRepo, tree: TreeId, path: &RelPath) -> Option<FileContent> {
    repo.image_in(tree, path).ok()?.content
}

/// What is left and what is done about it after the person's decisions.
#[derive(Default)]
pub struct Settled {
    pub moves: Vec<PathRestore>,
    pub files: Vec<RevertFile>,
}

/// A file that the person wants changed: what it is now, and the tree that it becomes as.
struct Forced {
    now: FileImage,
    before: TreeId,
}

/// Files whose bytes are kept in memory at once.
const MOST_AT_ONCE: usize = 64 << 20;

impl Settled {
    pub fn new(place: &Place<'_>, left: Vec<Left>) -> Result<Settled> {
        let mut settled = Settled::default();
        let mut forced = Vec::new();
        let mut beside = Vec::new();
        let mut bytes = 0;
        for one in left {
            if one.change != RevertChange::Conflict && one.is_settled(place) {
                continue;
            }
            let choice = place.options.choices.get(&one.name).copied();
            let decided = place.options.force && one.change.is_open();
            let choice = choice.or(decided.then_some(RevertChoice::Before));
            let known = one.path.as_ref().zip(one.before);
            match (choice, known) {
                (Some(RevertChoice::Mine), _) => {}
                (Some(RevertChoice::Before), Some((path, before))) => {
                    match place.repo.read_image(path) {
                        Ok(now) => {
                            bytes += length(&now);
                            forced.push(Forced { now, before });
                        }
                        // A folder or something else is in its place.
                        Err(_) => settled.leave(place, &one),
                    }
                }
                (Some(RevertChoice::Both), Some((path, before))) => {
                    let written = written_beside(place.repo, path, before);
                    bytes += written.as_ref().map_or(0, length);
                    beside.extend(written);
                }
                (None, _) | (_, None) => settled.leave(place, &one),
            }
            if bytes > MOST_AT_ONCE {
                settled.force(place, std::mem::take(&mut forced))?;
                settled.write_beside(place, std::mem::take(&mut beside))?;
                bytes = 0;
            }
        }
        settled.force(place, forced)?;
        settled.write_beside(place, beside)?;
        Ok(settled)
    }

    fn leave(&mut self, place: &Place<'_>, one: &Left) {
        self.files.push(RevertFile {
            path: one.name.clone(),
            change: one.change,
            reason: Some(one.reason.clone()),
            additions: one.additions,
            deletions: one.deletions,
            sides: one.sides(place),
        });
    }

    /// All files as they are now are kept as one tree: each tree is a file of its own on the disk.
    fn force(&mut self, place: &Place<'_>, forced: Vec<Forced>) -> Result<()> {
        let (images, targets): (Vec<FileImage>, Vec<TreeId>) =
            forced.into_iter().map(|one| (one.now, one.before)).unzip();
        let Some(now) = keep(place, &images)? else {
            return Ok(());
        };
        for (image, before) in images.iter().zip(targets) {
            self.move_from(place, &image.path, now, before)?;
        }
        Ok(())
    }

    fn write_beside(&mut self, place: &Place<'_>, written: Vec<FileImage>) -> Result<()> {
        let absent = written.iter().map(|image| FileImage {
            path: image.path.clone(),
            content: None,
        });
        let absent: Vec<FileImage> = absent.collect();
        let (Some(absent), Some(target)) = (keep(place, &absent)?, keep(place, &written)?) else {
            return Ok(());
        };
        for image in &written {
            self.move_from(place, &image.path, absent, target)?;
        }
        Ok(())
    }

    fn move_from(
        &mut self,
        place: &Place<'_>,
        path: &RelPath,
        now: TreeId,
        before: TreeId,
    ) -> Result<()> {
        let change = place.repo.diff_path(path, now, before)?;
        self.files
            .extend(change.map(|change| super::plan::describe(place, &change)));
        self.moves.push(PathRestore {
            path: path.clone(),
            target: before,
            post_image: now,
        });
        Ok(())
    }
}

fn length(image: &FileImage) -> usize {
    let content = image.content.as_ref();
    content.map_or(0, |content| content.bytes.len())
}

fn keep(place: &Place<'_>, images: &[FileImage]) -> Result<Option<TreeId>> {
    match images.is_empty() {
        true => Ok(None),
        false => Ok(Some(place.repo.keep_images(place.label, images)?)),
    }
}

/// The version before the agent, under a name that is free. Where there was no file before the
/// agent, there is nothing to write.
fn written_beside(repo: &SideRepo, path: &RelPath, before: TreeId) -> Option<FileImage> {
    let content = content(repo, before, path)?;
    Some(FileImage {
        path: free_name(repo, path, "before")?,
        content: Some(content),
    })
}

/// `notes.txt` becomes `notes.before.txt`, or one with a number if that exists.
pub fn free_name(repo: &SideRepo, path: &RelPath, word: &str) -> Option<RelPath> {
    let name = path.name();
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let (stem, end) = name.split_at(dot.filter(|at| *at > 0).unwrap_or(name.len()));
    let parent = path.parent();
    (1..100).find_map(|number| {
        let middle = match number {
            1 => format!(".{word}"),
            number => format!(".{word}-{number}"),
        };
        let mut bytes = Vec::new();
        if let Some(parent) = &parent {
            bytes.extend_from_slice(parent.as_bytes());
            bytes.push(b'/');
        }
        bytes.extend_from_slice(stem);
        bytes.extend_from_slice(middle.as_bytes());
        bytes.extend_from_slice(end);
        let beside = RelPath::new(bytes).ok()?;
        let free = repo.read_image(&beside).ok()?.content.is_none();
        free.then_some(beside)
    })
}
