//! A confinement, resolved against the file system: one access per real path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use crate::confinement::{Confinement, Grant};
use crate::git;
use crate::plan::SandboxError;

/// What may be done below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
    Hidden,
}

/// What is put in the place of a protected path that does not exist, while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// An empty folder.
    Folder,
    /// A file with this content.
    File(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    pub access: Access,
    /// Set where nothing is there yet.
    pub missing: Option<Placeholder>,
}

/// Real paths with what holds from there on down. Everything else is readable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    map: BTreeMap<PathBuf, Rule>,
    /// Writable folders in which no entry may be created or removed, since a symbolic link among
    /// the entries is protected and a link cannot be held in place by itself.
    pub fixed: BTreeSet<PathBuf>,
}

impl Rules {
    pub fn resolve(confinement: &Confinement) -> Result<Self, SandboxError> {
        let mut rules = Self::default();
        for path in &confinement.writable {
            if let Ok(real) = fs::canonicalize(path) {
                if real.parent().is_none() {
                    return Err(SandboxError::WholeSystem);
                }
                rules.set(real, Access::Write);
            }
        }
        for path in &confinement.protected {
            if path.file_name().is_some_and(|name| name == ".git") && confinement.git_writable {
                for (inner, access, placeholder) in git::writable_repository(path) {
                    rules.protect_as(&inner, access, placeholder);
                }
            } else {
                rules.protect_as(path, Access::Read, Placeholder::Folder);
            }
        }
        let writable = confinement.writable.iter();
        let writable: BTreeSet<PathBuf> = writable
            .filter_map(|path| fs::canonicalize(path).ok())
            .collect();
        for path in &confinement.unreadable {
            if let Ok(real) = fs::canonicalize(path) {
                if writable.contains(&real) {
                    return Err(SandboxError::Contradiction(real));
                }
                rules.set(real, Access::Hidden);
            }
        }
        for grant in &confinement.grants {
            rules.grant(grant)?;
        }
        Ok(rules)
    }

    /// The nearest rule at or above a path.
    pub fn access(&self, path: &Path) -> Access {
        path.ancestors()
            .find_map(|place| self.map.get(place))
            .map_or(Access::Read, |rule| rule.access)
    }

    /// Outer paths come before those inside of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, Rule)> {
        self.map.iter().map(|(path, rule)| (path.as_path(), *rule))
    }

    pub fn get(&self, path: &Path) -> Option<Rule> {
        self.map.get(path).copied()
    }

    /// The rules strictly inside of a folder.
    pub fn below(&self, folder: &Path) -> impl Iterator<Item = (&Path, Rule)> {
        // Paths are ordered by their parts, so that they follow each other.
        let behind: (Bound<&Path>, Bound<&Path>) = (Bound::Excluded(folder), Bound::Unbounded);
        let behind = self.map.range::<Path, _>(behind);
        behind
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(path, rule)| (path.as_path(), *rule))
    }

    fn set(&mut self, path: PathBuf, access: Access) {
        let missing = None;
        self.map.insert(path, Rule { access, missing });
    }

    fn grant(&mut self, grant: &Grant) -> Result<(), SandboxError> {
        let real = |path: &PathBuf| {
            fs::canonicalize(path).map_err(|_| SandboxError::MissingGrant(path.clone()))
        };
        match grant {
            Grant::Read(path) => {
                let path = real(path)?;
                if self.access(&path) == Access::Hidden {
                    self.set(path, Access::Read);
                }
            }
            Grant::Write(path) => {
                let path = real(path)?;
                if path.parent().is_none() {
                    return Err(SandboxError::WholeSystem);
                }
                self.set(path, Access::Write);
            }
            Grant::Network | Grant::LocalSockets => {}
        }
        Ok(())
    }

    /// Sets the access of a path that may be missing, or reached through symbolic links. Links
    /// below a writable folder are protected with what they lead to.
    fn protect_as(&mut self, path: &Path, access: Access, placeholder: Placeholder) {
        let mut real = PathBuf::new();
        // Bounds chains of links, as the system does.
        let mut links = 40;
        let mut rest: Vec<PathBuf> = parts(path);
        while let Some(part) = rest.pop() {
            let next = join(&real, &part);
            let Ok(found) = fs::symlink_metadata(&next) else {
                // The first missing part placeholders for all that would come below it.
                self.set_missing(next, access, placeholder, rest.is_empty());
                return;
            };
            let is_placeholder =
                found.is_dir() && crate::system::is_placeholder(&next, Placeholder::Folder);
            if !rest.is_empty() && is_placeholder {
                self.set_missing(next, access, placeholder, false);
                return;
            }
            if found.is_symlink() && links > 0 {
                links -= 1;
                if access != Access::Write {
                    self.fix_link(&next);
                }
                if let Ok(target) = fs::read_link(&next) {
                    rest.extend(parts(&target));
                }
            } else {
                real = next;
            }
        }
        let held = self.get(&real).map(|rule| rule.access);
        if access == Access::Write && held.is_some() {
            return;
        }
        if crate::system::is_placeholder(&real, placeholder) {
            self.set_missing(real, access, placeholder, true);
        } else {
            self.set(real, access);
        }
    }

    fn set_missing(
        &mut self,
        path: PathBuf,
        access: Access,
        placeholder: Placeholder,
        whole: bool,
    ) {
        let creatable = path.parent().is_some_and(crate::system::may_get_entries);
        if access == Access::Read && self.access(&path) == Access::Write && creatable {
            let missing = Some(if whole {
                placeholder
            } else {
                Placeholder::Folder
            });
            self.map.insert(path, Rule { access, missing });
        }
    }

    /// Keeps a link where it is: its folder becomes read-only, its other entries do not.
    fn fix_link(&mut self, link: &Path) {
        let Some(folder) = link.parent() else {
            return;
        };
        if self.access(folder) != Access::Write || self.fixed.contains(folder) {
            return;
        }
        self.fixed.insert(folder.to_owned());
        self.set(folder.to_owned(), Access::Read);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let plain = entry
                .file_type()
                .is_ok_and(|kind| kind.is_dir() || kind.is_file());
            if plain && self.get(&entry.path()).is_none() {
                self.set(entry.path(), Access::Write);
            }
        }
    }
}

/// The parts of a path, last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> = path
        .components()
        .map(|part| PathBuf::from(part.as_os_str()))
        .collect();
    parts.reverse();
    parts
}

fn join(real: &Path, part: &Path) -> PathBuf {
    match part.components().next() {
        Some(Component::ParentDir) => real.parent().unwrap_or(real).to_owned(),
        Some(Component::CurDir) => real.to_owned(),
        // An absolute part replaces what was there.
        _ => real.join(part),
    }
}

#[cfg(unix)]
#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
