//! What git must be able to write in a repository, and what would run code there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::rules::{Access, Placeholder};

/// Places in a git folder that decide what git runs. `commondir` names the folder that hooks and
/// configuration are read from; while a command runs, a missing one says what is the case anyway.
const GUARDED: [(&str, Placeholder); 6] = [
    ("hooks", Placeholder::Folder),
    ("config", Placeholder::File("")),
    ("config.worktree", Placeholder::File("")),
    ("commondir", Placeholder::File(".\n")),
    ("modules", Placeholder::Folder),
    ("worktrees", Placeholder::Folder),
];

/// What may have been put at a path: a folder anywhere, a file in a git folder.
#[cfg(target_os = "linux")]
pub(crate) fn placeholders(path: &Path) -> impl Iterator<Item = Placeholder> {
    let name = path.file_name().map(ToOwned::to_owned);
    let guarded = GUARDED.into_iter();
    let of_git =
        guarded.filter(move |(known, _)| name.as_deref().is_some_and(|name| name == *known));
    let of_git = of_git.map(|(_, placeholder)| placeholder);
    std::iter::once(Placeholder::Folder).chain(of_git)
}

/// What git runs when a rebase goes on. Nothing takes its place where there is none: git would
/// see a rebase in it.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];

/// A path is shorter.
const MAX_POINTER: u64 = 16 * 1024;

/// The accesses that let git work in the repository of a `.git` folder or file without letting
/// anything else in.
pub(crate) fn writable_repository(dot_git: &Path) -> Vec<(PathBuf, Access, Placeholder)> {
    let mut places = Vec::new();
    if dot_git.is_dir() {
        guard(dot_git, &mut places);
        return places;
    }
    // The file itself decides which repository this is.
    places.push((dot_git.to_owned(), Access::Read, Placeholder::Folder));
    if let Some((own, common)) = linked_worktree(dot_git) {
        guard(&common, &mut places);
        guard(&own, &mut places);
        let back = own.join("gitdir");
        places.push((back, Access::Read, Placeholder::File("")));
    }
    places
}

fn guard(folder: &Path, places: &mut Vec<(PathBuf, Access, Placeholder)>) {
    places.push((folder.to_owned(), Access::Write, Placeholder::Folder));
    for (name, placeholder) in GUARDED {
        places.push((folder.join(name), Access::Read, placeholder));
    }
    let rebases = REBASES.map(|name| folder.join(name));
    for rebase in rebases.into_iter().filter(|path| path.exists()) {
        places.push((rebase, Access::Read, Placeholder::Folder));
    }
}

/// The folders of a linked worktree and of its repository. The worktree's folder must point back
/// at this very file: a file that names another repository's folder opens nothing.
fn linked_worktree(dot_git: &Path) -> Option<(PathBuf, PathBuf)> {
    let base = dot_git.parent()?;
    let text = pointer(dot_git)?;
    let own = base.join(text.strip_prefix("gitdir:")?.trim());
    let own = fs::canonicalize(own).ok()?;
    let back = pointer(&own.join("gitdir"))?;
    let back = fs::canonicalize(own.join(back.trim())).ok()?;
    if back != fs::canonicalize(dot_git).ok()? {
        return None;
    }
    let common = pointer(&own.join("commondir"))?;
    let common = fs::canonicalize(own.join(common.trim())).ok()?;
    // Git keeps a worktree's folder there and nowhere else.
    let inside = own.parent() == Some(common.join("worktrees").as_path());
    let repository = common.join("objects").is_dir() && common.join("HEAD").is_file();
    (inside && repository).then_some((own, common))
}

/// A file that names a folder. A repository may have a pipe there, which would block for ever, or a
/// file without an end.
fn pointer(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    let is_short = found.is_file() && found.len() <= MAX_POINTER;
    is_short.then(|| fs::read_to_string(path).ok()).flatten()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_git_file_that_is_a_pipe_or_has_no_end_opens_nothing() {
        let project = tempfile::tempdir().unwrap();
        let dot_git = project.path().join(".git");
        let read_only = vec![(dot_git.clone(), Access::Read, Placeholder::Folder)];
        rustix::fs::mkfifoat(rustix::fs::CWD, &dot_git, 0o600.into()).unwrap();
        assert_eq!(writable_repository(&dot_git), read_only);
        fs::remove_file(&dot_git).unwrap();
        fs::File::create(&dot_git)
            .unwrap()
            .set_len(100 << 30)
            .unwrap();
        assert_eq!(writable_repository(&dot_git), read_only);
    }
}
