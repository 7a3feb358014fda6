//! Reads some lines of a file of any size and hashes the whole file, in one pass with little
//! memory.

use std::fs::File;
use std::io::Read;

use tokio_util::sync::CancellationToken;

use super::ReadError;
use crate::context::{ContentHash, Hasher};
use crate::files::FileError;
use crate::text;
use crate::truncate::MAX_BYTES;

pub(super) const CHUNK: usize = 64 * 1024;
const MAX_LINE: usize = 2_000;
/// The maximum size of a line of that many characters; the rest is dropped while reading.
const MAX_LINE_BYTES: usize = MAX_LINE * 4 + 4;

#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub first: usize,
    pub count: usize,
}

pub(super) struct WindowText {
    pub lines: Vec<String>,
    /// Lines in the whole file.
    pub total: usize,
    pub hash: ContentHash,
}

impl WindowText {
    pub fn is_cut(&self, first: usize) -> bool {
        first - 1 + self.lines.len() < self.total
    }

    pub fn numbered(&self, first: usize) -> String {
        let mut out = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            out.push_str(&format!("{:>6}\t{line}\n", first + index));
        }
        let last = first - 1 + self.lines.len();
        match self.total {
            0 => out.push_str("(The file is empty.)"),
            total if last < total => out.push_str(&format!(
                "\n(Lines {first} to {last} of {total}. Continue with offset {}.)",
                last + 1
            )),
            total => out.push_str(&format!("\n(End of the file: {total} lines.)")),
        }
        out
    }
}

pub(super) fn read(
    mut chunk: Vec<u8>,
    mut file: File,
    window: Window,
    cancel: &CancellationToken,
) -> Result<WindowText, ReadError> {
    let mut lines = Lines::new(window);
    let mut hasher = Hasher::default();
    loop {
        hasher.update(&chunk);
        lines.take(&chunk);
        if cancel.is_cancelled() {
            return Err(ReadError::Aborted);
        }
        chunk.resize(CHUNK, 0);
        let read = file.read(&mut chunk).map_err(FileError::from)?;
        chunk.truncate(read);
        if read == 0 {
            break;
        }
    }
    let (lines, total) = lines.finish();
    Ok(WindowText {
        lines,
        total,
        hash: hasher.finish(),
    })
}

struct Lines {
    window: Window,
    lines: Vec<String>,
    bytes: usize,
    full: bool,
    /// Complete lines so far.
    ended: usize,
    open: Vec<u8>,
    open_is_empty: bool,
}

impl Lines {
    fn new(window: Window) -> Self {
        Self {
            window,
            lines: Vec::new(),
            bytes: 0,
            full: false,
            ended: 0,
            open: Vec::new(),
            open_is_empty: true,
        }
    }

    fn take(&mut self, mut chunk: &[u8]) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.extend(&chunk[..end]);
            self.end_line();
            chunk = &chunk[end + 1..];
        }
        self.extend(chunk);
    }

    fn wants_line(&self) -> bool {
        let number = self.ended + 1;
        !self.full && number >= self.window.first && self.lines.len() < self.window.count
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.open_is_empty &= bytes.is_empty();
        if self.wants_line() {
            let room = MAX_LINE_BYTES.saturating_sub(self.open.len());
            self.open.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn end_line(&mut self) {
        if self.wants_line() {
            let bytes = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
            let line = String::from_utf8_lossy(bytes);
            let line = if self.ended == 0 {
                line.trim_start_matches('\u{feff}')
            } else {
                &line
            };
            let line = text::shortened(line, MAX_LINE);
            self.bytes += line.len() + 8;
            // The model can read the rest with an offset, so the full text need not be saved.
            if self.bytes > MAX_BYTES - 200 && !self.lines.is_empty() {
                self.full = true;
            } else {
                self.lines.push(line);
            }
        }
        self.ended += 1;
        self.open.clear();
        self.open_is_empty = true;
    }

    fn finish(mut self) -> (Vec<String>, usize) {
        if !self.open_is_empty {
            self.end_line();
        }
        (self.lines, self.ended)
    }
}
