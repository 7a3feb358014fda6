//! For systems without directory handles in the standard library: paths that are checked
//! right before use.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use super::{Attributes, Inherited, Kind, NewFile, Stamp, Stat, Timestamp};

#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub fn subfolder(&self, name: &[u8]) -> io::Result<Self> {
        let path = self.path(name)?;
        match fs::symlink_metadata(&path)?.file_type() {
            kind if kind.is_dir() && !kind.is_symlink() => Ok(Self(path)),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn passage(&self, name: &[u8]) -> io::Result<Self> {
        self.subfolder(name)
    }

    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(stat(&fs::symlink_metadata(&self.0)?))
    }

    pub fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name().into_string();
            names.push(
                name.unwrap_or_else(|raw| raw.to_string_lossy().into_owned())
                    .into_bytes(),
            );
        }
        Ok(names)
    }

    pub fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(stat(&fs::symlink_metadata(self.path(name)?)?))
    }

    pub fn read(&self, name: &[u8], limit: u64) -> io::Result<(Vec<u8>, Stat, Stat)> {
        let before = self.stat(name)?;
        if before.kind != Kind::File {
            return Err(io::Error::other("not a regular file"));
        }
        if before.stamp.size > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let bytes = fs::read(self.path(name)?)?;
        Ok((bytes, before, self.stat(name)?))
    }

    pub fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.path(name)?)?;
        target
            .into_os_string()
            .into_string()
            .map(String::into_bytes)
            .map_err(|_| io::ErrorKind::InvalidData.into())
    }

    pub fn make_folder(&self, name: &[u8], _bits: Option<u32>) -> io::Result<()> {
        fs::create_dir(self.path(name)?)
    }

    pub fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        fs::remove_dir(self.path(name)?)
    }

    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        fs::remove_file(self.path(name)?)
    }

    pub fn create(
        &self,
        name: &[u8],
        bytes: &[u8],
        new: NewFile,
        _inherited: Inherited<'_>,
    ) -> io::Result<Stat> {
        let path = self.path(name)?;
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)?;
        file.write_all(bytes)?;
        if new.sync {
            file.sync_all()?;
        }
        self.stat(name)
    }

    pub fn is_open_for_writing(&self, _name: &[u8]) -> bool {
        false
    }

    pub fn overwrite(&self, _name: &[u8], _identity: (u64, u64), _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn set_bits(&self, _name: &[u8], _identity: (u64, u64), _bits: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn attributes(&self, _name: &[u8]) -> io::Result<Attributes> {
        Ok(Attributes::new())
    }

    /// Gives a file another name.
    pub fn link(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<Stat> {
        fs::hard_link(self.path(name)?, to.path(new_name)?)?;
        to.stat(new_name)
    }

    /// Moves, and replaces what has the new name.
    pub fn move_over(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<()> {
        fs::rename(self.path(name)?, to.path(new_name)?)
    }

    pub fn sync_all(&self) -> io::Result<bool> {
        Ok(false)
    }

    pub fn create_link(&self, name: &[u8], target: &[u8]) -> io::Result<Stat> {
        #[cfg(windows)]
        {
            std::os::windows::fs::symlink_file(text(target)?, self.path(name)?)?;
            self.stat(name)
        }
        #[cfg(not(windows))]
        {
            let _ = (name, target);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    pub fn move_new(&self, name: &[u8], to: &Folder, new_name: &[u8]) -> io::Result<()> {
        let target = to.path(new_name)?;
        match fs::symlink_metadata(&target) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::rename(self.path(name)?, target)
            }
            Err(error) => Err(error),
        }
    }

    pub fn exchange(&self, _name: &[u8], _with: &Folder, _other: &[u8]) -> io::Result<bool> {
        Ok(false)
    }

    fn path(&self, name: &[u8]) -> io::Result<PathBuf> {
        Ok(self.0.join(text(name)?))
    }
}

/// Unknown without a platform-specific call; here only the size limit applies.
pub(crate) fn free_space(_dir: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

pub(crate) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or_default())
}

fn text(bytes: &[u8]) -> io::Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidFilename.into())
}

fn stat(meta: &fs::Metadata) -> Stat {
    let kind = match meta.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Special,
    };
    let modified = meta.modified().ok().map_or(0, timestamp);
    let stamp = Stamp {
        size: meta.len(),
        mode: 0o644,
        links: 1,
        modified,
        // There is no change time, so the modification time is used.
        changed: modified,
        ..Stamp::default()
    };
    Stat {
        kind,
        stamp,
        attributed: false,
    }
}

fn timestamp(time: SystemTime) -> Timestamp {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as Timestamp,
        Err(before) => -(before.duration().as_nanos() as Timestamp),
    }
}
