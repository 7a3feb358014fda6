//! Files of a project that are protected by another name: a link in a protected place leads to
//! them, or the setting `core.hooksPath` names their folder.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_policy::protected::{self, Protected};

use crate::paths::git_config;

/// More entries of a project's folder are not looked at.
const MAX_ENTRIES: usize = 2_000;
const MAX_CONFIG: u64 = 256 * 1024;

/// Why a path of the project, as rules see it, is protected although its own name is not.
pub fn protected_by_link(root: &Path, shown: &str) -> Option<Protected> {
    let path = root.join(shown);
    let protected = |why: String| Protected {
        path: shown.to_owned(),
        why,
    };
    if hooks_folder(root).is_some_and(|folder| path.starts_with(folder)) {
        let why = "git runs what is in this folder: `core.hooksPath` names it";
        return Some(protected(why.to_owned()));
    }
    let entries = fs::read_dir(root).ok()?.flatten().take(MAX_ENTRIES);
    let mut links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.find_map(|link| {
        let target = link.path().canonicalize().ok()?;
        let below = path.strip_prefix(&target).ok()?;
        let name = Path::new(&link.file_name()).join(below);
        let found = protected::find(&name.to_string_lossy(), None)?;
        let why = format!("it is {} too, and {}", name.display(), found.why);
        Some(protected(why))
    })
}

/// Where the settings of the repository around the project say that its hooks are. The last one that
/// is named counts, as for git.
pub fn hooks_folder(root: &Path) -> Option<PathBuf> {
    let (checkout, files) = git_config::settings(root)?;
    let texts = files.iter();
    let texts = texts.filter_map(|file| lathe_files::read_text(file, MAX_CONFIG).ok());
    let texts: Vec<String> = texts.collect();
    let mut values = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            let key = key.trim().rsplit(']').next().unwrap_or(key).trim();
            key.eq_ignore_ascii_case("hookspath")
                .then(|| value.trim().trim_matches('"').to_owned())
        });
    let folder = checkout.join(values.next_back()?);
    Some(folder.canonicalize().unwrap_or(folder))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_protected_link_or_a_setting_of_git_leads_to_is_protected() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [".git", "vs", "cfg", "tools/hooks"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("vs", root.join(".vscode")).unwrap();
        symlink(root.join("cfg"), root.join(".cargo")).unwrap();
        fs::write(
            root.join(".git/config"),
            "[core]\n\thooksPath = tools/hooks\n",
        )
        .unwrap();
        let is = |path: &str| protected_by_link(&root, path).is_some();
        for path in [
            "vs/tasks.json",
            "cfg/config.toml",
            "tools/hooks/pre-commit",
            "tools/hooks",
        ] {
            assert!(is(path), "{path}");
        }
        for path in ["vs/readme.md", "cfg/x.txt", "tools/x", "src/tasks.json"] {
            assert!(!is(path), "{path}");
        }
    }

    #[test]
    fn the_hooks_of_a_linked_worktree_and_of_a_repository_above_are_protected() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in [".git/worktrees/w", "tools/hooks", "w/tools/hooks"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let write = |name: &str, text: &str| fs::write(base.join(name), text).unwrap();
        write(".git/config", "[core]\n\thooksPath = tools/hooks\n");
        write(".git/worktrees/w/commondir", "../..\n");
        write("w/.git", "gitdir: ../.git/worktrees/w\n");
        for (root, path) in [("w", "tools/hooks/pre-commit"), ("tools", "hooks/pre-push")] {
            let found = protected_by_link(&base.join(root), path);
            assert!(found.is_some(), "{root} {path}");
            assert_eq!(protected_by_link(&base.join(root), "x"), None, "{root}");
        }
    }
}
