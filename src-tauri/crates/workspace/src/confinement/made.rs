//! What a command made in protected places, and its names until the person has decided.
//!
//! Found by comparing what is there before and after: a witness of system calls can be deceived,
//! a look at the disk when all processes have ended cannot. What was there before is read-only in
//! the sandbox, so only what is new counts.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_tools::{ProtectedItem, SetAside, files, paths};

use super::protected_paths::{Extent, IsSecret, Scan, scan};

/// What a file is called until the person has decided.
const ENDING: &str = ".set-aside";
/// Names that are tried: the first ones may be taken from earlier commands.
const NAMES: usize = 1_000;
/// The kernel's clock for files is behind the other one.
const CLOCK_LAG: Duration = Duration::from_millis(50);
/// What `git rebase --continue` runs. No command that opens `.git` for git makes one.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];

/// What was there before a command.
#[derive(Debug)]
pub struct Before {
    root: PathBuf,
    home: Option<PathBuf>,
    folders: Vec<(PathBuf, Extent)>,
    found: HashSet<PathBuf>,
    /// Not everything was looked at. Then the time of the last change tells what is new.
    incomplete: Option<SystemTime>,
    /// Folders of git that the command may write to.
    git: Vec<PathBuf>,
    /// What the person allowed beforehand.
    allowed: Vec<PathBuf>,
}

impl Before {
    pub fn new(root: &Path, home: Option<&Path>, allowed: &[PathBuf]) -> Self {
        let allowed = allowed.iter().filter(|path| !root.starts_with(path));
        Self {
            root: root.to_owned(),
            home: home.map(Path::to_owned),
            folders: Vec::new(),
            found: HashSet::new(),
            incomplete: None,
            git: Vec::new(),
            allowed: allowed.cloned().collect(),
        }
    }

    /// Looks through a folder that the command may write to.
    pub fn look_through(&mut self, folder: &Path, extent: Extent, is_secret: IsSecret) -> Scan {
        let started = SystemTime::now() - CLOCK_LAG;
        let scan = scan(folder, self.home.as_deref(), extent, is_secret);
        self.folders.push((folder.to_owned(), extent));
        self.found.extend(scan.found.iter().cloned());
        if scan.incomplete {
            self.incomplete.get_or_insert(started);
        }
        scan
    }

    /// The sandbox lets nothing be made there; while the command runs, a placeholder may be.
    pub fn cannot_be_made(&mut self, path: &Path) {
        self.found.insert(path.to_owned());
    }

    /// Git may write to the repository of this `.git` folder or file.
    pub fn git_may_write(&mut self, dot_git: &Path) {
        let folder = git_folder(dot_git);
        let rebases = REBASES.map(|name| folder.join(name));
        let there = rebases.into_iter().filter(|path| exists(path));
        self.found.extend(there);
        self.git.push(folder);
    }

    /// Renames what is there now and was not before. Blocks.
    pub fn set_aside_what_is_new(&self) -> SetAside {
        let mut all = SetAside::default();
        let mut found = Vec::new();
        for (folder, extent) in &self.folders {
            let scan = scan(folder, self.home.as_deref(), extent.after(), &|_| false);
            all.incomplete |= scan.incomplete;
            found.extend(scan.found);
        }
        let rebases = self.git.iter();
        let rebases = rebases.flat_map(|folder| REBASES.map(|name| folder.join(name)));
        found.extend(rebases.filter(|path| exists(path)));
        for path in found {
            if self.is_new(&path) && !all.items.iter().any(|item| item.path == path) {
                let shown = paths::shown(&path, &self.root);
                let aside = rename(&path);
                all.items.push(ProtectedItem { path, shown, aside });
            }
        }
        all
    }

    fn is_new(&self, path: &Path) -> bool {
        let allowed = self.allowed.iter().any(|allowed| path.starts_with(allowed));
        if allowed || self.found.contains(path) {
            return false;
        }
        match self.incomplete {
            None => true,
            Some(started) => fs::symlink_metadata(path)
                .is_ok_and(|found| changed(&found).is_none_or(|at| at >= started)),
        }
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Where the state of a checkout is; its `.git` may be a file that says so.
fn git_folder(dot_git: &Path) -> PathBuf {
    let text = match dot_git.is_file() {
        true => lathe_files::read(dot_git, 4096).unwrap_or_default(),
        false => return dot_git.to_owned(),
    };
    let text = String::from_utf8_lossy(&text);
    let named = text.strip_prefix("gitdir:").map(str::trim);
    match (named, dot_git.parent()) {
        (Some(named), Some(folder)) => folder.join(named),
        _ => dot_git.to_owned(),
    }
}

/// Unlike the time of the last write, a program cannot set it.
#[cfg(unix)]
fn changed(found: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(found.ctime()).ok()?;
    let nanoseconds = u32::try_from(found.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

/// The new name, under which nothing acts on it.
fn rename(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    for number in 1..=NAMES {
        let aside = aside(name, number);
        match files::rename_in_folder(path, &aside) {
            Ok(()) => return Some(path.with_file_name(aside)),
            Err(files::FileError::Changed) => {}
            Err(_) if number == 1 => make_writable(path.parent()?),
            Err(_) => return None,
        }
    }
    None
}

fn aside(name: &OsStr, number: usize) -> OsString {
    let mut aside = name.to_owned();
    aside.push(ENDING);
    if number > 1 {
        aside.push(format!("-{number}"));
    }
    aside
}

/// The command may have taken our right to rename in a folder.
#[cfg(unix)]
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(found) = fs::symlink_metadata(folder)
        && found.is_dir()
    {
        let mode = found.permissions().mode() | 0o700;
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode));
    }
}

#[cfg(not(unix))]
fn make_writable(_: &Path) {}
