//! Every path is opened from `/` without following a link, and changes are made relative to
//! the opened directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat};
use rustix::io::Errno;

use super::{Expected, FileError, check, temporary_name};
use crate::context::ContentHash;

#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Non-blocking, because opening a FIFO would wait for its other end.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

pub fn open(path: &Path) -> Result<File, FileError> {
    Ok(File::from(open_without_links(path, READ)?))
}

pub fn open_directory(path: &Path) -> Result<File, FileError> {
    Ok(File::from(open_without_links(path, DIRECTORY)?))
}

pub fn is_directory(path: &Path) -> bool {
    open_directory(path).is_ok()
}

pub fn replace(path: &Path, content: &[u8], expected: Expected) -> Result<(), FileError> {
    let (parent, name) = split(path)?;
    let directory = open_or_make(parent)?;
    let old = check(open_in(&directory, name), expected)?;
    let temporary = Temporary::create(&directory)?;
    let mut file = temporary.file()?;
    file.write_all(content)?;
    if let Some(old) = &old {
        keep_owner_and_mode(old, &file)?;
    }
    file.sync_all()?;
    drop(file);
    // Once more, right before the rename: writing took time.
    check(open_in(&directory, name), expected)?;
    temporary.become_file(name, expected)?;
    // The rename itself must survive a crash; not every file system supports this.
    if let Ok(opened) = openat(
        &directory,
        ".",
        OFlags::RDONLY | OFlags::DIRECTORY,
        Mode::empty(),
    ) {
        let _ = rustix::fs::fsync(opened);
    }
    Ok(())
}

pub fn remove(path: &Path, expected: ContentHash) -> Result<(), FileError> {
    let (parent, name) = split(path)?;
    let directory = open_without_links(parent, DIRECTORY)?;
    check(open_in(&directory, name), Expected::Content(expected))?;
    rustix::fs::unlinkat(&directory, name, AtFlags::empty()).map_err(refused)
}

pub fn rename_in_folder(path: &Path, to: &OsStr) -> Result<(), FileError> {
    let (parent, name) = split(path)?;
    let directory = open_without_links(parent, DIRECTORY)?;
    rename_new(&directory, name, to).map_err(|error| match error {
        Errno::EXIST => FileError::Changed,
        error => refused(error),
    })
}

fn split(path: &Path) -> Result<(&Path, &OsStr), FileError> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(FileError::Directory),
    }
}

fn open_in(directory: &OwnedFd, name: &OsStr) -> Result<File, FileError> {
    let flags = READ | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(
        openat(directory, name, flags, Mode::empty()).map_err(refused)?,
    ))
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    let flags = flags | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // An old kernel, or a sandbox without this system call.
        Err(Errno::NOSYS | Errno::PERM) => walk(path, flags),
        result => result.map_err(refused),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    walk(path, flags | OFlags::CLOEXEC)
}

fn walk(path: &Path, flags: OFlags) -> Result<OwnedFd, FileError> {
    let mut names: Vec<&OsStr> = names(path)?;
    let Some(last) = names.pop() else {
        return rustix::fs::open("/", flags, Mode::empty()).map_err(refused);
    };
    let mut directory = root()?;
    for name in names {
        directory = step(&directory, name)?;
    }
    openat(&directory, last, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(refused)
}

fn open_or_make(path: &Path) -> Result<OwnedFd, FileError> {
    match open_without_links(path, DIRECTORY) {
        Err(FileError::Missing) => {}
        result => return result,
    }
    let mut directory = root()?;
    for name in names(path)? {
        directory = match step(&directory, name) {
            Err(FileError::Missing) => {
                match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(refused(error)),
                }
                step(&directory, name)?
            }
            result => result?,
        };
    }
    Ok(directory)
}

fn root() -> Result<OwnedFd, FileError> {
    rustix::fs::open("/", DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(refused)
}

fn step(directory: &OwnedFd, name: &OsStr) -> Result<OwnedFd, FileError> {
    let flags = DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty()).map_err(|error| match error {
        // With O_NOFOLLOW and O_DIRECTORY a link is "not a directory".
        Errno::NOTDIR if is_link(directory, name) => FileError::Swapped,
        error => refused(error),
    })
}

fn is_link(directory: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink
    })
}

fn names(path: &Path) -> Result<Vec<&OsStr>, FileError> {
    path.components()
        .filter(|component| !matches!(component, Component::RootDir))
        .map(|component| match component {
            Component::Normal(name) => Ok(name),
            _ => Err(FileError::Swapped),
        })
        .collect()
}

fn keep_owner_and_mode(old: &File, new: &File) -> io::Result<()> {
    use rustix::fs::{Gid, Uid};
    let meta = old.metadata()?;
    let current = new.metadata()?;
    if (meta.uid(), meta.gid()) != (current.uid(), current.gid()) {
        // Only root may change the owner; without it the content is still written.
        let (owner, group) = (Uid::from_raw(meta.uid()), Gid::from_raw(meta.gid()));
        let _ = rustix::fs::fchown(new, Some(owner), Some(group));
    }
    new.set_permissions(meta.permissions())
}

fn refused(error: Errno) -> FileError {
    match error {
        Errno::NOENT => FileError::Missing,
        Errno::LOOP => FileError::Swapped,
        Errno::ISDIR => FileError::Directory,
        Errno::NXIO => FileError::Special,
        error => FileError::Io(error.into()),
    }
}

/// A temporary file that is removed unless it replaces the target.
struct Temporary<'a> {
    directory: &'a OwnedFd,
    name: Option<OsString>,
    fd: OwnedFd,
}

impl<'a> Temporary<'a> {
    fn create(directory: &'a OwnedFd) -> Result<Self, FileError> {
        loop {
            let name = OsString::from(temporary_name());
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            match openat(directory, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(fd) => {
                    return Ok(Self {
                        directory,
                        name: Some(name),
                        fd,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }

    fn file(&self) -> io::Result<File> {
        Ok(File::from(self.fd.as_fd().try_clone_to_owned()?))
    }

    fn become_file(mut self, target: &OsStr, expected: Expected) -> Result<(), FileError> {
        let Some(name) = self.name.take() else {
            return Ok(());
        };
        let renamed = match expected {
            Expected::Absent => rename_new(self.directory, &name, target),
            Expected::Content(_) => {
                rustix::fs::renameat(self.directory, &name, self.directory, target)
            }
        };
        renamed.map_err(|error| {
            self.name = Some(name);
            if error == Errno::EXIST {
                FileError::Changed
            } else {
                refused(error)
            }
        })
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Renames without overwriting a file that was created in the meantime.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_new(directory: &OwnedFd, name: &OsStr, target: &OsStr) -> Result<(), Errno> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(directory, name, directory, target, RenameFlags::NOREPLACE) {
        Err(Errno::NOSYS | Errno::INVAL) => {
            rustix::fs::renameat(directory, name, directory, target)
        }
        result => result,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_new(directory: &OwnedFd, name: &OsStr, target: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat(directory, name, directory, target)
}
