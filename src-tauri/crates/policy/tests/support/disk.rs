//! A project on disk, as far as the analysis of commands asks about it.

use std::path::{Component, Path, PathBuf};

use lathe_policy::shell::{Located, Notable, PathLookup, config};

pub struct Disk<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
}

/// The files that are asked about, as rules are by default.
pub fn is_secret(path: &str) -> bool {
    path.ends_with(".env")
}

impl PathLookup for Disk<'_> {
    fn locate(&self, written: &str, from: &Path) -> Option<Located> {
        let written = match (written.strip_prefix('~'), self.home) {
            (Some(rest), Some(home)) => format!("{}{rest}", home.display()),
            _ => written.to_owned(),
        };
        let path = followed(&from.join(written));
        let shown = match path.strip_prefix(self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        };
        Some(Located {
            inside: path.starts_with(self.root),
            exists: path.exists(),
            is_directory: path.is_dir(),
            shown,
            path,
        })
    }

    fn links_in(&self, directory: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_symlink()).collect()
    }

    fn names_in(&self, directory: &Path) -> Option<Vec<String>> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Some(names.collect())
    }

    fn notable_below(&self, directory: &Path, hidden: bool) -> Option<Notable> {
        let mut notable = Notable::default();
        let mut open = vec![directory.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if !hidden && name.starts_with('.') {
                    continue;
                }
                let found = self.locate(".", &path)?;
                if path.is_symlink() && !found.inside {
                    notable.outside.push(found.path);
                } else if path.is_dir() {
                    open.push(path);
                } else if is_secret(&found.shown) {
                    notable.asked_about.push(found.shown);
                }
            }
        }
        Some(notable)
    }

    fn tracked_notable(&self, _directory: &Path) -> Option<Vec<String>> {
        self.notable_below(self.root, true)
            .map(|notable| notable.asked_about)
    }

    fn is_configured_to_run(&self, program: &str, from: &Path) -> bool {
        let mut folders = from.ancestors();
        folders.any(|folder| {
            config::files(program).iter().any(|file| {
                let text = std::fs::read_to_string(folder.join(file));
                text.is_ok_and(|text| config::names_programs(program, file, &text))
            })
        })
    }
}

/// With every link followed; the last parts need not exist.
fn followed(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                done.pop();
            }
            Component::CurDir => {}
            part => {
                done.push(part);
                done = done.canonicalize().unwrap_or(done);
            }
        }
    }
    done
}
