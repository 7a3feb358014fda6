//! Writes a pack and its index. They get their final names only when they are complete.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use gix_object::Kind;
use gix_pack::data::entry::Header;
use tempfile::NamedTempFile;

use super::{Objects, hash};
use crate::{
    error::{Context, Result, SnapshotError, damaged},
    tree::{HASH, Oid},
};

/// How much space the packs may take, and how much must stay free on the disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub limit: u64,
    pub used: u64,
    pub keep_free: u64,
}

/// While writing, free space is checked each time this many bytes were written.
const CHECK_EVERY: u64 = 64 << 20;

impl Budget {
    pub const NO_LIMIT: Self = Self {
        limit: u64::MAX,
        used: 0,
        keep_free: 0,
    };

    pub fn check(&self, dir: &Path, written: u64, last_checked: &mut Option<u64>) -> Result<()> {
        if self.used.saturating_add(written) > self.limit {
            return Err(SnapshotError::OverLimit { limit: self.limit });
        }
        if last_checked.is_none_or(|at| written >= at + CHECK_EVERY) {
            *last_checked = Some(written);
            let free = crate::os::free_space(dir).context("asking for free space")?;
            if free.is_some_and(|free| free < self.keep_free) {
                return Err(SnapshotError::DiskNearlyFull {
                    keep: self.keep_free,
                });
            }
        }
        Ok(())
    }
}

/// New objects of one snapshot, written by several threads.
pub(crate) struct Batch<'a> {
    objects: &'a Objects,
    pack: Mutex<PackWriter>,
}

impl<'a> Batch<'a> {
    pub fn new(objects: &'a Objects, budget: Budget) -> Self {
        let pack = Mutex::new(PackWriter::new(objects.dir(), Some(budget)));
        Self { objects, pack }
    }

    pub fn put(&self, kind: Kind, data: &[u8]) -> Result<Oid> {
        let id = hash(kind, data)?;
        if self.objects.has(id) || self.pack().contains(id) {
            return Ok(id);
        }
        let compressed = deflate(data).context("compressing")?;
        self.pack()
            .append(id, header(kind)?, data.len() as u64, &compressed)?;
        Ok(id)
    }

    pub fn finish(self) -> Result<()> {
        let pack = self
            .pack
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if pack.finish()?.is_some() {
            self.objects.refresh().context("opening the new pack")?;
        }
        Ok(())
    }

    fn pack(&self) -> std::sync::MutexGuard<'_, PackWriter> {
        self.pack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn header(kind: Kind) -> Result<Header> {
    match kind {
        Kind::Blob => Ok(Header::Blob),
        Kind::Tree => Ok(Header::Tree),
        Kind::Commit | Kind::Tag => Err(damaged("snapshots hold only trees and blobs")),
    }
}

pub(crate) fn deflate(data: &[u8]) -> io::Result<Vec<u8>> {
    let room = Vec::with_capacity(data.len() / 3 + 64);
    let mut stream = gix_zlib::stream::deflate::Write::new(room, gix_zlib::Compression::DEFAULT);
    stream.write_all(data)?;
    stream.flush()?;
    Ok(stream.into_inner())
}

struct WrittenEntry {
    offset: u64,
    crc: u32,
}

/// Version 2, with a count of objects that is filled in at the end.
const HEADER: &[u8] = b"PACK\0\0\0\x02\0\0\0\0";

/// Creates no file before the first object; a dropped writer leaves no file behind.
pub(super) struct PackWriter {
    dir: PathBuf,
    budget: Option<Budget>,
    /// The position at which free space was checked last.
    last_checked: Option<u64>,
    file: Option<BufWriter<NamedTempFile>>,
    position: u64,
    written: HashMap<Oid, WrittenEntry>,
}

impl PackWriter {
    pub fn new(dir: &Path, budget: Option<Budget>) -> Self {
        Self {
            dir: dir.to_owned(),
            budget,
            last_checked: None,
            file: None,
            position: HEADER.len() as u64,
            written: HashMap::new(),
        }
    }

    pub fn contains(&self, id: Oid) -> bool {
        self.written.contains_key(&id)
    }

    pub fn offset(&self, id: Oid) -> Option<u64> {
        self.written.get(&id).map(|written| written.offset)
    }

