//! The seam to the file system.
//!
//! Everything that changes the tree goes through [`Fs`], so that a test can let each single
//! step fail. Nothing here knows of keys or JSON.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// How a file or folder was when we last looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub modified: SystemTime,
    pub len: u64,
    pub is_dir: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub is_dir: bool,
}

pub trait Fs: Send + Sync + 'static {
    /// Puts the whole file into `into`, which is cleared first so that it can be used again.
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()>;
    fn stat(&self, path: &Path) -> io::Result<Stamp>;
    fn entries(&self, path: &Path) -> io::Result<Vec<Entry>>;
    /// Writes a file that must not exist yet, for its owner only.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Stamp>;
    /// Adds to a file, which is made if it is not there, for its owner only.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, path: &Path) -> io::Result<()>;
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Fs for Disk {
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let mut options = OpenOptions::new();
        options.read(true);
        // A pipe that somebody put there must not hold us up.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            rustix::fs::OFlags::NONBLOCK.bits() as i32,
        );
        // Reading a bare `File` to its end asks for size and position first. Our files are
        // small and the buffer is used again, so those calls would be a third of the cost.
        let file = options.open(path)?;
        file.take(u64::MAX).read_to_end(into).map(drop)
    }

    fn stat(&self, path: &Path) -> io::Result<Stamp> {
        stamp(&fs::metadata(path)?)
    }

    fn entries(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            entries.push(Entry {
                name: entry.file_name(),
                is_dir: entry.file_type()?.is_dir(),
            });
        }
        Ok(entries)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
        file.write_all(bytes)?;
        stamp(&file.metadata()?)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private(OpenOptions::new().append(true).create(true)).open(path)?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(0)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Windows flushes only what is open for writing.
        OpenOptions::new()
            .read(true)
            .write(cfg!(windows))
            .open(path)?
            .sync_all()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Windows has no such thing: its metadata journal does the work.
        if cfg!(windows) {
            Ok(())
        } else {
            File::open(path)?.sync_all()
        }
    }
}

/// Folders and files of ours are nobody else's business.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn stamp(metadata: &fs::Metadata) -> io::Result<Stamp> {
    Ok(Stamp {
        modified: metadata.modified()?,
        len: metadata.len(),
        is_dir: metadata.is_dir(),
    })
}
