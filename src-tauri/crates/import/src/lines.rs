//! Files with one JSON record per line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

/// A longer line is left out. Pictures and outputs of commands are far shorter.
pub const MAX_LINE: usize = 64 * 1024 * 1024;
/// A compressed file may claim to be of any size.
const MAX_UNPACKED: u64 = 8 * 1024 * 1024 * 1024;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub offset: u64,
    pub len: usize,
}

/// What a line turned out to be.
pub enum Line {
    Record(At, Value),
    Damaged,
    TooLong,
}

pub struct Jsonl {
    file: File,
    pub len: u64,
}

impl Jsonl {
    /// A compressed file is unpacked to a file without a name first.
    pub fn open(path: &Path) -> io::Result<Jsonl> {
        let (file, metadata) = lathe_files::open(path).map_err(io::Error::from)?;
        if path.extension().is_none_or(|extension| extension != "zst") {
            let len = metadata.len();
            return Ok(Jsonl { file, len });
        }
        let decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file))
            .map_err(|error| io::Error::other(format!("it can’t be unpacked: {error}")))?;
        let mut unpacked = tempfile::tempfile()?;
        let len = io::copy(&mut decoder.take(MAX_UNPACKED + 1), &mut unpacked)?;
        if len > MAX_UNPACKED {
            return Err(io::Error::other("it is too large when it is unpacked"));
        }
        unpacked.flush()?;
        Ok(Jsonl {
            file: unpacked,
            len,
        })
    }

    /// Reads line by line from the start up to `end`, until `each` returns false.
    pub fn each(&mut self, end: u64, mut each: impl FnMut(Line) -> bool) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(64 * 1024, &self.file).take(end);
        let mut offset = 0;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let read = (&mut reader)
                .take(MAX_LINE as u64 + 1)
                .read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(());
            }
            let at = At { offset, len: read };
            offset += read as u64;
            let line = if read > MAX_LINE && !bytes.ends_with(b"\n") {
                offset += skip_line(&mut reader)?;
                Line::TooLong
            } else if bytes.trim_ascii().is_empty() {
                continue;
            } else {
                match serde_json::from_slice::<Value>(&bytes) {
                    Ok(value) if value.is_object() => Line::Record(at, value),
                    _ => Line::Damaged,
                }
            };
            if !each(line) {
                return Ok(());
            }
            // A single long line must not hold its memory until the end.
            if bytes.capacity() > 1024 * 1024 {
                bytes = Vec::new();
            }
        }
    }

    /// Reads one record again. It was valid before, but the file may have changed.
    pub fn read(&mut self, at: At) -> io::Result<Value> {
        self.file.seek(SeekFrom::Start(at.offset))?;
        let mut bytes = vec![0; at.len];
        self.file.read_exact(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(position) => (position + 1, true),
            None => (buffer.len(), false),
        };
        reader.consume(used);
        skipped += used as u64;
        if ended {
            return Ok(skipped);
        }
    }
}