    /// The offset of the next object.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn append(&mut self, id: Oid, header: Header, size: u64, compressed: &[u8]) -> Result<()> {
        if self.contains(id) {
            return Ok(());
        }
        if let Some(budget) = self.budget {
            let after = self.position + compressed.len() as u64;
            budget.check(&self.dir, after, &mut self.last_checked)?;
        }
        let mut head = Vec::with_capacity(32);
        header.write_to(size, &mut head).context("writing a pack")?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&head);
        crc.update(compressed);
        let file = self.open().context("creating a pack")?;
        file.write_all(&head).context("writing a pack")?;
        file.write_all(compressed).context("writing a pack")?;
        let (offset, crc) = (self.position, crc.finalize());
        self.written.insert(id, WrittenEntry { offset, crc });
        self.position += (head.len() + compressed.len()) as u64;
        Ok(())
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<NamedTempFile>> {
        if self.file.is_none() {
            let temp = lathe_files::temporary_file(&self.dir)?;
            let mut file = BufWriter::with_capacity(1 << 18, temp);
            file.write_all(HEADER)?;
            self.file = Some(file);
        }
        self.file
            .as_mut()
            .ok_or_else(|| io::Error::other("no pack is open"))
    }

    /// The path of the new index; `None` if no object was written.
    pub fn finish(mut self) -> Result<Option<PathBuf>> {
        let Some(file) = self.file.take() else {
            return Ok(None);
        };
        let temp = file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .context("writing a pack")?;
        self.publish(temp).context("finishing a pack").map(Some)
    }

    fn publish(self, mut temp: NamedTempFile) -> io::Result<PathBuf> {
        let count = u32::try_from(self.written.len()).map_err(io::Error::other)?;
        let checksum = complete(temp.as_file_mut(), count)?;
        temp.as_file().sync_all()?;
        let index = self.index(checksum)?;
        let mut index_temp = lathe_files::temporary_file(&self.dir)?;
        index_temp.write_all(&index)?;
        index_temp.as_file().sync_all()?;
        let index_path = self.dir.join(format!("pack-{checksum}.idx"));
        // Readers look for the index, so it is renamed last.
        temp.persist(index_path.with_extension("pack"))?;
        index_temp.persist(&index_path)?;
        Ok(index_path)
    }

    fn index(&self, pack_checksum: Oid) -> io::Result<Vec<u8>> {
        let mut rows: Vec<(&Oid, &WrittenEntry)> = self.written.iter().collect();
        rows.sort_by_key(|(id, _)| **id);
        let mut out = Vec::with_capacity(1100 + rows.len() * 28);
        out.extend_from_slice(b"\xfftOc\0\0\0\x02");
        let mut upto = 0;
        for first in 0..=255u8 {
            upto += rows[upto..].partition_point(|(id, _)| id.first_byte() <= first);
            out.extend_from_slice(&u32::try_from(upto).map_err(io::Error::other)?.to_be_bytes());
        }
        for (id, _) in &rows {
            out.extend_from_slice(id.as_slice());
        }
        for (_, written) in &rows {
            out.extend_from_slice(&written.crc.to_be_bytes());
        }
        let mut far = Vec::new();
        for (_, written) in &rows {
            let near = u32::try_from(written.offset)
                .ok()
                .filter(|at| at >> 31 == 0);
            let word = near.unwrap_or_else(|| {
                far.extend_from_slice(&written.offset.to_be_bytes());
                (1 << 31) | (far.len() / 8 - 1) as u32
            });
            out.extend_from_slice(&word.to_be_bytes());
        }
        out.extend_from_slice(&far);
        out.extend_from_slice(pack_checksum.as_slice());
        let mut hasher = gix_hash::hasher(HASH);
        hasher.update(&out);
        let own = hasher.try_finalize().map_err(io::Error::other)?;
        out.extend_from_slice(own.as_slice());
        Ok(out)
    }
}

/// Fills in the count and appends the checksum. The checksum covers the count, which is known
/// only now, so the file is read once more.
fn complete(file: &mut File, count: u32) -> io::Result<Oid> {
    file.seek(SeekFrom::Start(8))?;
    file.write_all(&count.to_be_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = gix_hash::hasher(HASH);
    let mut reader = BufReader::with_capacity(1 << 18, &mut *file);
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            n => hasher.update(&buffer[..n]),
        }
    }
    let checksum = hasher.try_finalize().map_err(io::Error::other)?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(checksum.as_slice())?;
    Ok(checksum)
}
