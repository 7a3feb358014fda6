//! Resolves a path that the model wrote to a checked location on disk.
//!
//! A [`Place`] is a path without symlinks. Outside the project its directory must be allowed before
//! anything about it is revealed: [`ToolContext::outside`] says what to ask for. [`crate::files`]
//! opens a place without following links, so that the path that was checked is the one that is used.

#[cfg(any(windows, test))]
mod windows;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
#[cfg(not(windows))]
use std::path::Component;
use std::path::{Path, PathBuf};

use crate::context::{PermissionAsk, ToolContext, Want};
use crate::text;
use crate::tool::ToolFailure;

/// More links in a row count as a loop. Linux has the same limit.
#[cfg(not(windows))]
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    shown: String,
    inside: bool,
}

impl Place {
    /// Absolute and free of symlinks; the last parts need not exist.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For rules, titles and the model: relative to the root with `/`, or absolute.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn is_inside(&self) -> bool {
        self.inside
    }
}

/// What kind of path it is, which decides the directory that permission is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    File,
    Directory,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("the path is empty")]
    Empty,
    #[error("the path contains a NUL character")]
    Nul,
    #[error("too many levels of symbolic links")]
    Loop,
    #[error("{0}")]
    Refused(&'static str),
    #[error("{0}")]
    Unreadable(String),
}

impl ToolContext {
    /// Resolves a path, with a failure for the model. Asks for nothing.
    pub fn locate(&self, given: &str) -> Result<Place, ToolFailure> {
        self.resolve(given).map_err(|bad| {
            ToolFailure::failed(format!(
                "The path {} can’t be used: {bad}.",
                text::quoted(given)
            ))
        })
    }

    pub fn resolve(&self, given: &str) -> Result<Place, BadPath> {
        resolve(given, &self.cwd, &self.root, self.environment.home())
    }

    /// What must be allowed before a place outside the project is used.
    pub fn outside(&self, place: &Place, target: Target) -> Option<Want> {
        // The model may read the saved full results of its own session.
        if place.inside || place.path.starts_with(self.own_output_dir()) {
            return None;
        }
        let directory = match target {
            Target::Directory => place.path.as_path(),
            Target::File => place.path.parent().unwrap_or(&place.path),
        };
        Some(external_directory(directory))
    }

    /// A call fails before it could ask for what it wants. Why it fails may reveal what is in files
    /// outside the project, so their directories must be allowed first.
    pub(crate) async fn failure_about(&self, files: &[Place], failure: ToolFailure) -> ToolFailure {
        let mut outside = files
            .iter()
            .filter_map(|place| self.outside(place, Target::File));
        let Some(first) = outside.next() else {
            return failure;
        };
        let shown: Vec<&str> = files.iter().map(Place::shown).collect();
        let ask = PermissionAsk::from(first)
            .and(outside)
            .with("filepath", shown.join(", "));
        match self.host.ask(ask).await {
            Ok(()) => failure,
            Err(refused) => refused,
        }
    }
}

/// The permission to use a directory outside the project.
pub fn external_directory(directory: &Path) -> Want {
    let shown = slashed(directory);
    let pattern = format!("{}/*", shown.trim_end_matches('/'));
    let want = Want::new("external_directory", &pattern);
    // In a rule these characters would match more than this directory.
    if shown.contains(['*', '?']) {
        want
    } else {
        want.always(pattern)
    }
}

pub fn resolve(
    given: &str,
    cwd: &Path,
    root: &Path,
    home: Option<&Path>,
) -> Result<Place, BadPath> {
    if given.trim().is_empty() {
        return Err(BadPath::Empty);
    }
    if given.contains('\0') {
        return Err(BadPath::Nul);
    }
    #[cfg(windows)]
    windows::check(given).map_err(BadPath::Refused)?;
    let path = without_links(&cwd.join(expand_home(given, home)))?;
    let inside = is_below(&path, root);
    let shown = shown(&path, root);
    Ok(Place {
        path,
        shown,
        inside,
    })
}

/// A path without links, formatted for rules, titles and the model.
pub fn shown(path: &Path, root: &Path) -> String {
    match path.strip_prefix(root) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => slashed(rest),
        Err(_) => slashed(path),
    }
}

fn expand_home(given: &str, home: Option<&Path>) -> PathBuf {
    let Some(home) = home else {
        return PathBuf::from(given);
    };
    if given == "~" {
        return home.to_owned();
    }
    let rest = given.strip_prefix("~/").or_else(|| {
        if cfg!(windows) {
            given.strip_prefix("~\\")
        } else {
            None
        }
    });
    rest.map_or_else(|| PathBuf::from(given), |rest| home.join(rest))
}

pub fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.trim_start_matches(r"\\?\").replace('\\', "/")
    } else {
        text.into_owned()
    }
}

/// Follows links like the system, but the last components need not exist:
/// `std::fs::canonicalize` fails for files that are not written yet, and a dangling link must be
/// checked by its target.
#[cfg(not(windows))]
fn without_links(path: &Path) -> Result<PathBuf, BadPath> {
    let mut todo: VecDeque<OsString> = parts(path);
    let mut done = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(&part);
        match std::fs::symlink_metadata(&done) {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(BadPath::Loop);
                }
                let target = std::fs::read_link(&done).map_err(|e| unreadable(&e))?;
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Ok(_) => {}
            Err(error) if missing(&error) => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(true_case(done))
}

#[cfg(not(windows))]
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// Uses the spelling on disk: on a case-insensitive volume one file has many spellings.
#[cfg(target_os = "macos")]
fn true_case(path: PathBuf) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    path
}

#[cfg(not(any(windows, target_os = "macos")))]
fn true_case(path: PathBuf) -> PathBuf {
    path
}

#[cfg(windows)]
fn without_links(path: &Path) -> Result<PathBuf, BadPath> {
    let mut missing_tail: VecDeque<OsString> = VecDeque::new();
    let mut existing = std::path::absolute(path).map_err(|e| unreadable(&e))?;
    loop {
        match existing.canonicalize() {
            Ok(real) => return Ok(missing_tail.iter().fold(real, |path, part| path.join(part))),
            Err(_) if std::fs::symlink_metadata(&existing).is_ok_and(|m| m.is_symlink()) => {
                return Err(BadPath::Refused(
                    "it goes through a link that leads nowhere",
                ));
            }
            Err(error) if missing(&error) => {
                let Some(name) = existing.file_name().map(OsString::from) else {
                    return Err(unreadable(&error));
                };
                missing_tail.push_front(name);
                existing.pop();
            }
            Err(error) => return Err(unreadable(&error)),
        }
    }
}

fn missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unreadable(error: &io::Error) -> BadPath {
    BadPath::Unreadable(error.to_string())
}

fn is_below(path: &Path, root: &Path) -> bool {
    path.starts_with(root) || shares_ancestor(path, root)
}

/// The same directory under another spelling (a volume that ignores case, a second mount).
#[cfg(unix)]
fn shares_ancestor(path: &Path, root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| {
        std::fs::symlink_metadata(path)
            .ok()
            .map(|meta| (meta.dev(), meta.ino()))
    };
    let Some(root) = identity(root) else {
        return false;
    };
    path.ancestors()
        .any(|ancestor| identity(ancestor) == Some(root))
}

#[cfg(not(unix))]
fn shares_ancestor(path: &Path, root: &Path) -> bool {
    let folded = |path: &Path| path.to_string_lossy().to_lowercase();
    Path::new(&folded(path)).starts_with(folded(root))
}
