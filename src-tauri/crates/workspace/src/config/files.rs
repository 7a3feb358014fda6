//! Finds and reads the config files and Markdown definitions.

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
/// Holds what the person set up in the window. Hand-written files override it.
const ADDED: &str = "added.json";
const FOLDERS: [&str; 2] = [".opencode", ".lathe"];
const GLOBAL_FOLDERS: [&str; 2] = ["opencode", "lathe"];
/// Limit per folder of agents or commands, against a misconfigured path.
const MAX_DEFINITIONS: usize = 500;
/// Config files and prompts are small; a larger file is a mistake.
const MAX_BYTES: u64 = 1024 * 1024;

/// Who wrote a file. Only the person's files are trusted without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Person,
    Project,
}

/// The folders and files that config is read from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConfigLocations {
    /// The person's config folder, which holds `lathe/` and `opencode/`.
    pub home: Option<PathBuf>,
    /// The file named on the command line or by `LATHE_CONFIG`.
    pub named: Option<PathBuf>,
    pub directory: PathBuf,
    pub worktree: PathBuf,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// For messages: relative to the project's root if it is inside, otherwise absolute.
    pub display_path: String,
    pub origin: Origin,
    pub value: Map<String, Value>,
    /// The unparsed text, for the hash that trust is based on.
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources {
    /// In order of precedence: the last one wins.
    pub files: Vec<ConfigFile>,
    pub agents: Vec<Definition>,
    pub commands: Vec<Definition>,
    /// Every Markdown file of the project that was read, for the hash that trust is based on.
    pub texts: BTreeMap<String, String>,
    pub problems: Vec<ConfigProblem>,
}

/// Metadata of files. If any of it differs from an earlier fingerprint, the files are read
/// again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFingerprints(Vec<(PathBuf, Option<FileFingerprint>)>);

/// Modification time, length, and change time. The last one cannot be set back by a program.
type FileFingerprint = (SystemTime, u64, i64);

impl FileFingerprints {
    pub fn read(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let fingerprint = |path: PathBuf| {
            let found = fs::metadata(&path).ok();
            let seen =
                |meta: fs::Metadata| Some((meta.modified().ok()?, meta.len(), change_time(&meta)));
            let found = found.and_then(seen);
            (path, found)
        };
        FileFingerprints(paths.into_iter().map(fingerprint).collect())
    }
}

#[cfg(unix)]
fn change_time(meta: &fs::Metadata) -> i64 {
    use std::os::unix::fs::MetadataExt;
    meta.ctime()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(meta.ctime_nsec())
}

#[cfg(not(unix))]
fn change_time(_: &fs::Metadata) -> i64 {
    0
}

impl ConfigLocations {
    /// The locations outside of every project.
    pub fn global(home: Option<PathBuf>, named: Option<PathBuf>) -> Self {
        ConfigLocations {
            home,
            named,
            directory: PathBuf::new(),
            worktree: PathBuf::new(),
        }
    }

    /// Every file whose change, creation or removal can change the config.
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

    /// In order of precedence: the last one wins.
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

    /// The folders from the worktree's root down to the session's directory.
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

    /// Reads all files. References in a project's file are not resolved yet, because it may not
    /// be trusted: see [`ConfigFile::substitute`].
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

    /// The problem that makes the explicitly named config file unusable, if there is one.
    pub fn named_problem(&self) -> Option<ConfigProblem> {
        let named = self.named.clone()?;
        self.read_config(named, Origin::Person).err()
    }

    fn read_config(&self, path: PathBuf, origin: Origin) -> Result<ConfigFile, ConfigProblem> {
        let display_path = self.display_path(&path, origin);
        let problem = |message: String| ConfigProblem {
            file: display_path.clone(),
            line: None,
            key: String::new(),
            message,
        };
        let text = self.read_text(&path, origin).map_err(problem)?;
        let parsed = parse_jsonc(&text).map_err(|error| ConfigProblem {
            line: u32::try_from(error.line).ok(),
            ..problem(format!("column {}: {}", error.column, error.message))
        })?;
        let Value::Object(value) = parsed else {
            return Err(problem("expected a table of settings".to_owned()));
        };
        let mut file = ConfigFile {
            path,
            display_path: display_path.clone(),
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
            let display_path = self.display_path(&path, origin);
            let is_agent = folder
                .file_name()
                .is_some_and(|kind| kind.to_string_lossy().starts_with("agent"));
            let text = match self.read_text(&path, origin) {
                Ok(text) => text,
                Err(message) => {
                    sources.problems.push(ConfigProblem {
                        file: display_path,
                        line: None,
                        key: String::new(),
                        message,
                    });
                    continue;
                }
            };
            if origin == Origin::Project {
                sources.texts.insert(display_path.clone(), text.clone());
            }
            match Definition::parse(name, display_path, origin, &text) {
                Ok(definition) if is_agent => sources.agents.push(definition),
                Ok(definition) => sources.commands.push(definition),
                Err(problem) => sources.problems.push(problem),
            }
        }
    }

    /// A project's file must be inside the project: a link could point at any file of the person.
    fn read_text(&self, path: &Path, origin: Origin) -> Result<String, String> {
        match origin {
            Origin::Person => read_small(path, None),
            Origin::Project => read_small(path, Some(&self.worktree)),
        }
    }

    fn display_path(&self, path: &Path, origin: Origin) -> String {
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
    /// Replaces `{env:NAME}` and `{file:path}` with their values.
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
            file: self.display_path.clone(),
            line: None,
            key: problem.path,
            message: problem.message,
        })
    }

    /// The base of relative instruction paths: for a project's file its own folder, for a
    /// person's file the open project.
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

    /// The names in all `{kind:name}` references of the text.
    pub fn references(&self, kind: &str) -> Vec<String> {
        let opening = format!("{{{kind}:");
        let pieces = self.text.split(&opening).skip(1);
        let names = pieces.filter_map(|piece| piece.split_once('}'));
        names.map(|(name, _)| name.trim().to_owned()).collect()
    }
}

/// Reads a small regular file, which must be inside `within` if that is given.
pub fn read_small(path: &Path, within: Option<&Path>) -> Result<String, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if let Some(root) = within {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        if !real.starts_with(root) {
            return Err("it is a link that leads out of the project".to_owned());
        }
    }
    lathe_files::read_text(&real, MAX_BYTES).map_err(|error| error.to_string())
}

/// All Markdown files below a folder. The name of each is its relative path without `.md`.
fn markdown_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let room = MAX_DEFINITIONS.saturating_sub(found.len());
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
