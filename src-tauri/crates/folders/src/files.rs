//! Files of a project, for a client that shows them: what it may read is what the agent may read
//! without asking.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lathe_protocol::ipc::Mention;
use lathe_protocol::{Extra, FileDiff, FileStatus, Project};
use lathe_records::{Failed, Result};
use lathe_review::lines;
use lathe_tools::LinkedSecrets;
use lathe_tools::context::MayRead;
use lathe_tools::files::FileError;
use lathe_tools::grep::{self, LinePlaces};
use lathe_tools::paths::{self, Place};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Folders;

/// Longer files are listed without their text.
const MOST_TEXT: u64 = 1024 * 1024;
/// All texts of one answer together.
const MOST_TEXTS: usize = 32 * 1024 * 1024;
/// Changed files beyond these are listed without their text, too.
const MOST_COMPARED: usize = 2_000;
const MOST_SYMBOLS: usize = 200;

/// A folder of a project, and a path in it that a client names.
#[derive(Debug, Clone, Copy)]
pub struct FilePlace<'a> {
    pub project: &'a Project,
    pub directory: &'a Path,
    pub path: &'a str,
}

/// What changed files are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesFrom {
    /// The newest commit.
    Head,
    /// The commit at which the branch left the default one.
    DefaultBranch,
}

impl Folders {
    /// A file or folder of the project, where no link leads out of it.
    pub fn locate(&self, at: FilePlace<'_>) -> Result<PathBuf> {
        Ok(self.place(at)?.path().to_owned())
    }

    fn place(&self, at: FilePlace<'_>) -> Result<Place> {
        let root = root_of(at.project, at.directory)?;
        let path = if at.path.is_empty() { "." } else { at.path };
        let directory = real(at.directory)?;
        let place = paths::resolve(path, &directory, &root, None);
        let place = place.map_err(|bad| Failed::refused(format!("{path} can’t be used: {bad}")))?;
        match place.is_inside() {
            true => Ok(place),
            false => Err(outside(path)),
        }
    }

    /// The content of a file, unless the agent would have to ask for it.
    pub async fn read_file(&self, at: FilePlace<'_>, most: u64) -> Result<Vec<u8>> {
        let place = self.place(at)?;
        let root = root_of(at.project, at.directory)?;
        let may_read = self.may_read(at.project, at.directory).await?;
        let shown = place.shown().to_owned();
        let read = tokio::task::spawn_blocking(move || {
            lathe_tools::read_unasked(&place, &root, may_read, most)
        });
        match read.await {
            Ok(Ok(Some(bytes))) => Ok(bytes),
            Ok(Ok(None)) => Err(Failed::refused(format!(
                "{shown} may hold secrets: the agent would ask before it reads it"
            ))),
            Ok(Err(FileError::Missing)) => Err(Failed::missing("file", shown)),
            Ok(Err(error)) => Err(Failed::refused(format!("{shown}: {error}"))),
            Err(error) => Err(Failed::refused(error.to_string())),
        }
    }

    /// The lines of files below the folder that match a regular expression.
    pub async fn find_text(
        &self,
        project: &Project,
        directory: &Path,
        pattern: &str,
        limit: usize,
    ) -> Result<Vec<LinePlaces>> {
        if pattern.is_empty() {
            return Ok(Vec::new());
        }
        let root = root_of(project, directory)?;
        let folder = real(directory)?;
        if !folder.starts_with(&root) {
            return Err(outside(&folder.display().to_string()));
        }
        let may_read = self.may_read(project, directory).await?;
        let pattern = pattern.to_owned();
        // Ends when nobody waits for it any more.
        let cancel = CancellationToken::new();
        let _ends = cancel.clone().drop_guard();
        let found = tokio::task::spawn_blocking(move || {
            grep::find_places(&folder, &root, &pattern, may_read, limit, &cancel)
        });
        let found = found.await;
        let found = found.map_err(|error| Failed::refused(error.to_string()))?;
        found.map_err(|failure| Failed::refused(failure.text))
    }

    /// The functions and types whose names match, best first.
    pub async fn find_symbols(&self, project: &Project, query: &str, limit: usize) -> Vec<Mention> {
        let finder = self.base.workspace.finder();
        let root = Path::new(&project.worktree);
        finder
            .find_symbols(root, query, limit.min(MOST_SYMBOLS))
            .await
    }

