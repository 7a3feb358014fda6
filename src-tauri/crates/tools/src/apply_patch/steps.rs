//! Writes a whole patch, or puts back what it had written already.

use std::fs::Permissions;

use crate::changes::{Found, ShownChange, not_written};
use crate::context::{ContentHash, FileReads};
use crate::files::{self, Expected, FileError};
use crate::paths::Place;
use crate::text;
use crate::tool::ToolFailure;
use crate::written::FileChange;

/// What happens to one file; all content is known.
pub(super) enum Step {
    Write {
        place: Place,
        found: Option<Found>,
        after: Vec<u8>,
    },
    Move {
        from: Place,
        found: Found,
        to: Place,
        after: Vec<u8>,
    },
    Delete {
        place: Place,
        found: Found,
    },
}

impl Step {
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let (first, second) = match self {
            Self::Write { place, .. } | Self::Delete { place, .. } => (place, None),
            Self::Move { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second)
    }

    /// Each file with what it was and what it will be.
    pub fn changes(&self) -> Vec<FileChange> {
        let change = |place: &Place, found: Option<&Found>, after: Option<&Vec<u8>>| FileChange {
            path: place.path().to_owned(),
            before: found.map(|found| found.bytes.clone()),
            after: after.cloned(),
        };
        match self {
            Self::Write {
                place,
                found,
                after,
            } => vec![change(place, found.as_ref(), Some(after))],
            Self::Delete { place, found } => vec![change(place, Some(found), None)],
            Self::Move {
                from,
                found,
                to,
                after,
            } => vec![
                change(from, Some(found), None),
                change(to, None, Some(after)),
            ],
        }
    }

    pub fn shown(&self) -> ShownChange {
        match self {
            Self::Write {
                place,
                found,
                after,
            } => {
                let before = found.as_ref().map(|found| found.bytes.as_slice());
                ShownChange::new(place.shown(), before, Some(after))
            }
            Self::Delete { place, found } => {
                ShownChange::new(place.shown(), Some(&found.bytes), None)
            }
            Self::Move {
                from,
                found,
                to,
                after,
            } => ShownChange::new(to.shown(), Some(&found.bytes), Some(after))
                .moved_from(from.shown()),
        }
    }

    pub fn summary(&self) -> String {
        let name = |place: &Place| text::quoted(place.shown());
        match self {
            Self::Write {
                place, found: None, ..
            } => format!("Added {}", name(place)),
            Self::Write { place, .. } => format!("Updated {}", name(place)),
            Self::Delete { place, .. } => format!("Deleted {}", name(place)),
            Self::Move { from, to, .. } => format!("Moved {} to {}", name(from), name(to)),
        }
    }

    /// What the model has seen of these files by writing them.
    pub fn record_reads(&self, reads: &FileReads) {
        match self {
            Self::Write { place, after, .. } => reads.record(place.path(), ContentHash::of(after)),
            Self::Delete { place, .. } => reads.forget(place.path()),
            Self::Move {
                from, to, after, ..
            } => {
                reads.forget(from.path());
                reads.record(to.path(), ContentHash::of(after));
            }
        }
    }
}

/// One change on disk with what takes it back.
enum Undo<'a> {
    Remove {
        place: &'a Place,
        written: ContentHash,
    },
    Restore {
        place: &'a Place,
        written: Expected,
        bytes: &'a [u8],
        mode: Option<Permissions>,
    },
}

pub(super) fn write_all(steps: &[Step]) -> Result<(), ToolFailure> {
    let mut done: Vec<Undo> = Vec::new();
    for step in steps {
        if let Err((place, error)) = write(step, &mut done) {
            let mut failure = not_written(place, &error);
            let failed = undo_all(done);
            failure.text.push_str(&if failed.is_empty() {
                " No file of the patch was changed.".to_owned()
            } else {
                format!(
                    " These couldn’t be put back as they were: {}.",
                    failed.join(", ")
                )
            });
            return Err(failure);
        }
    }
    Ok(())
}

fn write<'a>(step: &'a Step, done: &mut Vec<Undo<'a>>) -> Result<(), (&'a Place, FileError)> {
    match step {
        Step::Write {
            place,
            found,
            after,
        } => {
            let expected = found
                .as_ref()
                .map_or(Expected::Absent, |f| Expected::Content(f.hash));
            files::replace(place, after, expected).map_err(|error| (place, error))?;
            let written = ContentHash::of(after);
            done.push(match found {
                None => Undo::Remove { place, written },
                Some(found) => Undo::Restore {
                    place,
                    written: Expected::Content(written),
                    bytes: &found.bytes,
                    mode: None,
                },
            });
            Ok(())
        }
        Step::Delete { place, found } => remove(place, found, done),
        Step::Move {
            from,
            found,
            to,
            after,
        } => {
            let mode = mode(from);
            files::replace(to, after, Expected::Absent).map_err(|error| (to, error))?;
            let written = ContentHash::of(after);
            done.push(Undo::Remove { place: to, written });
            set_mode(to, mode);
            remove(from, found, done)
        }
    }
}

fn remove<'a>(
    place: &'a Place,
    found: &'a Found,
    done: &mut Vec<Undo<'a>>,
) -> Result<(), (&'a Place, FileError)> {
    let mode = mode(place);
    files::remove(place, found.hash).map_err(|error| (place, error))?;
    done.push(Undo::Restore {
        place,
        written: Expected::Absent,
        bytes: &found.bytes,
        mode,
    });
    Ok(())
}

/// Undoes the changes. Returns the files that were changed again since, which are left alone.
fn undo_all(done: Vec<Undo>) -> Vec<String> {
    let mut failed = Vec::new();
    for undo in done.into_iter().rev() {
        let (place, result) = match undo {
            Undo::Remove { place, written } => (place, files::remove(place, written)),
            Undo::Restore {
                place,
                written,
                bytes,
                mode,
            } => {
                let restored = files::replace(place, bytes, written);
                set_mode(place, mode);
                (place, restored)
            }
        };
        if result.is_err() {
            failed.push(text::quoted(place.shown()));
        }
    }
    failed
}

fn mode(place: &Place) -> Option<Permissions> {
    let meta = files::open(place).ok()?.metadata().ok()?;
    Some(meta.permissions())
}

/// Errors are ignored: the content matters more than the mode.
fn set_mode(place: &Place, mode: Option<Permissions>) {
    if let (Some(mode), Ok(file)) = (mode, files::open(place)) {
        let _ = file.set_permissions(mode);
    }
}
