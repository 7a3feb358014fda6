//! Which lines of which contents a selection means.

use std::ops::Range;
use std::sync::Arc;

use lathe_protocol::ipc::{FileVersion, LineRange, ReviewDoubt, ReviewSelection};
use lathe_snapshot::SideRepo;
use parking_lot::Mutex;

use crate::error::{Result, ReviewError};
use crate::lines::marks::moved;
use crate::lines::{LineSet, Ranges};
use crate::scope::{Contents, Recent, ScopeFile, ScopeFiles};

/// Chosen lines of one file.
#[derive(Debug, Clone)]
pub struct Target {
    pub contents: Arc<Contents>,
    pub lines: LineSet,
    /// All of the file, also what is not lines: its name, its mode, its being there.
    pub whole: bool,
    /// Why not all of the file is known to be the agent's.
    pub doubt: Option<ReviewDoubt>,
}

impl Target {
    fn whole(files: &ScopeFiles, contents: Arc<Contents>) -> Target {
        Target {
            doubt: files.doubt(&contents.path, contents.from.as_ref()),
            lines: LineSet::all(contents.blocks()),
            whole: true,
            contents,
        }
    }
}

const GONE: &str = "This file has changed since it was shown. Look at it again";

/// Reads trees: blocks.
pub fn targets(
    repo: &SideRepo,
    recent: &Mutex<Recent>,
    files: &ScopeFiles,
    selection: &ReviewSelection,
) -> Result<Vec<Target>> {
    let read = |file: &ScopeFile| Contents::cached(recent, repo, file);
    match selection {
        ReviewSelection::All => files
            .files
            .iter()
            .map(|file| Ok(Target::whole(files, read(file)?)))
            .collect(),
        ReviewSelection::Files { files: chosen } => {
            let each = chosen.iter().map(|FileVersion { path, version }| {
                let contents = contents_of(repo, recent, files, path, version)?;
                Ok(Target::whole(files, contents))
            });
            each.collect()
        }
        ReviewSelection::File { path, version } => {
            let contents = contents_of(repo, recent, files, path, version)?;
            Ok(vec![Target::whole(files, contents)])
        }
        ReviewSelection::Lines {
            path,
            version,
            old,
            new,
        } => {
            let contents = contents_of(repo, recent, files, path, version)?;
            let lines = LineSet {
                old: ranges(old),
                new: ranges(new),
            };
            let (contents, lines) = match files.find(path) {
                Some(file) if file.version != *version => {
                    let newest = read(file)?;
                    let lines = in_newest(&contents, &newest, &lines);
                    (newest, lines)
                }
                _ => (contents, lines),
            };
            Ok(vec![Target {
                doubt: files.doubt(&contents.path, contents.from.as_ref()),
                lines: lines.changed_in(contents.blocks()),
                whole: false,
                contents,
            }])
        }
    }
}

/// The contents of a version that was shown, also if it is not the newest.
pub fn contents_of(
    repo: &SideRepo,
    recent: &Mutex<Recent>,
    files: &ScopeFiles,
    path: &str,
    version: &str,
) -> Result<Arc<Contents>> {
    let known = recent.lock().find(path, version);
    if let Some(known) = known {
        return Ok(known);
    }
    let file = files.find(path).filter(|file| file.version == version);
    let file = file.ok_or_else(|| ReviewError::refused(GONE))?;
    Contents::cached(recent, repo, file)
}

/// Chosen lines of an older version, where they are in the newest one.
fn in_newest(shown: &Contents, newest: &Contents, lines: &LineSet) -> LineSet {
    let (old, new) = shown.lines();
    let (newest_old, newest_new) = newest.lines();
    LineSet {
        old: moved(&old, &newest_old, &lines.old),
        new: moved(&new, &newest_new, &lines.new),
    }
}

fn ranges(lines: &[LineRange]) -> Ranges {
    let range = |one: &LineRange| -> Range<usize> { one.from.saturating_sub(1)..one.to };
    lines.iter().map(range).collect()
}