    /// What is not committed, or not in the default branch. None outside of a repository.
    pub async fn changed_files(
        &self,
        project: &Project,
        directory: &Path,
        from: ChangesFrom,
    ) -> Result<Vec<FileDiff>> {
        if !lathe_workspace::git::in_repository(directory) {
            return Ok(Vec::new());
        }
        let git = self.sessions.git(directory).await?;
        let commit = match from {
            ChangesFrom::Head => git.head().await,
            ChangesFrom::DefaultBranch => git.branched_from().await,
        };
        let may_read = self.may_read(project, directory).await?;
        let changed = git.changed_since(commit.as_deref()).await?;
        let root = root_of(project, directory)?;
        let folder = real(directory)?;
        let compared = tokio::task::spawn_blocking(move || {
            let secrets = LinkedSecrets::new(root.clone(), may_read.clone());
            let mut room = MOST_TEXTS;
            let mut diffs = Vec::new();
            for (number, file) in changed.files.into_iter().enumerate() {
                let is_compared = number < MOST_COMPARED;
                let path = String::from_utf8_lossy(&file.path).into_owned();
                let real = folder.join(&path);
                let meta = std::fs::symlink_metadata(&real).ok();
                let is_secret = meta
                    .as_ref()
                    .is_some_and(|it| secrets.name_of(it).is_some());
                let is_readable =
                    is_compared && !is_secret && may_read(&paths::shown(&real, &root));
                let before = file.content.map(|(_, bytes)| bytes);
                let after = match is_compared {
                    true => lathe_files::read_real(&real, MOST_TEXT).ok(),
                    false => None,
                };
                let exists = meta.is_some();
                if before.is_none() && !exists || before.is_some() && before == after {
                    continue;
                }
                let status = match (&before, exists) {
                    (None, _) => FileStatus::Added,
                    (Some(_), false) => FileStatus::Deleted,
                    (Some(_), true) => FileStatus::Modified,
                };
                diffs.push(compare(path, before, after, status, is_readable, &mut room));
            }
            // What is too large, or needs a filter of the repository, is named without its text.
            for (path, _) in changed.left_out {
                let path = String::from_utf8_lossy(&path).into_owned();
                diffs.push(compare(
                    path,
                    None,
                    None,
                    FileStatus::Modified,
                    false,
                    &mut room,
                ));
            }
            diffs
        });
        compared
            .await
            .map_err(|error| Failed::refused(error.to_string()))
    }

    /// The tools that the default agent has in a folder: names, descriptions and input schemas.
    pub async fn tools(
        &self,
        project: &Project,
        directory: &Path,
    ) -> Result<Vec<(String, String, Arc<Value>)>> {
        let authority = self.sessions.authority_in(project, directory).await?;
        let mcp = self.base.workspace.mcp();
        let all = mcp.add_tools(&project.id, self.base.built_in_tools.clone());
        let offered = all.without(|tool| authority.hides_tool(tool));
        let described = offered.with_schemas().map(|(tool, schema)| {
            let (name, prompt) = (tool.name().to_owned(), tool.prompt().to_owned());
            (name, prompt, schema)
        });
        Ok(described.collect())
    }

    async fn may_read(&self, project: &Project, directory: &Path) -> Result<MayRead> {
        let authority = self.sessions.authority_in(project, directory).await?;
        self.base.permissions.broker.may_read(&authority).await
    }
}

fn outside(path: &str) -> Failed {
    Failed::refused(format!("{path} is not in the project"))
}

fn real(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|_| outside(&path.display().to_string()))
}

/// The folder that nothing leads out of. Without a project it is the directory itself: the root
/// would be the whole disk.
fn root_of(project: &Project, directory: &Path) -> Result<PathBuf> {
    let root = real(Path::new(&project.worktree))?;
    match root.parent() {
        Some(_) => Ok(root),
        None => real(directory),
    }
}

/// Of a file that may not be read, only that it changed is said.
fn compare(
    file: String,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    status: FileStatus,
    is_readable: bool,
    room: &mut usize,
) -> FileDiff {
    let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.unwrap_or_default()).ok();
    let texts = text(before).zip(text(after));
    let is_binary = texts.is_none();
    let (before, after) = texts.unwrap_or_default();
    let size = before.len() + after.len();
    let fits = is_readable && size as u64 <= 2 * MOST_TEXT && size <= *room;
    let (mut additions, mut deletions) = (0, 0);
    if fits {
        *room -= size;
        let (old, new) = (lines::split(&before), lines::split(&after));
        for block in lines::blocks(&old, &new, false) {
            additions += block.new.len() as i64;
            deletions += block.old.len() as i64;
        }
    }
    FileDiff {
        file,
        before: fits.then_some(before),
        after: fits.then_some(after),
        patch: (!fits).then(String::new),
        additions: additions.into(),
        deletions: deletions.into(),
        status: Some(status),
        from: None,
        binary: is_binary.then_some(true),
        mode: None,
        folded: (!fits && !is_binary).then_some(true),
        extra: Extra::default(),
    }
}
