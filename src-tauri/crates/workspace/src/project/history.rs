//! Finds the first commit of a repository, which identifies its project in every clone.
//!
//! Reads objects and refs in process: git is not run, so hooks, helpers and filters that the
//! repository configures cannot run either.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::{FindExt, Kind};
use gix_traverse::commit::Simple;

/// The longest file that names a commit or a folder.
const MAX_POINTER: u64 = 64 * 1024;
/// A repository with a million refs.
const MAX_PACKED_REFS: u64 = 128 * 1024 * 1024;

/// The smallest id among the commits without parents; `None` without a readable history.
pub fn root_commit(worktree: &Path) -> Option<String> {
    let common = common_dir(&worktree.join(".git"))?;
    let objects = gix_odb::at(common.join("objects"), gix_hash::Kind::Sha1).ok()?;
    let mut buffer = Vec::new();
    let tips = tips(&common)
        .into_iter()
        .filter_map(|id| commit_of(&objects, id, &mut buffer));
    let tips: Vec<_> = tips.collect();
    let roots = Simple::new(tips, &objects)
        .filter_map(|commit| commit.ok())
        .filter(|commit| commit.parent_ids.is_empty())
        .map(|commit| commit.id.to_string());
    roots.min()
}

/// The git directory with refs and objects. Linked worktrees share that of the main worktree.
fn common_dir(dot_git: &Path) -> Option<PathBuf> {
    let git_dir = git_dir(dot_git)?;
    match lathe_files::read_text(&git_dir.join("commondir"), MAX_POINTER) {
        Ok(common) => Some(git_dir.join(common.trim())),
        Err(_) => Some(git_dir),
    }
}

fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let pointer = lathe_files::read_text(dot_git, MAX_POINTER).ok()?;
    let target = pointer.strip_prefix("gitdir:")?.trim().to_owned();
    Some(dot_git.parent()?.join(target))
}

fn tips(common: &Path) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    let mut note = |text: &str| {
        found.extend(
            text.get(..40)
                .and_then(|hex| ObjectId::from_hex(hex.as_bytes()).ok()),
        );
    };
    if let Ok(head) = lathe_files::read_text(&common.join("HEAD"), MAX_POINTER) {
        note(&head);
    }
    if let Ok(packed) = lathe_files::read_text(&common.join("packed-refs"), MAX_PACKED_REFS) {
        packed
            .lines()
            .filter(|line| !line.starts_with(['#', '^']))
            .for_each(&mut note);
    }
    let mut folders = vec![common.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    if let Ok(text) = lathe_files::read_text(&entry.path(), MAX_POINTER) {
                        note(&text);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The commit that a ref points at, directly or through annotated tags.
fn commit_of(objects: &gix_odb::Handle, id: ObjectId, buffer: &mut Vec<u8>) -> Option<ObjectId> {
    let mut id = id;
    for _ in 0..8 {
        let object = objects.find(&id, buffer).ok()?;
        match object.kind {
            Kind::Commit => return Some(id),
            Kind::Tag => {
                id = gix_object::TagRefIter::from_bytes(object.data, id.kind())
                    .target_id()
                    .ok()?
            }
            Kind::Tree | Kind::Blob => return None,
        }
    }
    None
}

/// `branch <name>` or, with a detached `HEAD`, `commit <id>`.
pub fn branch(worktree: &Path) -> Option<String> {
    let head = git_dir(&worktree.join(".git"))?.join("HEAD");
    let head = lathe_files::read_text(&head, MAX_POINTER).ok()?;
    let head = head.trim();
    let named = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => format!("branch {branch}"),
        None => format!("commit {}", head.get(..12)?),
    };
    // The name comes from the repository and is put into one line of a prompt.
    named.chars().all(|c| !c.is_control()).then_some(named)
}
