//! Git's index: which files it has a record of, and which folders are repositories of their own.

/// Of an entry for such a folder.
const REPOSITORY: u32 = 0o160_000;
/// Before the object's name: times, device, inode, mode, owner, size.
const STAT: usize = 40;
const MODE: usize = 24;
const EXTENDED: u16 = 0x4000;
const END: usize = 4;

/// A path in the index.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    /// It is a repository of its own.
    pub repository: bool,
}

/// The paths in the index, whose object names have `hash` bytes. None where not everything in it is
/// understood.
pub fn entries(index: &[u8], hash: usize) -> Option<Vec<Entry>> {
    let mut bytes = Bytes { bytes: index };
    if bytes.take(4)? != b"DIRC" {
        return None;
    }
    let version = bytes.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut entries = Vec::new();
    let mut path = Vec::new();
    for _ in 0..bytes.number()? {
        let before = bytes.bytes.len();
        let stat = bytes.take(STAT)?;
        let mode = u32::from_be_bytes(stat.get(MODE..MODE + 4)?.try_into().ok()?);
        bytes.take(hash)?;
        let flags = u16::from_be_bytes(bytes.take(2)?.try_into().ok()?);
        if flags & EXTENDED != 0 {
            bytes.take(2)?;
        }
        if version == 4 {
            // How many bytes of the path before it are not the same.
            let removed = bytes.varint()?;
            path.truncate(path.len().checked_sub(removed)?);
            path.extend_from_slice(bytes.text()?);
        } else {
            path = bytes.text()?.to_vec();
            // Filled up to a multiple of eight; one zero is read already.
            let used = before - bytes.bytes.len();
            bytes.take((8 - used % 8) % 8)?;
        }
        entries.push(Entry {
            path: String::from_utf8_lossy(&path).into_owned(),
            repository: mode == REPOSITORY,
        });
    }
    // Behind the entries: extensions, then the checksum. One whose name begins with a small
    // letter changes what the entries mean, for example where they are in another file.
    while bytes.bytes.len() > hash {
        let name = bytes.take(END)?;
        let length = usize::try_from(bytes.number()?).ok()?;
        bytes.take(length)?;
        if !name.first()?.is_ascii_uppercase() {
            return None;
        }
    }
    Some(entries)
}

struct Bytes<'a> {
    bytes: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Up to a zero, which is read as well.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.bytes.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// As git writes offsets: seven bits a byte, each further byte adds one.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
        }
        Some(value)
    }
}
