//! Whether a repository makes git run programs, even where git only looks at files.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_files::ReadError;
use lathe_policy::shell::config;

use super::{git_index, read_config};

/// Submodules lie in each other; real ones are two or three deep.
const DEEPEST: usize = 8;

/// A larger index is not read: it counts as one that holds anything.
const MAX_INDEX: u64 = 64 * 1024 * 1024;

/// The settings and hooks of the repository in this folder, and of the repositories inside it that
/// it knows: git looks into those, too.
pub fn names_programs(folder: &Path) -> bool {
    repository_names_programs(folder, DEEPEST)
}

/// As [`names_programs`], but of the repositories inside alone, which git compares with the index of
/// the checkout in this folder.
pub fn inner_names_programs(folder: &Path) -> bool {
    match folders(folder) {
        Some((own, common)) => inner_repositories_name_programs(&own, &common, folder, DEEPEST),
        // Whatever it is, it is not understood.
        None => true,
    }
}

fn repository_names_programs(folder: &Path, depth: usize) -> bool {
    let dot_git = folder.join(".git");
    // Git takes a folder for a repository without a checkout by what is in it.
    if is_git_directory(folder) && directory_names_programs(folder, folder, depth) {
        return true;
    }
    let Ok(kind) = dot_git.symlink_metadata() else {
        return false;
    };
    if depth == 0 {
        return true;
    }
    // The settings of a worktree and of a submodule lie elsewhere.
    let own = if kind.is_dir() {
        dot_git
    } else {
        match linked(&dot_git, folder, "gitdir:") {
            Some(directory) => directory,
            // Whatever it is, it is not understood.
            None => return true,
        }
    };
    directory_names_programs(&own, folder, depth)
}

fn is_git_directory(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// `own` has the settings and the index of the checkout in `folder`.
fn directory_names_programs(own: &Path, folder: &Path, depth: usize) -> bool {
    let common = linked(&own.join("commondir"), own, "").unwrap_or_else(|| own.to_owned());
    let hook = config::READING_HOOK.trim_start_matches(".git/");
    config_names_programs(&common.join("config"), folder)
        || config_names_programs(&own.join("config.worktree"), folder)
        || common.join(hook).symlink_metadata().is_ok()
        || submodules_name_programs(folder, depth)
        || inner_repositories_name_programs(own, &common, folder, depth)
}

fn config_names_programs(path: &Path, folder: &Path) -> bool {
    match read_config(path) {
        Ok(Some(text)) => {
            let settings = text.lines().filter(|line| !is_for(folder, path, line));
            let settings: Vec<&str> = settings.collect();
            config::names_programs("git", ".git/config", &settings.join("\n"))
        }
        Ok(None) => false,
        Err(_) => true,
    }
}

/// The line that git writes for every submodule: its files are in its own folder.
fn is_for(folder: &Path, config: &Path, line: &str) -> bool {
    let value = line.trim().strip_prefix("worktree = ");
    let value = value.filter(|value| !value.contains(['"', '\\', '#', ';']));
    let (Some(value), Some(own)) = (value, config.parent()) else {
        return false;
    };
    let named = own.join(value).canonicalize();
    named.is_ok_and(|named| folder.canonicalize().is_ok_and(|folder| folder == named))
}

fn submodules_name_programs(folder: &Path, depth: usize) -> bool {
    let listed = match read_config(&folder.join(".gitmodules")) {
        Ok(listed) => listed.unwrap_or_default(),
        Err(_) => return true,
    };
    let paths = listed.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("path")
            .then_some(value.trim())
    });
    paths.into_iter().any(|path| {
        let quoted = path.contains(['"', '\\', '#', ';']);
        quoted || repository_names_programs(&folder.join(path), depth.saturating_sub(1))
    }) || has_unlisted_modules(folder, &listed)
}

fn has_unlisted_modules(folder: &Path, listed: &str) -> bool {
    let modules = folder.join(".git/modules");
    listed.trim().is_empty() && fs::read_dir(modules).is_ok_and(|mut found| found.next().is_some())
}

/// Those that the index holds, whether `.gitmodules` lists them or not.
fn inner_repositories_name_programs(
    own: &Path,
    common: &Path,
    folder: &Path,
    depth: usize,
) -> bool {
    let Some(entries) = index_entries(own, common) else {
        return true;
    };
    let mut inner = entries.iter().filter(|entry| entry.repository);
    inner.any(|entry| repository_names_programs(&folder.join(&entry.path), depth.saturating_sub(1)))
}

