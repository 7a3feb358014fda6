//! A project that is only a list of names, for tests that need no disk.

use std::path::{Component, Path, PathBuf};

use lathe_protocol::ShellDialect;

use crate::decision::Need;
use crate::shell::{Analysis, Located, Notable, PathLookup, Surroundings, analyse};

pub(crate) const ROOT: &str = "/project";
pub(crate) const HOME: &str = "/home/ada";

const FILES: [&str; 10] = [
    "/project/.env",
    "/project/.env.example",
    "/project/.git/config",
    "/project/Cargo.toml",
    "/project/README.md",
    "/project/a.txt",
    "/project/package.json",
    "/project/src/main.rs",
    "/project/web/prod.env",
    "/etc/hosts",
];

pub(crate) struct NamedFiles;

impl PathLookup for NamedFiles {
    fn locate(&self, written: &str, from: &Path) -> Option<Located> {
        let written = match written.strip_prefix('~') {
            Some(rest) => format!("{HOME}{rest}"),
            None => written.to_owned(),
        };
        let mut path = PathBuf::new();
        for part in from.join(written).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                Component::CurDir => {}
                part => path.push(part),
            }
        }
        let inside = path.starts_with(ROOT);
        let is_directory = FILES
            .iter()
            .any(|file| Path::new(file).starts_with(&path) && Path::new(file) != path);
        let shown = match path.strip_prefix(ROOT) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        };
        Some(Located {
            exists: is_directory || FILES.iter().any(|file| Path::new(file) == path),
            path,
            shown,
            inside,
            is_directory,
        })
    }

    fn links_in(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn names_in(&self, directory: &Path) -> Option<Vec<String>> {
        let below = FILES
            .iter()
            .filter_map(|file| Path::new(file).strip_prefix(directory).ok());
        let names = below.filter_map(|rest| rest.components().next());
        Some(
            names
                .map(|name| name.as_os_str().to_string_lossy().into_owned())
                .collect(),
        )
    }

    fn notable_below(&self, directory: &Path, hidden: bool) -> Option<Notable> {
        let below = FILES
            .iter()
            .map(Path::new)
            .filter(|file| file.starts_with(directory) && file.ends_with(".env") | ends(file));
        let shown = below.filter_map(|file| file.strip_prefix(ROOT).ok());
        let asked_about = shown
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|path| hidden || !path.starts_with('.'))
            .collect();
        Some(Notable {
            asked_about,
            outside: Vec::new(),
        })
    }
}

fn ends(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "env")
}

pub(crate) fn analysis_of(command: &str) -> Analysis {
    analyse(
        command,
        &Surroundings {
            directory: Path::new(ROOT),
            home: Some(Path::new(HOME)),
            dialect: ShellDialect::Posix,
            paths: &NamedFiles,
        },
    )
}

pub(crate) fn needs_of(command: &str) -> Vec<Need> {
    Need::of_command(&analysis_of(command))
}
