//! The base of the test file systems: reads go to the real disk, every change goes through one
//! function.

use std::io;
use std::path::Path;
use std::sync::Arc;

use lathe_store::{DirEntry, Disk, Fs, Metadata, Options};

#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    Create { path: &'a Path, bytes: &'a [u8] },
    Append { path: &'a Path, bytes: &'a [u8] },
    Truncate(&'a Path),
    CreateDirAll(&'a Path),
    Rename { from: &'a Path, to: &'a Path },
    RemoveFile(&'a Path),
    RemoveDirAll(&'a Path),
    SyncFile(&'a Path),
    SyncDir(&'a Path),
}

impl Change<'_> {
    /// Makes the change on the real disk. A sync only checks that its target exists: no test
    /// outlives a real power cut, so none has to wait for the disk.
    pub fn apply(self) -> io::Result<()> {
        match self {
            Change::Create { path, bytes } => Disk.create(path, bytes).map(drop),
            Change::Append { path, bytes } => Disk.append(path, bytes),
            Change::Truncate(path) => Disk.truncate(path),
            Change::CreateDirAll(path) => Disk.create_dir_all(path),
            Change::Rename { from, to } => Disk.rename(from, to),
            Change::RemoveFile(path) => Disk.remove_file(path),
            Change::RemoveDirAll(path) => Disk.remove_dir_all(path),
            Change::SyncFile(path) | Change::SyncDir(path) => Disk.metadata(path).map(drop),
        }
    }
}

/// Decides what happens to each change: it may apply it, refuse it or take notes.
pub trait ChangeHook: Send + Sync + 'static {
    fn change(&self, change: Change<'_>) -> io::Result<()>;
}

/// Options for a store on a disk that the test keeps a handle of.
pub fn options_with(disk: &Arc<impl ChangeHook>) -> Options {
    Options {
        fs: Arc::new(TestFs(disk.clone())),
        ..Options::default()
    }
}

struct TestFs<H>(Arc<H>);

impl<H: ChangeHook> Fs for TestFs<H> {
    fn read(&self, path: &Path, into: &mut Vec<u8>) -> io::Result<()> {
        Disk.read(path, into)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        Disk.metadata(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        Disk.read_dir(path)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<Metadata> {
        self.0.change(Change::Create { path, bytes })?;
        Disk.metadata(path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.change(Change::Append { path, bytes })
    }

    fn truncate(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::Truncate(path))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::CreateDirAll(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change(Change::Rename { from, to })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::RemoveFile(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::RemoveDirAll(path))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::SyncFile(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.change(Change::SyncDir(path))
    }
}
