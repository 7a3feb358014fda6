//! Which paths of a writable folder are protected.
//!
//! What is protected is decided by `policy`, by name. The sandbox needs paths, so a folder is
//! looked through before each command, and again after it for what the command made.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use lathe_policy::protected;

/// Not there in most projects, and nothing that a command may create.
const NEVER_CREATED: [&str; 8] = [
    ".git",
    ".lathe",
    ".opencode",
    ".husky",
    ".githooks",
    ".vscode/tasks.json",
    ".claude",
    ".cursor",
];

/// How far a folder is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The nearest so many folders.
    pub folders: usize,
    /// The same after a command.
    pub after: usize,
}

impl Extent {
    /// A project before a command. That is done for every command, so it has to end. In a larger
    /// project no command is confined.
    pub const PROJECT: Self = Self {
        folders: 100_000,
        // A command must not be able to hide something behind many folders.
        after: 2_000_000,
    };
    /// A folder that the person opened; it may be the home folder, so only what is near is looked at,
    /// and nothing more after the command: what other programs change there meanwhile is not its.
    pub const GRANTED: Self = Self {
        folders: 3_000,
        after: 3_000,
    };

    pub fn after(self) -> Self {
        Self {
            folders: self.after,
            ..self
        }
    }
}

/// Full of other people's files and of what is built, none of which an editor or a shell starts by
/// itself.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".venv"];

/// Which files no command may read unless it was granted them.
pub type IsSecret<'a> = &'a dyn Fn(&Path) -> bool;

/// The protected paths of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scan {
    pub found: Vec<PathBuf>,
    pub secret: Vec<PathBuf>,
    /// There were more folders than are looked through.
    pub incomplete: bool,
}

/// What no command may create in a project.
pub fn never_created(root: &Path) -> impl Iterator<Item = PathBuf> {
    NEVER_CREATED.iter().map(|name| root.join(name))
}

/// A folder that is still to be looked at.
struct Open {
    path: PathBuf,
    /// It is protected with all that is in it: only secrets are looked for there.
    protected: bool,
}

/// The protected and the secret paths that are there, in a folder and below it.
pub fn scan(folder: &Path, home: Option<&Path>, extent: Extent, is_secret: IsSecret) -> Scan {
    let mut scan = Scan::default();
    let mut open = VecDeque::from([Open {
        path: folder.to_owned(),
        protected: false,
    }]);
    let mut looked_at = 0;
    while let Some(current) = open.pop_front() {
        looked_at += 1;
        if looked_at > extent.folders {
            scan.incomplete = true;
            break;
        }
        for entry in fs::read_dir(&current.path).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type().ok();
            let is = |wanted: fn(&fs::FileType) -> bool| kind.as_ref().is_some_and(wanted);
            let is_folder = is(fs::FileType::is_dir);
            let is_link = name.starts_with('.') && is(fs::FileType::is_symlink);
            if !is_folder && is_secret(&path) {
                scan.secret.push(path.clone());
            }
            let found = !current.protected
                && (may_be_protected(&name, &current.path) && is_protected(&path, folder, home)
                    || is_link && leads_to_protected(&path, folder, home));
            if found {
                scan.found.push(path.clone());
            }
            let protected = current.protected || found;
            if is_folder && !is_skipped(&name, protected) {
                open.push_back(Open { path, protected });
            }
        }
    }
    scan
}

/// Git has thousands of folders of its own, with names of its own.
fn is_skipped(name: &str, protected: bool) -> bool {
    SKIPPED.contains(&name) || protected && matches!(name, ".git" | "objects")
}

/// Whether a link in the place of a folder, such as `.vscode`, puts something protected there.
fn leads_to_protected(link: &Path, folder: &Path, home: Option<&Path>) -> bool {
    let entries = fs::read_dir(link).into_iter().flatten().flatten();
    let mut entries = entries.take(1_000);
    entries.any(|entry| is_protected(&link.join(entry.file_name()), folder, home))
}

/// By its place in the folder: that the folder itself lies in a protected place says nothing of
/// what is in it. The names in the home folder have a meaning of their own.
fn is_protected(path: &Path, folder: &Path, home: Option<&Path>) -> bool {
    let relative = path.strip_prefix(folder).unwrap_or(path);
    let at_home = home.is_some_and(|home| path.parent() == Some(home));
    protected::find(&relative.to_string_lossy(), home).is_some()
        || at_home && protected::find(&path.to_string_lossy(), home).is_some()
}

/// Cheap, and true for every protected name: most entries need no closer look.
fn may_be_protected(name: &str, folder: &Path) -> bool {
    let hidden_folder = || {
        let name = folder.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with('.')
    };
    let endings = [
        ".json",
        ".jsonc",
        ".yml",
        ".yaml",
        ".toml",
        ".ps1",
        ".git",
        ".code-workspace",
    ];
    name.starts_with('.')
        || endings
            .iter()
            .any(|ending| name.to_lowercase().ends_with(ending))
        || hidden_folder()
}
