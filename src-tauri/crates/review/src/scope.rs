//! The files that a review shows: for each, a tree with it before and a tree with it after.
//!
//! What a person changed between two steps of the agent counts as there before, so that only the
//! agent's lines are shown as changed. Contents are read file by file and only when needed.

mod contents;
mod shape;
mod spans;
mod unseen;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::{KeptState, ReviewDoubt, ReviewFile, ReviewScope};
use lathe_protocol::view::{DiffStatus, FoldReason};
use lathe_protocol::{MessageWithParts, SessionId};
use lathe_snapshot::{Change, ChangeKind, FileContent, Mode, RelPath, SideRepo, TreeId};
use parking_lot::Mutex;

use crate::error::{Result, ReviewError};
use crate::lines::{self, LineSet, marks::Mark};
use crate::snapshots::temporary_label;
use crate::steps::StepTrees;
use crate::{Review, steps};
pub use contents::{Contents, Recent};
pub use shape::{MOST_ROWS, context, rows, shape};
pub use spans::Spans;
pub use unseen::Unseen;

/// Decides which files are folded by default.
pub type FoldReasonOf = fn(&str, Option<&str>, Option<&str>, usize) -> Option<FoldReason>;

/// One file of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeFile {
    pub path: RelPath,
    /// Where it was before a rename.
    pub from: Option<RelPath>,
    /// The tree that has it before; at `from` if that is set.
    pub before: TreeId,
    pub after: TreeId,
    pub change: Change,
    /// Names both contents.
    pub version: String,
}

impl ScopeFile {
    pub fn name(&self) -> String {
        self.path.to_string()
    }

    pub fn old_path(&self) -> &RelPath {
        self.from.as_ref().unwrap_or(&self.path)
    }
}

/// The files of a scope, in path order.
#[derive(Debug, Default)]
pub struct ScopeFiles {
    pub files: Vec<ScopeFile>,
    /// For each path that was touched, also if nothing of it is left: the tree after the last time.
    ends: BTreeMap<RelPath, TreeId>,
    doubts: BTreeMap<RelPath, ReviewDoubt>,
    /// How many steps have no trees any more.
    missing: usize,
    /// The folded reason of each version, once it was computed.
    folded: Mutex<BTreeMap<String, Option<FoldReason>>>,
}

impl ScopeFiles {
    pub fn find(&self, name: &str) -> Option<&ScopeFile> {
        self.files.iter().find(|file| file.name() == name)
    }

    /// Why not all of a file is known to be the agent's.
    pub fn doubt(&self, path: &RelPath, from: Option<&RelPath>) -> Option<ReviewDoubt> {
        let paths = from.into_iter().chain([path]);
        paths
            .filter_map(|path| self.doubts.get(path).copied())
            .max()
    }
}

/// The lists that were read last, the newest last.
#[derive(Debug, Default)]
pub struct Lists(Vec<(ListKey, Arc<ScopeFiles>)>);

type ListKey = (SessionId, Vec<StepTrees>);

impl Lists {
    const MOST: usize = 6;

    fn get(&mut self, key: &ListKey) -> Option<Arc<ScopeFiles>> {
        let at = self.0.iter().position(|(one, _)| one == key)?;
        let found = self.0.remove(at);
        let files = found.1.clone();
        self.0.push(found);
        Some(files)
    }

    /// Any list of the session: most of its files are the same.
    fn latest(&self, session: &SessionId) -> Option<Arc<ScopeFiles>> {
        let mut all = self.0.iter().rev();
        let found = all.find(|((of, _), _)| of == session);
        found.map(|(_, files)| files.clone())
    }

    fn add(&mut self, key: ListKey, files: Arc<ScopeFiles>) {
        self.0.push((key, files));
        if self.0.len() > Self::MOST {
            self.0.remove(0);
        }
    }
}

/// Where a scope's changes come from.
pub enum Source {
    /// What these steps did.
    Steps(Vec<StepTrees>),
    /// From a tree to the files as they are now.
    Since(TreeId),
    /// From these contents to the files as they are now.
    Contents(Vec<(RelPath, Option<FileContent>)>),
}

/// The steps of a scope that is about the agent.
pub fn steps_in(messages: &[MessageWithParts], scope: &ReviewScope) -> Result<Vec<StepTrees>> {
    let mut all = steps::read_project(messages);
    match scope {
        ReviewScope::Turn { message_id } => {
            let turn = steps::turn_positions(messages, message_id);
            all.retain(|step| turn.contains(&step.message) || step.is_revert());
        }
        ReviewScope::Step {
            message_id,
            part_id,
        } => {
            let place = steps::step_parts(messages, message_id, part_id)
                .ok_or_else(|| ReviewError::missing("step", part_id.as_str()))?;
            all.retain(|step| place.contains(step) || step.is_revert());
        }
        ReviewScope::Until {
            message_id,
            part_id,
        } => {
            let place = steps::step_parts(messages, message_id, part_id)
                .ok_or_else(|| ReviewError::missing("step", part_id.as_str()))?;
            all.retain(|step| !place.is_before(step));
        }
        _ => {}
    }
    Ok(all)
}

