//! Which files there are, and what stands in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lathe_protocol::ipc::ConfigProblem;
use lathe_provider::config::{Substitution, parse_jsonc};
use serde_json::{Map, Value};

use super::definition::Definition;

const NAMES: [&str; 4] = [
    "opencode.json",
    "opencode.jsonc",
    "lathe.json",
    "lathe.jsonc",
];
/// What the person set up in the window. It counts less than what they wrote by hand.
const ADDED: &str = "added.json";
const FOLDERS: [&str; 2] = [".opencode", ".lathe"];
const GLOBAL_FOLDERS: [&str; 2] = ["opencode", "lathe"];
/// More agents or commands nobody has.
const MOST_DEFINITIONS: usize = 500;
/// A config or a prompt is small; more is a mistake.
const MOST_BYTES: u64 = 1024 * 1024;

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Person,
    Project,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Places {
    /// Holds `lathe/` and `opencode/`.
    pub home: Option<PathBuf>,
    pub named: Option<PathBuf>,
    pub directory: PathBuf,
    pub worktree: PathBuf,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// As people know it: from the project's root, or whole.
    pub shown: String,
    pub origin: Origin,
    pub value: Map<String, Value>,
    /// The text as it stands, for the hash that trust rests on.
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources {
    /// The one that counts most comes last.
    pub files: Vec<ConfigFile>,
    pub agents: Vec<Definition>,
    pub commands: Vec<Definition>,
    /// Every Markdown file of the project's that was read, for the hash.
    pub texts: BTreeMap<String, String>,
    pub problems: Vec<ConfigProblem>,
}

/// What a look at the disk tells without reading: when any of it differs, read again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp(Vec<(PathBuf, Option<Seen>)>);

/// When it was changed, how long it is, and when the system noticed a change, which no
/// program can set back.
type Seen = (SystemTime, u64, i64);

impl Stamp {
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let look = |path: PathBuf| {
            let found = fs::metadata(&path).ok();
            let seen =
                |meta: fs::Metadata| Some((meta.modified().ok()?, meta.len(), noticed(&meta)));
            let found = found.and_then(seen);
            (path, found)
        };
        Stamp(paths.into_iter().map(look).collect())
    }
}

#[cfg(unix)]
fn noticed(meta: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    meta.ctime()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(meta.ctime_nsec())
}

#[cfg(not(unix))]
fn noticed(_: &fs::Metadata) -> i64 {
    0
}

impl Places {
    /// Every file that counts, whether it exists or not.
    pub fn watched(&self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = self
            .config_files()
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        for (folder, _) in self.definition_folders() {
            for kind in ["agent", "agents", "command", "commands"] {
                let found = markdown_below(&folder.join(kind));
                paths.extend(found.into_iter().map(|(path, _)| path));
            }
        }
        paths
    }

    /// The one that counts most comes last.
    fn config_files(&self) -> Vec<(PathBuf, Origin)> {
        let mut files = Vec::new();
        files.extend(self.added().map(|path| (path, Origin::Person)));
        for folder in self.global_folders() {
            files.extend(NAMES.map(|name| (folder.join(name), Origin::Person)));
        }
        files.extend(self.named.iter().map(|path| (path.clone(), Origin::Person)));
        for folder in self.project_folders() {
            files.extend(NAMES.map(|name| (folder.join(name), Origin::Project)));
            for inner in FOLDERS {
                let inner = folder.join(inner);
                files.extend(NAMES.map(|name| (inner.join(name), Origin::Project)));
            }
        }
        files
    }

    /// The one config file that the program itself writes.
    pub fn added(&self) -> Option<PathBuf> {
        let ours = self.global_folders().pop();
        ours.map(|folder| folder.join(ADDED))
    }

    fn definition_folders(&self) -> Vec<(PathBuf, Origin)> {
        let global = self.global_folders().into_iter();
        let mut folders: Vec<_> = global.map(|folder| (folder, Origin::Person)).collect();
        for folder in self.project_folders() {
            folders.extend(FOLDERS.map(|inner| (folder.join(inner), Origin::Project)));
        }
        folders
    }

    pub fn global_folders(&self) -> Vec<PathBuf> {
        let join = |home: &PathBuf| GLOBAL_FOLDERS.map(|name| home.join(name));
        self.home.iter().flat_map(join).collect()
    }

    /// From the root down to where the session works.
    pub fn project_folders(&self) -> Vec<PathBuf> {
        if self.worktree.as_os_str().is_empty() {
            return Vec::new();
        }
        let mut folders: Vec<_> = self
            .directory
            .ancestors()
            .take_while(|above| above.starts_with(&self.worktree))
            .map(Path::to_owned)
            .collect();
        if folders.is_empty() {
            folders.push(self.worktree.clone());
        }
        folders.reverse();
        folders
    }

    /// Reads everything. What a project's file refers to is not looked up: see
    /// [`ConfigFile::substitute`].
    pub fn read(&self) -> Sources {
        let mut sources = Sources::default();
        for (path, origin) in self.config_files() {
            let is_named = self.named.as_deref() == Some(&path);
            if !is_named && fs::symlink_metadata(&path).is_err() {
                continue;
            }
            match self.read_config(path, origin) {
                Ok(file) => sources.files.push(file),
                Err(problem) => sources.problems.push(problem),
            }
        }
        for (folder, origin) in self.definition_folders() {
            for kind in ["agent", "agents", "command", "commands"] {
                self.read_definitions(&folder.join(kind), origin, &mut sources);
            }
        }
        sources
    }

