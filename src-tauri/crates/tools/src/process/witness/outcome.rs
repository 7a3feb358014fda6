//! What a reported call will come to, as far as that can be told before it runs.
//!
//! The result of a call is not seen. What counts as done by the command is taken off what the
//! system counts, so a call may be left out, but none may be counted that does nothing: one too
//! few makes a file shared, and the person decides; one too many hides a save of the person.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Weak};

use rustix::fs::Access;
use rustix::io::Errno;

use super::handles;
use crate::context::Walls;

/// Flags of `renameat2`: not over another file; swap the two names.
pub const NO_REPLACE: u32 = 1;
pub const SWAPS: u32 = 2;

const STICKY: u32 = 0o1000;

/// What a command can reach.
pub struct Reach {
    /// Not kept alive by this: they end with the command.
    walls: Option<Weak<dyn Walls>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Both names stay what they are.
    Fails,
    Unsure,
    Succeeds,
}

impl Reach {
    pub fn new(walls: Option<&Arc<dyn Walls>>) -> Self {
        Reach {
            walls: walls.map(Arc::downgrade),
        }
    }

    /// Whether the system will count one more write when what this call opens is closed.
    pub fn will_write(&self, path: &Path, meta: Option<&Metadata>, flags: u32) -> bool {
        let has = |flag: i32| flags & flag as u32 != 0;
        let is_for_writing = has(libc::O_WRONLY) != has(libc::O_RDWR);
        if !is_for_writing || has(libc::O_PATH) || has(libc::O_DIRECTORY) || !self.may_write(path) {
            return false;
        }
        let Some(meta) = meta else {
            return has(libc::O_CREAT) && path.parent().is_some_and(takes_entries);
        };
        let must_be_new = has(libc::O_CREAT) && has(libc::O_EXCL);
        // Two handles that are closed right after each other count once.
        let is_only_handle = || !handles::is_open_for_writing(path);
        meta.is_file() && !must_be_new && may(path, Access::WRITE_OK) && is_only_handle()
    }

    pub fn will_remove(&self, path: &Path, meta: &Metadata) -> bool {
        let is_in_use = meta.is_dir() && !is_empty(path);
        !is_in_use && self.may_write(path) && may_lose_name(path, meta)
    }

    pub fn of_move(&self, from: &Path, to: &Path, how: u32) -> Move {
        let Ok(old) = fs::symlink_metadata(from) else {
            return Move::Fails;
        };
        let new = fs::symlink_metadata(to).ok();
        let folder = |path: &Path| path.parent().and_then(|parent| fs::metadata(parent).ok());
        let (Some(source), Some(target)) = (folder(from), folder(to)) else {
            return Move::Fails;
        };
        let swaps = how & SWAPS != 0;
        let is_refused = match &new {
            Some(new) => {
                let replaces_other_kind = old.is_dir() != new.is_dir();
                let replaces_files = new.is_dir() && !is_empty(to);
                how & NO_REPLACE != 0
                    // Names of one file: nothing happens.
                    || is_same(&old, new)
                    || !swaps && (replaces_other_kind || replaces_files)
            }
            None => swaps,
        };
        let is_below = to.starts_with(from) || from.starts_with(to);
        if is_refused || is_below || source.dev() != target.dev() {
            return Move::Fails;
        }
        let is_known = how & !(NO_REPLACE | SWAPS) == 0;
        // A folder that moves gets another entry for its parent, and a mounted one stays.
        let may_go = !old.is_dir()
            || old.dev() == source.dev()
                && (is_same(&source, &target) || may(from, Access::WRITE_OK));
        let takes_name = match &new {
            Some(new) => may_lose_name(to, new),
            None => to.parent().is_some_and(takes_entries),
        };
        let is_allowed = self.may_write(from) && self.may_write(to) && takes_name;
        match is_known && may_go && is_allowed && may_lose_name(from, &old) {
            true => Move::Succeeds,
            false => Move::Unsure,
        }
    }

    fn may_write(&self, path: &Path) -> bool {
        let is_open = |walls: &Weak<dyn Walls>| {
            let walls = walls.upgrade();
            walls.is_some_and(|walls| walls.may_write(path))
        };
        self.walls.as_ref().is_none_or(is_open)
    }
}

fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

fn takes_entries(folder: &Path) -> bool {
    may(folder, Access::WRITE_OK | Access::EXEC_OK)
}

