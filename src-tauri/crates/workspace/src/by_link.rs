//! Files of a project that are protected by another name: a link in a protected place leads to
//! them, or the setting `core.hooksPath` names their folder.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use lathe_policy::protected::{self, Protected};

use crate::paths::git_config;

/// More entries of a project are not looked at, the nearest first.
const MAX_ENTRIES: usize = 2_000;
const MAX_CONFIG: u64 = 256 * 1024;

/// No links of the project itself are in there.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// What leads to files of a project from protected places.
pub struct ByLink {
    root: PathBuf,
    hooks: Option<PathBuf>,
    /// Links, relative to the project, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
}

impl ByLink {
    pub fn of(root: &Path, home: Option<&Path>) -> Self {
        let links = links(root).into_iter();
        let links = links.filter_map(|link| {
            let target = link.canonicalize().ok()?;
            Some((link.strip_prefix(root).ok()?.to_owned(), target))
        });
        ByLink {
            root: root.to_owned(),
            hooks: hooks_folder(root, home),
            links: links.collect(),
        }
    }

    /// Why a path of the project, as rules see it, is protected although its own name is not.
    pub fn protects(&self, shown: &str) -> Option<Protected> {
        let path = self.root.join(shown);
        let protected = |why: String| Protected {
            path: shown.to_owned(),
            why,
        };
        let hooks = self.hooks.as_ref();
        if hooks.is_some_and(|folder| path.starts_with(folder)) {
            let why = "git runs what is in this folder: `core.hooksPath` names it";
            return Some(protected(why.to_owned()));
        }
        self.links.iter().find_map(|(link, target)| {
            let below = path.strip_prefix(target).ok()?;
            let name = link.join(below);
            let found = protected::find(&name.to_string_lossy(), None)?;
            let why = format!("it is {} too, and {}", name.display(), found.why);
            Some(protected(why))
        })
    }
}

fn links(root: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut open = VecDeque::from([root.to_owned()]);
    let mut left = MAX_ENTRIES;
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if left == 0 {
                return links;
            }
            left -= 1;
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(entry.path()),
                Ok(kind) if kind.is_dir() && !SKIPPED.iter().any(|one| name == *one) => {
                    open.push_back(entry.path());
                }
                _ => {}
            }
        }
    }
    links
}

/// Where the settings of the person, or those of the repository around the project, say that its
/// hooks are. The last one that is named counts, as for git.
pub fn hooks_folder(root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let (checkout, files) = git_config::settings(root)?;
    let own = [".config/git/config", ".gitconfig"];
    let own = home.map(|home| own.map(|name| home.join(name)));
    let files = own.into_iter().flatten().chain(files);
    let texts = files.filter_map(|file| lathe_files::read_text(&file, MAX_CONFIG).ok());
    let texts: Vec<String> = texts.collect();
    let mut values = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| {
            let (key, written) = line.split_once('=')?;
            let key = key.trim().rsplit(']').next().unwrap_or(key).trim();
            key.eq_ignore_ascii_case("hookspath")
                .then(|| value(written))
        });
    let folder = checkout.join(values.next_back()?);
    Some(folder.canonicalize().unwrap_or(folder))
}

/// As git reads it: without quotes and without a comment.
fn value(written: &str) -> String {
    let mut value = String::new();
    let mut quoted = false;
    let mut chars = written.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => value.extend(chars.next()),
            '#' | ';' if !quoted => break,
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_protected_link_or_a_setting_of_git_leads_to_is_protected() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [".git", "vs", "cfg", "tools/hooks", "scripts", "sub/deep"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("vs", root.join(".vscode")).unwrap();
        symlink("../../scripts", root.join("sub/deep/.husky")).unwrap();
        symlink(root.join("cfg"), root.join(".cargo")).unwrap();
        fs::write(
            root.join(".git/config"),
            "[core]\n\thooksPath = \"tools/hooks\" # ours\n",
        )
        .unwrap();
        let by_link = ByLink::of(&root, None);
        let is = |path: &str| by_link.protects(path).is_some();
        for path in [
            "vs/tasks.json",
            "cfg/config.toml",
            "tools/hooks/pre-commit",
            "tools/hooks",
            "scripts/pre-commit",
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
            let by_link = ByLink::of(&base.join(root), None);
            assert!(by_link.protects(path).is_some(), "{root} {path}");
            assert_eq!(by_link.protects("x"), None, "{root}");
        }
    }

    #[test]
    fn the_hooks_that_the_settings_of_the_person_name_are_protected() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["home", "project/.git"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let own = "[core]\n\thooksPath = tools/hooks ; everywhere\n";
        fs::write(base.join("home/.gitconfig"), own).unwrap();
        let root = base.join("project");
        let home = base.join("home");
        let protects = |path: &str| ByLink::of(&root, Some(&home)).protects(path).is_some();
        assert_eq!(["tools/hooks/x", "tools/x"].map(protects), [true, false]);
        // Those of the repository count more.
        fs::write(root.join(".git/config"), "[core]\nhooksPath = other\n").unwrap();
        assert_eq!(["tools/hooks/x", "other/x"].map(protects), [false, true]);
    }
}
