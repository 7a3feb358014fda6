//! Reads one pack through its index.

use std::{
    io,
    path::{Path, PathBuf},
};

use gix_object::Kind;
use gix_pack::{cache, data, index};

use crate::{
    error::{Result, damaged},
    tree::{HASH, Oid},
};

pub(crate) struct Pack {
    data: data::File,
    index: index::File,
    data_len: u64,
}

/// A compressed object, as stored in a pack.
pub(crate) struct Raw {
    pub header: data::entry::Header,
    pub offset: u64,
    pub size: u64,
    pub compressed: Vec<u8>,
}

impl Pack {
    pub fn open(index_path: &Path) -> io::Result<Self> {
        let pack_path = index_path.with_extension("pack");
        let index = index::File::at(index_path, HASH).map_err(io::Error::other)?;
        let data = data::File::at(&pack_path, HASH).map_err(io::Error::other)?;
        let data_len = std::fs::metadata(&pack_path)?.len();
        if index.pack_checksum() != data.checksum() {
            return Err(io::Error::other("the index belongs to another pack"));
        }
        Ok(Self {
            data,
            index,
            data_len,
        })
    }

    pub fn index_path(&self) -> &Path {
        self.index.path()
    }

    pub fn data_path(&self) -> PathBuf {
        self.index.path().with_extension("pack")
    }

    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    pub fn find(&self, id: Oid) -> Option<u64> {
        let at = self.index.lookup(id)?;
        Some(self.index.pack_offset_at_index(at))
    }

    pub fn read(&self, offset: u64) -> Result<(Kind, Vec<u8>)> {
        let entry = self.data.entry(offset).map_err(damaged)?;
        let mut out = Vec::new();
        let outcome = self
            .data
            .decode_entry(
                entry,
                &mut out,
                &mut gix_zlib::Inflate::default(),
                // Our deltas refer to their base by offset, so the base is in the same pack.
                &|_, _| Ok(None),
                &mut cache::Never,
            )
            .map_err(damaged)?;
        out.truncate(usize::try_from(outcome.object_size).map_err(damaged)?);
        Ok((outcome.kind, out))
    }

    /// The id, offset and length of every object, in pack order.
    pub fn entries(&self) -> Vec<(Oid, u64, u64)> {
        let mut entries: Vec<_> = self
            .index
            .iter()
            .map(|entry| (entry.oid, entry.pack_offset, 0))
            .collect();
        entries.sort_by_key(|(_, offset, _)| *offset);
        let mut end = self.data_len.saturating_sub(20);
        for (_, offset, len) in entries.iter_mut().rev() {
            *len = end.saturating_sub(*offset);
            end = *offset;
        }
        entries
    }

    pub fn raw(&self, offset: u64, len: u64) -> Result<Raw> {
        let entry = self.data.entry(offset).map_err(damaged)?;
        let bytes = self
            .data
            .entry_slice(offset..offset + len)
            .ok_or_else(|| damaged("an entry outside its pack"))?;
        let header = entry.header_size();
        Ok(Raw {
            header: entry.header,
            offset,
            size: entry.decompressed_size,
            compressed: bytes[header..].to_vec(),
        })
    }
}