/// Whether a name can be taken from its folder.
fn may_lose_name(path: &Path, meta: &Metadata) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    // Made unchangeable by `chattr`. The mode of a file does not keep its name.
    let is_held = || {
        let found = rustix::fs::access(path, Access::WRITE_OK);
        meta.is_file() && matches!(found, Err(Errno::PERM | Errno::ROFS))
    };
    let own = rustix::process::geteuid().as_raw();
    let is_own_in =
        |folder: &Metadata| folder.mode() & STICKY == 0 || meta.uid() == own || folder.uid() == own;
    takes_entries(folder) && fs::metadata(folder).is_ok_and(|meta| is_own_in(&meta)) && !is_held()
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// `file`, `other` and `same` (two names of one file), `empty` and `full`.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "1").unwrap();
        fs::write(at("other"), "2").unwrap();
        fs::hard_link(at("other"), at("same")).unwrap();
        fs::create_dir(at("empty")).unwrap();
        fs::create_dir_all(at("full/inner")).unwrap();
        folder
    }

    #[test]
    fn a_move_that_the_system_refuses_is_not_counted() {
        let folder = folder();
        let reach = Reach::new(None);
        let moved = |from: &str, to: &str, how: u32| {
            reach.of_move(&folder.path().join(from), &folder.path().join(to), how)
        };
        let each = [
            ("file", "free", 0, Move::Succeeds),
            ("file", "free", NO_REPLACE, Move::Succeeds),
            ("file", "other", 0, Move::Succeeds),
            ("file", "other", NO_REPLACE, Move::Fails),
            ("file", "other", SWAPS, Move::Succeeds),
            ("file", "free", SWAPS, Move::Fails),
            ("file", "free", 4, Move::Unsure),
            ("absent", "free", 0, Move::Fails),
            ("file", "absent/free", 0, Move::Fails),
            ("other", "same", 0, Move::Fails),
            ("file", "empty", 0, Move::Fails),
            ("empty", "file", 0, Move::Fails),
            ("full", "empty", 0, Move::Succeeds),
            ("empty", "full", 0, Move::Fails),
            ("full", "full/inner/deeper", 0, Move::Fails),
        ];
        for (from, to, how, wanted) in each {
            assert_eq!(moved(from, to, how), wanted, "{from} to {to} ({how})");
        }
        let elsewhere = Path::new("/dev/shm");
        let here = fs::metadata(folder.path()).unwrap().dev();
        if fs::metadata(elsewhere).is_ok_and(|other| other.dev() != here) {
            let to = elsewhere.join("lathe-witness-of-a-move");
            let crossed = reach.of_move(&folder.path().join("file"), &to, 0);
            assert_eq!(crossed, Move::Fails, "to another file system");
        }
    }

    #[test]
    fn an_open_that_writes_nothing_is_not_counted() {
        let folder = folder();
        let reach = Reach::new(None);
        let counts = |name: &str, flags: i32| {
            let path = folder.path().join(name);
            let meta = fs::symlink_metadata(&path).ok();
            reach.will_write(&path, meta.as_ref(), flags as u32)
        };
        let new = libc::O_CREAT | libc::O_EXCL;
        let each = [
            ("file", libc::O_WRONLY, true),
            ("file", libc::O_RDWR | libc::O_CREAT, true),
            ("file", libc::O_RDONLY | libc::O_CREAT, false),
            ("file", libc::O_WRONLY | new, false),
            ("free", libc::O_WRONLY | new, true),
            ("free", libc::O_WRONLY, false),
            ("absent/free", libc::O_WRONLY | new, false),
            ("empty", libc::O_WRONLY | libc::O_TMPFILE, false),
        ];
        for (name, flags, wanted) in each {
            assert_eq!(counts(name, flags), wanted, "{name} with {flags:o}");
        }
        let _open = fs::File::options()
            .append(true)
            .open(folder.path().join("file"));
        assert!(!counts("file", libc::O_WRONLY), "it is open already");
    }

    struct Closed;

    impl Walls for Closed {
        fn engine(&self) -> &str {
            "closed"
        }

        fn prefix(&self) -> &[std::ffi::OsString] {
            &[]
        }

        fn install(&self, _: &mut std::process::Command) {}

        fn refusal(&self, _: Option<i32>, _: &str) -> Option<crate::context::Refusal> {
            None
        }

        fn may_write(&self, path: &Path) -> bool {
            !path.ends_with("file")
        }
    }

    #[test]
    fn what_the_sandbox_refuses_is_not_counted() {
        let folder = folder();
        let walls: Arc<dyn Walls> = Arc::new(Closed);
        let reach = Reach::new(Some(&walls));
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        let meta = fs::symlink_metadata(&file).unwrap();
        assert!(!reach.will_write(&file, Some(&meta), libc::O_WRONLY as u32));
        assert!(!reach.will_remove(&file, &meta));
        assert_eq!(reach.of_move(&other, &file, 0), Move::Unsure);
    }
}
