//! The object database of a side repository: git packs only.
//!
//! Every snapshot with new content adds one pack; [`repack`] joins them. Without loose objects
//! there is one way to write and one to read, and all objects of a snapshot appear at once.
//! This module must not know work trees, refs or labels.

mod delta;
mod pack;
pub(crate) mod repack;
mod writer;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use gix_object::Kind;

use crate::{
    error::{Context, Result, damaged},
    tree::{FolderCache, HASH, Oid},
};
pub(crate) use pack::Pack;
pub(crate) use writer::{Batch, Budget, deflate};

pub(crate) struct Objects {
    dir: PathBuf,
    packs: RwLock<Vec<Arc<Pack>>>,
    folders: FolderCache,
}

impl Objects {
    /// `dir` is git's `objects` directory.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let dir = dir.join("pack");
        fs::create_dir_all(&dir)?;
        let packs = RwLock::new(load(&dir, &[])?);
        let folders = FolderCache::default();
        Ok(Self {
            dir,
            packs,
            folders,
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn folders(&self) -> &FolderCache {
        &self.folders
    }

    pub fn packs(&self) -> Vec<Arc<Pack>> {
        self.packs
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads the directory again, because another process may have written or joined packs.
    pub fn refresh(&self) -> io::Result<()> {
        let mut packs = self.packs.write().unwrap_or_else(PoisonError::into_inner);
        *packs = load(&self.dir, &packs)?;
        Ok(())
    }

    pub fn has(&self, id: Oid) -> bool {
        self.packs
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .any(|pack| pack.find(id).is_some())
    }

    pub fn read(&self, id: Oid) -> Result<(Kind, Vec<u8>)> {
        if let Some(found) = self.try_read(id)? {
            return Ok(found);
        }
        self.refresh().context("looking for packs")?;
        self.try_read(id)?
            .ok_or_else(|| damaged(format!("object {id} is missing")))
    }

    fn try_read(&self, id: Oid) -> Result<Option<(Kind, Vec<u8>)>> {
        for pack in self.packs() {
            if let Some(offset) = pack.find(id) {
                return pack.read(offset).map(Some);
            }
        }
        Ok(None)
    }

    pub fn blob(&self, id: Oid) -> Result<Vec<u8>> {
        match self.read(id)? {
            (Kind::Blob, bytes) => Ok(bytes),
            _ => Err(damaged(format!("{id} is not a blob"))),
        }
    }

    /// Bytes on disk.
    pub fn disk_use(&self) -> io::Result<u64> {
        let mut sum = 0;
        for entry in fs::read_dir(&self.dir)? {
            sum += entry?.metadata()?.len();
        }
        Ok(sum)
    }
}

pub(crate) fn hash(kind: Kind, data: &[u8]) -> Result<Oid> {
    // An error means a detected SHA-1 collision attack: such a file cannot be stored.
    gix_object::compute_hash(HASH, kind, data).map_err(damaged)
}

fn load(dir: &Path, known: &[Arc<Pack>]) -> io::Result<Vec<Arc<Pack>>> {
    let mut packs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ext| ext != "idx") {
            continue;
        }
        match known.iter().find(|pack| pack.index_path() == path) {
            Some(pack) => packs.push(pack.clone()),
            None => match Pack::open(&path) {
                Ok(pack) => packs.push(Arc::new(pack)),
                // One damaged or removed pack must not make the others unreadable. An object
                // that was only in this pack is reported as missing when it is read.
                Err(error) => tracing::warn!(%error, "a snapshot pack cannot be read"),
            },
        }
    }
    Ok(packs)
}