/// Whether a part of a message belongs to a scope, by their positions.
pub fn within(
    messages: &[MessageWithParts],
    scope: &ReviewScope,
) -> impl Fn(usize, usize) -> bool + use<> {
    let mut turn = Vec::new();
    let mut step = None;
    match scope {
        ReviewScope::Turn { message_id } => turn = steps::turn_positions(messages, message_id),
        ReviewScope::Step {
            message_id,
            part_id,
        }
        | ReviewScope::Until {
            message_id,
            part_id,
        } => step = steps::step_parts(messages, message_id, part_id),
        ReviewScope::Session | ReviewScope::Snapshot { .. } | ReviewScope::Uncommitted => {}
    }
    let scope = scope.clone();
    move |message, part| match (&scope, &step) {
        (ReviewScope::Session, _) => true,
        (ReviewScope::Turn { .. }, _) => turn.contains(&message),
        (ReviewScope::Step { .. }, Some(step)) => {
            step.message == message && step.parts.contains(&part)
        }
        (ReviewScope::Until { .. }, Some(step)) => (message, part) < (step.message, step.parts.end),
        // Compared with the disk: whoever changed it is in the list.
        _ => false,
    }
}

impl Review {
    /// Lists the files of a source. The last lists are remembered as long as nothing was added.
    pub async fn list(
        &self,
        session: &SessionId,
        worktree: &Path,
        source: Source,
    ) -> Result<Arc<ScopeFiles>> {
        let label = temporary_label(session);
        let key = match &source {
            Source::Steps(steps) => Some((session.clone(), steps.clone())),
            _ => None,
        };
        if let Some(known) = key.as_ref().and_then(|key| self.lists.lock().get(key)) {
            return Ok(known);
        }
        let earlier = self.lists.lock().latest(session);
        let read = move |repo: &SideRepo| {
            let listed = match source {
                Source::Steps(steps) => spans::of_steps(repo, &label, &steps)?,
                Source::Since(tree) => spans::since(repo, &label, tree)?,
                Source::Contents(before) => spans::of_contents(repo, &label, before)?,
            };
            let files = read_files(repo, &listed.spans, earlier.as_deref())?;
            repo.release(&repo.references(&label)?)?;
            let folded = earlier.map(|files| files.folded.lock().clone());
            let spans = listed.spans.into_iter();
            let ends = spans.map(|(path, (_, after))| (path, after));
            Ok(ScopeFiles {
                files,
                ends: ends.collect(),
                doubts: listed.doubts,
                missing: listed.missing,
                folded: Mutex::new(folded.unwrap_or_default()),
            })
        };
        let files = Arc::new(self.snapshots.with_repo(worktree, read).await?);
        if let Some(key) = key {
            self.lists.lock().add(key, files.clone());
        }
        Ok(files)
    }
}

