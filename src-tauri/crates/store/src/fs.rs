//! Access to the file system.
//!
//! Everything that changes the record tree goes through [`Fs`], so that a test can make each
//! single step fail. Nothing here knows of keys or JSON.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    pub modified: SystemTime,
    pub len: u64,
    pub is_dir: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    pub name: OsString,
    pub is_dir: bool,
}

pub trait Fs: Send + Sync + 'static {
    /// Reads the whole file. `into` is cleared first, so that one buffer serves many files.
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()>;
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;
    /// Writes a file that must not exist yet, accessible to its owner only.
    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Metadata>;
    /// Appends to a file. Creates it if it does not exist, accessible to its owner only.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&self, path: &Path) -> io::Result<()>;
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// More than any record has. A link to a device that never ends is no record.
const MAX_RECORD: u64 = 1 << 28;

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Fs for Disk {
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a pipe that lies in the tree must not block.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            rustix::fs::OFlags::NONBLOCK.bits() as i32,
        );
        // `File::read_to_end` asks for size and position first. The files are small and the
        // buffer is reused, so those calls would be a third of the cost; `take` avoids them.
        let file = options.open(path)?;
        file.take(MAX_RECORD).read_to_end(into)?;
        match into.len() as u64 {
            MAX_RECORD => Err(io::ErrorKind::FileTooLarge.into()),
            _ => Ok(()),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        convert(&fs::metadata(path)?)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            entries.push(DirEntry {
                name: entry.file_name(),
                is_dir: entry.file_type()?.is_dir(),
            });
        }
        Ok(entries)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Metadata> {
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
        file.write_all(bytes)?;
        convert(&file.metadata()?)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = private(OpenOptions::new().append(true).create(true)).open(path)?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(0)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        lathe_files::create_private_folder(path)
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
        // Windows flushes only files that are open for writing.
        OpenOptions::new()
            .read(true)
            .write(cfg!(windows))
            .open(path)?
            .sync_all()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Windows cannot sync a folder; the file system journals its metadata.
        if cfg!(windows) {
            Ok(())
        } else {
            File::open(path)?.sync_all()
        }
    }
}

/// New files are accessible to their owner only.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn convert(metadata: &fs::Metadata) -> io::Result<Metadata> {
    Ok(Metadata {
        modified: metadata.modified()?,
        len: metadata.len(),
        is_dir: metadata.is_dir(),
    })
}
