//! The file system as the analysis of shell commands asks for it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use lathe_policy::shell::{Located, Notable, PathLookup, config};
use lathe_tools::paths;

/// More names than this in one directory are not searched for links.
const MOST_ENTRIES: usize = 2_000;
/// More names than this below a directory are not looked through.
const MOST_BELOW: usize = 20_000;
/// They hold copies of others' files, or what a build made: many, and none of them secret.
const NOT_SEARCHED: [&str; 5] = [".git", "node_modules", "target", ".venv", "__pycache__"];
/// Settings that are longer are not read.
const LONGEST_CONFIG: u64 = 256 * 1024;

/// Looks paths up on disk, for work in one project.
pub struct DiskPaths<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
    /// Which files may be read without a question, as rules see them; none: all.
    pub may_read: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
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
            .take(MOST_ENTRIES)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
            .map(|entry| entry.path())
            .collect()
    }

    fn names_in(&self, directory: &Path) -> Option<Vec<String>> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let names: Vec<String> = entries
            .take(MOST_ENTRIES + 1)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        (names.len() <= MOST_ENTRIES).then_some(names)
    }

    fn notable_below(&self, directory: &Path, hidden: bool) -> Option<Notable> {
        let mut notable = Notable::default();
        let mut open = VecDeque::from([directory.to_owned()]);
        let mut seen = 0;
        while let Some(folder) = open.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_BELOW {
                    return None;
                }
                let name = entry.file_name().to_string_lossy().into_owned();
                if !hidden && name.starts_with('.') {
                    continue;
                }
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() {
                    if !NOT_SEARCHED.contains(&name.as_str()) {
                        open.push_back(entry.path());
                    }
                } else if kind.is_symlink() {
                    self.note_link(&entry.path(), &mut notable);
                } else if let Some(may_read) = self.may_read {
                    let shown = paths::shown(&entry.path(), self.root);
                    if !may_read(&shown) {
                        notable.asked_about.push(shown);
                    }
                }
            }
        }
        Some(notable)
    }

    fn is_configured_to_run(&self, program: &str, from: &Path) -> bool {
        let folders = from.ancestors().take_while(|at| at.starts_with(self.root));
        for folder in folders {
            for file in config::files(program) {
                if runs_programs(program, file, folder) {
                    return true;
                }
            }
            if program == "git" && has_hook(folder) {
                return true;
            }
        }
        false
    }
}

impl DiskPaths<'_> {
    fn note_link(&self, link: &Path, notable: &mut Notable) {
        let Some(located) = self.locate(&link.to_string_lossy(), self.root) else {
            return;
        };
        if !located.inside {
            let folder = match located.is_directory {
                true => Some(located.path.as_path()),
                false => located.path.parent(),
            };
            notable.outside.extend(folder.map(Path::to_owned));
        }
    }
}

fn runs_programs(program: &str, name: &str, folder: &Path) -> bool {
    let file = folder.join(name);
    let Ok(kind) = std::fs::metadata(&file) else {
        return false;
    };
    if !kind.is_file() {
        return false;
    }
    if kind.len() > LONGEST_CONFIG {
        return true;
    }
    // What cannot be read as text is not known to be harmless.
    let text = std::fs::read_to_string(file);
    text.map_or(true, |text| config::names_programs(program, name, &text))
}

/// Refreshing the index runs it, which looking at a repository may do.
fn has_hook(folder: &Path) -> bool {
    folder.join(".git/hooks/post-index-change").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".env", "A=1");
        write("src/main.rs", "");
        write("src/deep/prod.env", "A=1");
        write("node_modules/x/.env", "");
        write(".git/config", "[core]\n\tbare = false");
        folder
    }

    #[test]
    fn files_that_are_asked_about_are_found_below_a_folder() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let may_read = |path: &str| !path.ends_with(".env");
        let paths = DiskPaths {
            root: &root,
            home: None,
            may_read: Some(&may_read),
        };
        let found = |directory: &Path, hidden| {
            let notable = paths.notable_below(directory, hidden).unwrap();
            let mut found = notable.asked_about;
            found.sort();
            found
        };
        assert_eq!(found(&root, true), [".env", "src/deep/prod.env"]);
        assert_eq!(found(&root, false), ["src/deep/prod.env"]);
        assert_eq!(found(&root.join("src"), true), ["src/deep/prod.env"]);
    }

    #[test]
    fn a_repository_that_names_programs_is_recognised_from_any_folder_in_it() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let paths = DiskPaths {
            root: &root,
            home: None,
            may_read: None,
        };
        assert!(!paths.is_configured_to_run("git", &root.join("src")));
        let config = "[core]\n\tfsmonitor = ./evil";
        std::fs::write(root.join(".git/config"), config).unwrap();
        assert!(paths.is_configured_to_run("git", &root.join("src")));
        assert!(!paths.is_configured_to_run("cargo", &root));
    }
}