/// What is known of an earlier list is taken over where both contents are the same. Files that were
/// added or removed are looked at again, because they may be renamed.
fn read_files(
    repo: &SideRepo,
    spans: &Spans,
    earlier: Option<&ScopeFiles>,
) -> Result<Vec<ScopeFile>> {
    let known: HashMap<&RelPath, &ScopeFile> = earlier
        .iter()
        .flat_map(|files| &files.files)
        .filter(|file| matches!(file.change.kind, ChangeKind::Modified | ChangeKind::Mode))
        .map(|file| (&file.path, file))
        .collect();
    let mut files = Vec::new();
    let mut listed = Vec::new();
    for (path, (before, after)) in spans {
        let same = match known.get(path) {
            Some(file) if file.version == version(repo, (*before, path), (*after, path))? => {
                Some(*file)
            }
            _ => None,
        };
        match same {
            Some(file) => files.push(ScopeFile {
                before: *before,
                after: *after,
                ..file.clone()
            }),
            None => listed.push((path.clone(), *before, *after)),
        }
    }
    for change in repo.diff_paths(&listed)? {
        let from = match &change.kind {
            ChangeKind::Renamed { from } => Some(from.clone()),
            _ => None,
        };
        let path = change.path.clone();
        let old_path = from.as_ref().unwrap_or(&path);
        let (Some((before, _)), Some((_, after))) = (spans.get(old_path), spans.get(&path)) else {
            continue;
        };
        files.push(ScopeFile {
            version: version(repo, (*before, old_path), (*after, &path))?,
            before: *before,
            after: *after,
            path,
            from,
            change,
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The hashes of both contents and their kinds.
fn version(
    repo: &SideRepo,
    before: (TreeId, &RelPath),
    after: (TreeId, &RelPath),
) -> Result<String> {
    let side = |(tree, path): (TreeId, &RelPath)| -> Result<String> {
        let entry = repo.entry(tree, path)?;
        Ok(entry.map_or("-".to_owned(), |(id, mode)| {
            format!("{}{}", id.get(..16).unwrap_or(&id), mode_sign(mode))
        }))
    };
    Ok(format!("{}.{}", side(before)?, side(after)?))
}

/// What steps changed, without looking at renames across other steps.
pub fn count(repo: &SideRepo, label: &str, steps: &[StepTrees]) -> Result<Vec<Change>> {
    let spans = spans::of_steps(repo, label, steps)?.spans;
    let listed: Vec<(RelPath, TreeId, TreeId)> = spans
        .into_iter()
        .map(|(path, (before, after))| (path, before, after))
        .collect();
    Ok(repo.diff_paths(&listed)?)
}

fn mode_sign(mode: Mode) -> &'static str {
    match mode {
        Mode::Executable => "x",
        Mode::Link => "l",
        Mode::File | Mode::Folder => "",
    }
}

/// What a listing needs beside the files themselves.
pub struct Look<'a> {
    pub kept: &'a BTreeMap<String, Vec<Mark>>,
    pub viewed: &'a BTreeMap<String, String>,
    pub fold: FoldReasonOf,
    pub recent: &'a Mutex<Recent>,
    /// The whole session, if the scope ends before it does: what a later step of the agent changed
    /// was not edited by the person.
    pub session: Option<&'a ScopeFiles>,
}

/// Describes the files for a person.
pub fn describe(repo: &SideRepo, files: &ScopeFiles, look: &Look<'_>) -> Result<Vec<ReviewFile>> {
    let each = files.files.iter();
    each.map(|file| describe_one(repo, files, file, look))
        .collect()
}

fn describe_one(
    repo: &SideRepo,
    files: &ScopeFiles,
    file: &ScopeFile,
    look: &Look<'_>,
) -> Result<ReviewFile> {
    let name = file.name();
    let folded_of = format!("{name}@{}", file.version);
    let known = files.folded.lock().get(&folded_of).copied();
    let folded = match known {
        Some(folded) => folded,
        None => {
            let reason = fold_reason(repo, file, &name, look.fold);
            files.folded.lock().insert(folded_of, reason);
            reason
        }
    };
    let marks = look.kept.get(&name).map(Vec::as_slice).unwrap_or_default();
    let kept = match marks {
        [] => KeptState::None,
        marks => {
            let contents = Contents::cached(look.recent, repo, file)?;
            kept_state(&contents, marks)
        }
    };
    let mode = |mode: Option<Mode>| match mode {
        Some(Mode::Link) => "link",
        Some(Mode::Executable) => "755",
        _ => "644",
    };
    let (old_mode, new_mode) = (file.change.old_mode, file.change.new_mode);
    let differs = old_mode.is_some() && new_mode.is_some() && mode(old_mode) != mode(new_mode);
    Ok(ReviewFile {
        status: status(&file.change),
        old_path: file.from.as_ref().map(ToString::to_string),
        binary: file.change.binary,
        old_mode: differs.then(|| mode(old_mode).to_owned()),
        mode: differs.then(|| mode(new_mode).to_owned()),
        additions: file.change.additions,
        deletions: file.change.deletions,
        folded,
        kept,
        viewed: look.viewed.get(&name) == Some(&file.version),
        edited: !is_as_left(repo, file, look.session),
        doubt: files.doubt(&file.path, file.from.as_ref()),
        version: file.version.clone(),
        path: name,
    })
}

/// Only one of the contents is read: the new one, if there is one.
fn fold_reason(
    repo: &SideRepo,
    file: &ScopeFile,
    name: &str,
    fold: FoldReasonOf,
) -> Option<FoldReason> {
    let change = &file.change;
    if change.binary {
        return None;
    }
    let bytes = match change.new_mode {
        Some(_) => repo.blob(file.after, &file.path),
        None => repo.blob(file.before, file.old_path()),
    };
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let changed = change.additions + change.deletions;
    fold(name, None, text.as_deref(), changed)
}

/// Whether the file on the disk is as the agent left it at last.
fn is_as_left(repo: &SideRepo, file: &ScopeFile, session: Option<&ScopeFiles>) -> bool {
    let last = session.and_then(|session| session.ends.get(&file.path));
    repo.is_on_disk(*last.unwrap_or(&file.after), &file.path)
}

fn status(change: &Change) -> DiffStatus {
    match &change.kind {
        ChangeKind::Added => DiffStatus::Added,
        ChangeKind::Deleted => DiffStatus::Deleted,
        ChangeKind::Renamed { .. } => DiffStatus::Renamed,
        ChangeKind::Mode => DiffStatus::Mode,
        _ if change.binary => DiffStatus::Binary,
        ChangeKind::Modified | ChangeKind::TypeChange => DiffStatus::Modified,
    }
}

/// The kept lines of a file.
pub fn kept_lines(contents: &Contents, marks: &[Mark]) -> LineSet {
    let (old, new) = contents.lines();
    lines::marks::kept(&old, &new, contents.blocks(), marks)
}

pub fn kept_state(contents: &Contents, marks: &[Mark]) -> KeptState {
    let whole = Mark::whole_file(&contents.version);
    let changed = LineSet::all(contents.blocks()).len();
    if changed == 0 {
        return match marks.contains(&whole) {
            true => KeptState::All,
            false => KeptState::None,
        };
    }
    match kept_lines(contents, marks).len() {
        0 => KeptState::None,
        kept if kept == changed => KeptState::All,
        _ => KeptState::Some,
    }
}
