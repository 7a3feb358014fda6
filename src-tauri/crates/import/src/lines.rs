//! Files with one JSON record per line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

/// A longer line is left out. Pictures and outputs of commands are far shorter.
pub const MAX_LINE: usize = 64 * 1024 * 1024;
/// A compressed file may claim to be of any size.
const MAX_UNPACKED: u64 = 8 * 1024 * 1024 * 1024;
/// How much of a file's end is read for its newest record; the second after a very long line.
const TAILS: [u64; 2] = [64 * 1024, MAX_LINE as u64];

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

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

fn unpack(file: File) -> io::Result<impl Read> {
    ruzstd::decoding::StreamingDecoder::new(BufReader::new(file))
        .map_err(|error| io::Error::other(format!("it can’t be unpacked: {error}")))
}

/// Reads the first lines of a file, until `each` returns false. No more than these is unpacked.
pub fn read_start(path: &Path, each: impl FnMut(Line) -> bool) -> io::Result<()> {
    let (file, _) = lathe_files::open(path).map_err(io::Error::from)?;
    match is_packed(path) {
        true => read_lines(unpack(file)?.take(MAX_UNPACKED), each),
        false => read_lines(file, each),
    }
}

impl Jsonl {
    /// A compressed file is unpacked to a file without a name first.
    pub fn open(path: &Path) -> io::Result<Jsonl> {
        let (file, metadata) = lathe_files::open(path).map_err(io::Error::from)?;
        if !is_packed(path) {
            let len = metadata.len();
            return Ok(Jsonl { file, len });
        }
        let mut unpacked = tempfile::tempfile()?;
        let len = io::copy(&mut unpack(file)?.take(MAX_UNPACKED + 1), &mut unpacked)?;
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
    pub fn each(&mut self, end: u64, each: impl FnMut(Line) -> bool) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        read_lines((&self.file).take(end), each)
    }

    /// The newest of the wanted records, looked for from the end of the file.
    pub fn last(&mut self, is_wanted: impl Fn(&Value) -> bool) -> io::Result<Option<Value>> {
        for most in TAILS {
            let mut found = None;
            self.file
                .seek(SeekFrom::Start(self.len.saturating_sub(most)))?;
            read_lines((&self.file).take(most), |line| {
                if let Line::Record(_, record) = line
                    && is_wanted(&record)
                {
                    found = Some(record);
                }
                true
            })?;
            if found.is_some() || most >= self.len {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Reads one record again. It was valid before, but the file may have changed.
    pub fn read(&mut self, at: At) -> io::Result<Value> {
        self.file.seek(SeekFrom::Start(at.offset))?;
        let mut bytes = vec![0; at.len];
        self.file.read_exact(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

fn read_lines(source: impl Read, mut each: impl FnMut(Line) -> bool) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, source);
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
