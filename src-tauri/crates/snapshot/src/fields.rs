//! How our own files beside the repository are written: fields in order, without names, and a
//! checksum at the end. A file that was cut or changed cannot be read at all.

use sha2::{Digest, Sha256};

use crate::tree::{HASH, Oid};

pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub fn new(magic: &[u8]) -> Self {
        Self(magic.to_vec())
    }

    pub fn finish(mut self) -> Vec<u8> {
        let sum = Sha256::digest(&self.0);
        self.0.extend_from_slice(&sum);
        self.0
    }

    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub fn bytes(&mut self, value: &[u8]) {
        self.0.extend_from_slice(value);
    }

    pub fn number(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    pub fn text(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.bytes(value);
    }
}

pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], magic: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        if Sha256::digest(body)[..] != *sum {
            return None;
        }
        body.strip_prefix(magic).map(Self)
    }

    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn text(&mut self) -> Option<Box<[u8]>> {
        let len = usize::try_from(self.number()?).ok()?;
        self.take(len).map(Into::into)
    }

    pub fn id(&mut self) -> Option<Oid> {
        Oid::try_from(self.take(HASH.len_in_bytes())?).ok()
    }
}
