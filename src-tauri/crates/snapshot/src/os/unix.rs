//! Folders as directory handles.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};

use super::{Kind, Stamp, Stat, Timestamp};

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
        let after = stat(&fs::fstat(&file)?);
        Ok((bytes, before, after))
    }

    pub fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(fs::readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    pub fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        Ok(fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    /// Fails if the folder is not empty.
    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Fails if the name exists. Without `permissions`, the user's umask decides; `executable`
    /// is set either way.
    pub fn create(
        &self,
        name: &[u8],
        bytes: &[u8],
        executable: bool,
        permissions: Option<u32>,
    ) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
        let mut file = File::from(fs::openat(&self.0, name, flags, mode)?);
        if let Some(bits) = permissions {
            let bits = bits & 0o7777;
            // Those who may read the file may also execute it, as with `chmod +x`.
            let bits = if executable {
                bits | (bits & 0o444) >> 2 | 0o100
            } else {
                bits & !0o111
            };
            fs::fchmod(&file, Mode::from_raw_mode(bits as _))?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    }

    pub fn create_link(&self, name: &[u8], target: &[u8]) -> io::Result<()> {
        let target = CString::new(target)?;
        Ok(fs::symlinkat(target.as_c_str(), &self.0, name)?)
    }

    /// Moves, and fails if the new name exists.
    pub fn move_new(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<()> {
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
    pub fn exchange(&self, one: &[u8], other: &[u8]) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            let flags = fs::RenameFlags::EXCHANGE;
            match fs::renameat_with(&self.0, one, &self.0, other, flags) {
                Ok(()) => Ok(true),
                Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "macos")))]
        {
            let _ = (one, other);
            Ok(false)
        }
    }

    pub fn replace(&self, name: &[u8], over: &[u8]) -> io::Result<()> {
        Ok(fs::renameat(&self.0, name, &self.0, over)?)
    }

    #[cfg(target_os = "linux")]
    pub fn proc_path(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
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
    Stat { kind, stamp }
}
