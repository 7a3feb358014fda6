//! Contents of files as git names and packs them, for patches.

use std::io;

use gix_object::Kind;

use crate::error::Result;
use crate::objects;

/// The name of a content in a repository with SHA-1.
pub fn blob_id(bytes: &[u8]) -> Result<String> {
    Ok(objects::hash(Kind::Blob, bytes)?.to_string())
}

/// The bytes as a zlib stream.
pub fn deflate(bytes: &[u8]) -> io::Result<Vec<u8>> {
    objects::deflate(bytes)
}
