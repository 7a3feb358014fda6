//! Folders as directory handles.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};

use super::{Attributes, Inherited, Kind, NewFile, Stamp, Stat, Timestamp, fault::step};

#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
    }

    pub fn subfolder(&self, name: &[u8]) -> io::Result<Self> {
        let flags = FOLDER | OFlags::NOFOLLOW;
        Ok(Self(fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// The same for a folder that is only passed through: its names need not be readable.
    pub fn passage(&self, name: &[u8]) -> io::Result<Self> {
        match self.subfolder(name) {
            #[cfg(target_os = "linux")]
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                Ok(Self(fs::openat(&self.0, name, flags, Mode::empty())?))
            }
            opened => opened,
        }
    }

    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(stat(&fs::fstat(&self.0)?))
    }

    pub fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(name.to_vec());
            }
        }
        Ok(names)
    }

    pub fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(stat(&fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Reads a regular file of at most `limit` bytes, with its metadata before and after.
    pub fn read(&self, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat, Stat)> {
        // NONBLOCK: opening a FIFO that has replaced the file must not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = fs::openat(&self.0, name, flags, Mode::empty())?;
        let before = stat(&fs::fstat(&fd)?);
        if before.kind != Kind::File {
            return Err(io::Error::other("not a regular file"));
        }
        if before.stamp.size > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::with_capacity(before.stamp.size as usize + 1);
        let mut file = File::from(fd);
        Read::by_ref(&mut file)
            .take(limit + 1)
            .read_to_end(&mut bytes)?;
        let mut after = stat(&fs::fstat(&file)?);
        after.attributed = !attribute_names(&file).is_empty();
        Ok((bytes, before, after))
    }

    pub fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(fs::readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// Without `bits`, the user's umask decides.
    pub fn make_folder(&self, name: &[u8], bits: Option<u32>) -> io::Result<()> {
        step()?;
        let mode = Mode::from_raw_mode(bits.unwrap_or(0o777) as _);
        Ok(fs::mkdirat(&self.0, name, mode)?)
    }

    /// Fails if the folder is not empty.
    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        step()?;
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        step()?;
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Fails if the name exists.
    pub fn create(
        &self,
        name: &[u8],
        bytes: &[u8],
        new: NewFile,
        inherited: Inherited<'_>,
    ) -> io::Result<Stat> {
        step()?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = match (new.bits, new.executable) {
            // Given to others only once it is complete.
            (Some(_), _) => 0o600,
            (None, true) => 0o777,
            (None, false) => 0o666,
        };
        let mut file = File::from(fs::openat(&self.0, name, flags, Mode::from_raw_mode(mode))?);
        step()?;
        file.write_all(bytes)?;
        if let Some((folder, from)) = inherited.from {
            set_attributes(&file, &folder.attributes(from).unwrap_or_default());
        }
        set_attributes(&file, inherited.attributes);
        if let Some(bits) = new.bits {
            fs::fchmod(&file, Mode::from_raw_mode((bits & 0o7777) as _))?;
        }
        if new.sync {
            file.sync_all()?;
        }
        Ok(stat(&fs::fstat(&file)?))
    }

    /// Whether a process has the file open for writing. The kernel grants a read lease only if
    /// none has. `false` where that is not known.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub fn is_open_for_writing(&self, name: &[u8]) -> bool {
        use std::os::fd::AsRawFd;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = fs::openat(&self.0, name, flags, Mode::empty()) else {
            return false;
        };
        // SAFETY: a descriptor of ours and plain numbers. Closing it releases the lease.
        let granted = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
        granted != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
    }

    #[cfg(not(target_os = "linux"))]
    pub fn is_open_for_writing(&self, _name: &[u8]) -> bool {
        false
    }

    /// Overwrites a file that has several names, if it is still the same file.
    pub fn overwrite(&self, name: &[u8], identity: (u64, u64), bytes: &[u8]) -> io::Result<()> {
        step()?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.0, name, flags, Mode::empty())?);
        if stat(&fs::fstat(&file)?).identity() != identity {
            return Err(io::Error::other("it was replaced meanwhile"));
        }
        // Longer content is cut at the end: a kill in between leaves both texts mixed, and the
        // record of the round says what was there.
        file.write_all(bytes)?;
        step()?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    }

    /// Sets the permission bits of a file or a folder, if it is still the same one.
    pub fn set_bits(&self, name: &[u8], identity: (u64, u64), bits: u32) -> io::Result<()> {
        step()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::openat(&self.0, name, flags, Mode::empty())?;
        if stat(&fs::fstat(&file)?).identity() != identity {
            return Err(io::Error::other("it was replaced meanwhile"));
        }
        Ok(fs::fchmod(
            &file,
            Mode::from_raw_mode((bits & 0o7777) as _),
        )?)
    }

    pub fn create_link(&self, name: &[u8], target: &[u8]) -> io::Result<Stat> {
        step()?;
        let target = CString::new(target)?;
        fs::symlinkat(target.as_c_str(), &self.0, name)?;
        self.stat(name)
    }

    /// Waits until everything on this file system is on the disk. Once for many files takes far
    /// less time than once for each.
    pub fn sync_all(&self) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            fs::syncfs(&self.0)?;
            Ok(true)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(false)
    }

    /// Moves, and fails if the new name exists.
    pub fn move_new(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<()> {
        step()?;
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            let flags = fs::RenameFlags::NOREPLACE;
            match fs::renameat_with(&self.0, name, &to.0, new_name, flags) {
                Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
                done => return Ok(done?),
            }
        }
        match to.stat(new_name) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(fs::renameat(&self.0, name, &to.0, new_name)?)
            }
            Err(error) => Err(error),
        }
    }

    /// Swaps two names atomically. `Ok(false)` if the file system cannot do it.
    pub fn exchange(&self, name: &[u8], with: &Folder, other: &[u8]) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            step()?;
            let flags = fs::RenameFlags::EXCHANGE;
            match fs::renameat_with(&self.0, name, &with.0, other, flags) {
                Ok(()) => Ok(true),
                Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "macos")))]
        {
            let _ = (name, with, other);
            Ok(false)
        }
    }

    /// Moves, and replaces what has the new name.
    pub fn move_over(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<()> {
        step()?;
        Ok(fs::renameat(&self.0, name, &to.0, new_name)?)
    }

    /// Gives a file another name.
    pub fn link(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<Stat> {
        step()?;
        fs::linkat(&self.0, name, &to.0, new_name, AtFlags::empty())?;
        to.stat(new_name)
    }

    /// The extended attributes of a file, without those that belong to the system.
    pub fn attributes(&self, name: &[u8]) -> io::Result<Attributes> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(fs::openat(&self.0, name, flags, Mode::empty())?);
        let names = attribute_names(&file).into_iter();
        let read = |name: Vec<u8>| Some((value_of(&file, &name)?, name));
        let read = names.filter_map(read).map(|(value, name)| (name, value));
        Ok(read.collect())
    }

    #[cfg(target_os = "linux")]
    pub fn proc_path(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
}

/// Not every file system has attributes, and some belong to the system.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn attribute_names(file: &File) -> Vec<Vec<u8>> {
    let Ok(length @ 1..) = fs::flistxattr_query(file) else {
        return Vec::new();
    };
    let mut names = vec![0u8; length];
    let Ok(length) = fs::flistxattr(file, &mut names[..]) else {
        return Vec::new();
    };
    let names = names[..length].split(|b| *b == 0);
    let names = names.filter(|name| !name.is_empty() && !is_for_the_system(name));
    names.map(<[u8]>::to_vec).collect()
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn value_of(file: &File, name: &[u8]) -> Option<Vec<u8>> {
    let mut value = vec![0u8; fs::fgetxattr_query(file, name).ok()?];
    let length = fs::fgetxattr(file, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

/// What cannot be set stays away: not every user may set all of them.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn set_attributes(file: &File, attributes: &[(Vec<u8>, Vec<u8>)]) {
    for (name, value) in attributes {
        let _ = fs::fsetxattr(file, &name[..], value, fs::XattrFlags::empty());
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn attribute_names(_file: &File) -> Vec<Vec<u8>> {
    Vec::new()
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn value_of(_file: &File, _name: &[u8]) -> Option<Vec<u8>> {
    None
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn set_attributes(_file: &File, _attributes: &[(Vec<u8>, Vec<u8>)]) {}

/// Labels and rights that the system gives to content; they do not belong to other content.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn is_for_the_system(attribute: &[u8]) -> bool {
    attribute.starts_with(b"security.") || attribute.starts_with(b"trusted.")
}

pub(crate) fn free_space(dir: &Path) -> io::Result<Option<u64>> {
    let stat = fs::statvfs(dir)?;
    Ok(Some(stat.f_bavail.saturating_mul(stat.f_frsize)))
}

pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[allow(clippy::unnecessary_cast)] // The types of the fields differ between systems.
fn stat(raw: &fs::Stat) -> Stat {
    let kind = match FileType::from_raw_mode(raw.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    };
    let timestamp = |seconds: i64, nanos: i64| {
        Timestamp::from(seconds) * 1_000_000_000 + Timestamp::from(nanos)
    };
    let stamp = Stamp {
        device: raw.st_dev as u64,
        inode: raw.st_ino as u64,
        size: raw.st_size as u64,
        mode: raw.st_mode as u32,
        links: raw.st_nlink as u32,
        modified: timestamp(raw.st_mtime as i64, raw.st_mtime_nsec as i64),
        changed: timestamp(raw.st_ctime as i64, raw.st_ctime_nsec as i64),
    };
    Stat {
        kind,
        stamp,
        attributed: false,
    }
}