/// None where it is not understood.
fn index_entries(own: &Path, common: &Path) -> Option<Vec<git_index::Entry>> {
    let index = match lathe_files::read(&own.join("index"), MAX_INDEX) {
        Ok(index) => index,
        Err(ReadError::Missing) => return Some(Vec::new()),
        Err(_) => return None,
    };
    let sha256 = read_config(&common.join("config"))
        .is_ok_and(|text| text.is_some_and(|text| text.to_lowercase().contains("sha256")));
    git_index::entries(&index, if sha256 { 32 } else { 20 })
}

/// The files that the repository around a folder has a record of, and those of the repositories in
/// it. None where that is not known.
pub fn tracked_files(folder: &Path) -> Option<Vec<PathBuf>> {
    for folder in folder.ancestors() {
        let is_checkout = folder.join(".git").symlink_metadata().is_ok();
        if is_checkout {
            let mut files = Vec::new();
            return collect_tracked(folder, DEEPEST, &mut files).then_some(files);
        }
        // Without a checkout there is no index.
        if is_git_directory(folder) {
            return None;
        }
    }
    Some(Vec::new())
}

/// Where a checkout's own state and the settings of its repository are.
fn folders(checkout: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot_git = checkout.join(".git");
    let own = match dot_git.symlink_metadata().ok()?.is_dir() {
        true => dot_git,
        false => linked(&dot_git, checkout, "gitdir:")?,
    };
    let common = linked(&own.join("commondir"), &own, "").unwrap_or_else(|| own.clone());
    Some((own, common))
}

/// The checkout around a folder, and the files with the settings of its repository.
pub fn settings(folder: &Path) -> Option<(PathBuf, [PathBuf; 2])> {
    let mut above = folder.ancestors();
    let checkout = above.find(|one| one.join(".git").symlink_metadata().is_ok())?;
    let (own, common) = folders(checkout)?;
    let files = [common.join("config"), own.join("config.worktree")];
    Some((checkout.to_owned(), files))
}

/// Adds the files of one repository; false where not all are known.
fn collect_tracked(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> bool {
    let dot_git = folder.join(".git");
    if dot_git.symlink_metadata().is_err() {
        // A submodule that is not checked out.
        return true;
    }
    let Some((own, common)) = folders(folder) else {
        return false;
    };
    // Without an index nothing says what the commits hold.
    let has_commits = || {
        let mut heads = fs::read_dir(common.join("refs/heads"))
            .into_iter()
            .flatten();
        heads.next().is_some() || common.join("packed-refs").exists()
    };
    if depth == 0 || (!own.join("index").exists() && has_commits()) {
        return false;
    }
    let Some(entries) = index_entries(&own, &common) else {
        return false;
    };
    entries.into_iter().all(|entry| {
        let path = folder.join(&entry.path);
        match entry.repository {
            true => collect_tracked(&path, depth - 1, files),
            false => {
                files.push(path);
                true
            }
        }
    })
}

/// The directory that a one-line file of git's names.
fn linked(file: &Path, folder: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read_config(file).ok()??;
    let named = text.trim().strip_prefix(prefix)?.trim();
    (!named.is_empty()).then(|| folder.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    const PLAIN: (&str, &str) = (".git/config", "[core]\n\tbare = false\n");
    const RUNS: &str = "[core]\n\tfsmonitor = ./evil\n";

    #[test]
    fn a_plain_repository_runs_nothing() {
        assert!(!names_programs(repository(&[PLAIN]).path()));
        assert!(!names_programs(repository(&[("a", "")]).path()));
    }

    #[test]
    fn settings_hooks_and_submodules_that_run_something_are_found() {
        let module = (".gitmodules", "[submodule \"s\"]\n\tpath = lib/s\n");
        for files in [
            vec![(".git/config", RUNS)],
            vec![PLAIN, (".git/config.worktree", RUNS)],
            vec![PLAIN, (".git/hooks/post-index-change", "#!/bin/sh\n")],
            vec![PLAIN, module, ("lib/s/.git/config", RUNS)],
            vec![
                PLAIN,
                module,
                ("lib/s/.git", "gitdir: ../../.git/modules/s\n"),
                (".git/modules/s/config", RUNS),
            ],
            vec![PLAIN, (".git/modules/s/config", RUNS)],
        ] {
            assert!(names_programs(repository(&files).path()), "{files:?}");
        }
    }

    #[test]
    fn a_submodule_with_plain_settings_runs_nothing() {
        let files = [
            PLAIN,
            (".gitmodules", "[submodule \"s\"]\n\tpath = s\n"),
            ("s/.git", "gitdir: ../.git/modules/s\n"),
            (
                ".git/modules/s/config",
                "[core]\n\tbare = false\n\tworktree = ../../../s\n",
            ),
        ];
        assert!(!names_programs(repository(&files).path()));
        let elsewhere = "[core]\n\tworktree = ../../..\n";
        let files = [files[0], files[1], files[2], (files[3].0, elsewhere)];
        assert!(names_programs(repository(&files).path()));
    }
}
