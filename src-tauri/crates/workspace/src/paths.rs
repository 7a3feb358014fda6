//! Path lookups on disk for the analysis of shell commands.

pub(crate) mod git_config;
mod git_index;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use lathe_files::ReadError;
use lathe_policy::shell::{Located, Notable, PathLookup, config};
use lathe_tools::paths;

/// At most this many entries of a directory are looked at, and of a whole tree.
const MAX_ENTRIES: usize = 2_000;
const MAX_TREE: usize = 20_000;

/// What searches read to know which files to leave out.
const IGNORE_FILES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

/// What git ignores in all projects of the person, unless its settings name another file.
const OWN_IGNORE_FILE: &str = ".config/git/ignore";

/// A config file that is larger is not read: it counts as one that runs programs.
const MAX_CONFIG: u64 = 256 * 1024;

/// Resolves paths relative to one project.
pub struct DiskPaths<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
    /// Which files may be read without a question, as rules see them.
    pub may_read: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

impl PathLookup for DiskPaths<'_> {
    fn locate(&self, written: &str, from: &Path) -> Option<Located> {
        let place = paths::resolve(written, from, self.root, self.home).ok()?;
        Some(Located {
            inside: place.is_inside(),
            exists: place.path().exists(),
            is_directory: place.path().is_dir(),
            shown: place.shown().to_owned(),
            path: place.path().to_owned(),
        })
    }

    fn links_in(&self, directory: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries
            .take(MAX_ENTRIES)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
            .map(|entry| entry.path())
            .collect()
    }

    fn names_in(&self, directory: &Path) -> Option<Vec<String>> {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Some(Vec::new());
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            if names.len() == MAX_ENTRIES {
                return None;
            }
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Some(names)
    }

    fn notable_below(&self, directory: &Path, hidden: bool) -> Option<Notable> {
        let mut notable = Notable::default();
        let mut seen = 0;
        let mut open = vec![directory.to_owned()];
        while let Some(folder) = open.pop() {
            let revealed = match hidden {
                true => Vec::new(),
                false => self.revealed_in(&folder),
            };
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_TREE {
                    return None;
                }
                let name = entry.file_name();
                let shown = || {
                    let name = name.to_string_lossy();
                    let mut patterns = revealed.iter();
                    patterns.any(|pattern| lathe_policy::wildcard(pattern, &name))
                };
                if !hidden && name.as_encoded_bytes().starts_with(b".") && !shown() {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    Ok(kind) if kind.is_symlink() => self.note_link(&entry.path(), &mut notable),
                    _ => self.note_file(&entry.path(), &mut notable),
                }
            }
        }
        Some(notable)
    }

    fn tracked_notable(&self, directory: &Path) -> Option<Vec<String>> {
        let files = git_config::tracked_files(directory)?;
        let shown = files.iter().map(|path| paths::shown(path, self.root));
        Some(shown.filter(|path| !(self.may_read)(path)).collect())
    }

    fn is_configured_to_run(&self, program: &str, from: &Path) -> bool {
        let named = |folder: &Path, file: &str| match read_config(&folder.join(file)) {
            Ok(Some(text)) => config::names_programs(program, file, &text),
            Ok(None) => false,
            Err(_) => true,
        };
        let mut folders = from.ancestors();
        folders.any(|folder| {
            let files = config::files(program).iter();
            let own = files.filter(|file| !file.starts_with(".git/"));
            own.clone().any(|file| named(folder, file))
                || (program == "git" && git_config::names_programs(folder))
        })
    }
}

impl DiskPaths<'_> {
    /// Names that a search looks at although they are hidden, because an ignore file here, above or
    /// among the person's own says not to ignore them (`!.env`). Searches look above the project,
    /// too.
    fn revealed_in(&self, folder: &Path) -> Vec<String> {
        let folders = folder.ancestors();
        let files = folders.flat_map(|one| IGNORE_FILES.map(|name| one.join(name)));
        let own = self.home.map(|home| home.join(OWN_IGNORE_FILE));
        let files = files.chain(own);
        let mut names = Vec::new();
        for text in files.filter_map(|file| read_config(&file).ok().flatten()) {
            let lines = text.lines();
            let patterns = lines.filter_map(|line| line.trim().strip_prefix('!'));
            for pattern in patterns {
                // With any other sign, it may mean every name.
                let plain = |c: char| c.is_ascii_alphanumeric() || "_-./*?".contains(c);
                if !pattern.chars().all(plain) {
                    return vec!["*".to_owned()];
                }
                let parts: Vec<&str> = pattern.split('/').filter(|one| !one.is_empty()).collect();
                if let [.., outer, "*" | "**"] = parts[..]
                    && is_below(folder, outer)
                {
                    return vec!["*".to_owned()];
                }
                let alone = parts.len() == 1;
                let named = parts
                    .iter()
                    .filter(|one| alone || !matches!(**one, "*" | "**"));
                names.extend(named.map(|one| (*one).to_owned()));
            }
        }
        names
    }

    fn note_link(&self, link: &Path, notable: &mut Notable) {
        let Ok(target) = link.canonicalize() else {
            return;
        };
        if !target.starts_with(self.root) {
            let folder = match target.is_dir() {
                true => target.as_path(),
                false => target.parent().unwrap_or(&target),
            };
            notable.outside.push(folder.to_owned());
        }
        self.note_file(&target, notable);
    }

    fn note_file(&self, path: &Path, notable: &mut Notable) {
        let shown = paths::shown(path, self.root);
        if !(self.may_read)(&shown) {
            notable.asked_about.push(shown);
        }
    }
}

/// Whether a folder or one above it has such a name.
fn is_below(folder: &Path, name: &str) -> bool {
    let mut names = folder.iter();
    names.any(|one| lathe_policy::wildcard(name, &one.to_string_lossy()))
}

/// None where there is no such file.
fn read_config(path: &Path) -> io::Result<Option<String>> {
    match lathe_files::read_text(path, MAX_CONFIG) {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
