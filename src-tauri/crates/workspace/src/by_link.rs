//! Files of a project that are protected by another name: a link in a protected place leads to
//! them, or the setting `core.hooksPath` names their folder.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_policy::protected::{self, Protected};

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

/// The last one that the config names counts, as for git.
fn hooks_folder(root: &Path) -> Option<PathBuf> {
    let text = lathe_files::read_text(&root.join(".git/config"), MAX_CONFIG).ok()?;
    let mut values = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let key = key.trim().rsplit(']').next().unwrap_or(key).trim();
        key.eq_ignore_ascii_case("hookspath")
            .then(|| value.trim().trim_matches('"').to_owned())
    });
    let folder = root.join(values.next_back()?);
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
}