    /// Why nothing of the file that the person named can be used, if so it is.
    pub fn named_problem(&self) -> Option<ConfigProblem> {
        let named = self.named.clone()?;
        self.read_config(named, Origin::Person).err()
    }

    fn read_config(&self, path: PathBuf, origin: Origin) -> Result<ConfigFile, ConfigProblem> {
        let shown = self.shown(&path, origin);
        let problem = |message: String| ConfigProblem {
            file: shown.clone(),
            key: String::new(),
            message,
        };
        let text = self.read_text(&path, origin).map_err(problem)?;
        let parsed = parse_jsonc(&text).map_err(|error| problem(error.to_string()))?;
        let Value::Object(value) = parsed else {
            return Err(problem("expected a table of settings".to_owned()));
        };
        let mut file = ConfigFile {
            path,
            shown: shown.clone(),
            origin,
            value,
            text,
        };
        if origin == Origin::Person {
            file.substitute()?;
        }
        Ok(file)
    }

    fn read_definitions(&self, folder: &Path, origin: Origin, sources: &mut Sources) {
        for (path, name) in markdown_below(folder) {
            let shown = self.shown(&path, origin);
            let is_agent = folder
                .file_name()
                .is_some_and(|kind| kind.to_string_lossy().starts_with("agent"));
            let text = match self.read_text(&path, origin) {
                Ok(text) => text,
                Err(message) => {
                    sources.problems.push(ConfigProblem {
                        file: shown,
                        key: String::new(),
                        message,
                    });
                    continue;
                }
            };
            if origin == Origin::Project {
                sources.texts.insert(shown.clone(), text.clone());
            }
            match Definition::parse(name, shown, origin, &text) {
                Ok(definition) if is_agent => sources.agents.push(definition),
                Ok(definition) => sources.commands.push(definition),
                Err(problem) => sources.problems.push(problem),
            }
        }
    }

    /// A project's file must lie in the project: a link out of it could show us anything.
    fn read_text(&self, path: &Path, origin: Origin) -> Result<String, String> {
        match origin {
            Origin::Person => read_small(path, None),
            Origin::Project => read_small(path, Some(&self.worktree)),
        }
    }

    fn shown(&self, path: &Path, origin: Origin) -> String {
        let from_root = path.strip_prefix(&self.worktree).ok();
        let from_root = from_root.filter(|_| origin == Origin::Project);
        from_root
            .unwrap_or(path)
            .display()
            .to_string()
            .replace('\\', "/")
    }
}

impl ConfigFile {
    /// Puts in what `{env:NAME}` and `{file:path}` stand for.
    pub fn substitute(&mut self) -> Result<(), ConfigProblem> {
        let env = |name: &str| std::env::var(name).ok();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let dirs = directories::BaseDirs::new();
        let substitution = Substitution {
            env: &env,
            folder,
            home: dirs.as_ref().map(|dirs| dirs.home_dir()),
        };
        let mut value = Value::Object(std::mem::take(&mut self.value));
        let done = substitution.apply(&mut value);
        if let Value::Object(value) = value {
            self.value = value;
        }
        done.map_err(|problem| ConfigProblem {
            file: self.shown.clone(),
            key: problem.path,
            message: problem.message,
        })
    }

    /// Where its relative paths begin: a project's file speaks of its own folder, the
    /// person's of whichever project is open.
    pub fn instruction_folder<'a>(&'a self, worktree: &'a Path) -> &'a Path {
        let folder = self.path.parent().unwrap_or(worktree);
        match self.origin {
            Origin::Person => worktree,
            Origin::Project if FOLDERS.iter().any(|name| folder.ends_with(name)) => {
                folder.parent().unwrap_or(worktree)
            }
            Origin::Project => folder,
        }
    }

    /// What stands between `{kind:` and `}`, anywhere in the text.
    pub fn references(&self, kind: &str) -> Vec<String> {
        let opening = format!("{{{kind}:");
        let pieces = self.text.split(&opening).skip(1);
        let names = pieces.filter_map(|piece| piece.split_once('}'));
        names.map(|(name, _)| name.trim().to_owned()).collect()
    }
}

/// The text of a regular file that is not large, inside `within` if it is given. Nothing is
/// opened before it is known to be a file: a pipe would wait for ever.
pub fn read_small(path: &Path, within: Option<&Path>) -> Result<String, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if let Some(root) = within {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        if !real.starts_with(root) {
            return Err("it is a link that leads out of the project".to_owned());
        }
    }
    let meta = fs::metadata(&real).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    if meta.len() > MOST_BYTES {
        return Err("it is larger than 1 MB".to_owned());
    }
    fs::read_to_string(&real).map_err(|error| error.to_string())
}

/// With the name each file gives: its path below the folder, without the ending.
fn markdown_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let room = MOST_DEFINITIONS.saturating_sub(found.len());
        for entry in fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .take(room)
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && prefix.matches('/').count() < 4 {
                folders.push((entry.path(), format!("{prefix}{name}/")));
            } else if let Some(stem) = name.strip_suffix(".md").filter(|stem| !stem.is_empty()) {
                found.push((entry.path(), format!("{prefix}{stem}")));
            }
        }
    }
    found.sort();
    found
}
