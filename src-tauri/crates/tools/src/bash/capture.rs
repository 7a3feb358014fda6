//! Captures a command's output of any size with bounded memory.
//!
//! The start and the end stay in memory; everything up to a limit goes to a file, and the rest is
//! only counted.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::truncate;

const HEAD_BYTES: usize = 64 * 1024;
const TAIL_BYTES: usize = 128 * 1024;
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Default)]
struct State {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    file: Option<File>,
    /// The file with all output so far, or its first part up to the limit.
    saved: bool,
    closed: bool,
}

#[derive(Clone)]
pub(super) struct Capture {
    state: Arc<Mutex<State>>,
    path: PathBuf,
}

/// The captured output.
pub(super) struct Captured {
    pub head: String,
    /// Empty if the head holds everything.
    pub tail: String,
    pub total: u64,
    pub saved: Option<PathBuf>,
}

impl Capture {
    /// Reads in its own thread until the last writer has closed the pipe; the receiver is
    /// notified then.
    pub fn start(pipe: PipeReader, path: PathBuf) -> (Self, oneshot::Receiver<()>) {
        let capture = Self {
            state: Arc::default(),
            path,
        };
        let (done, ended) = oneshot::channel();
        let reader = capture.clone();
        std::thread::spawn(move || {
            reader.read(pipe);
            let _ = done.send(());
        });
        (capture, ended)
    }

    fn read(&self, mut pipe: PipeReader) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => {
                    if !self.take(&buffer[..read]) {
                        return;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// False when reading should stop.
    fn take(&self, bytes: &[u8]) -> bool {
        let mut state = self.state.lock();
        if state.closed {
            return false;
        }
        let before = state.total;
        state.total += bytes.len() as u64;
        let to_head = bytes.len().min(HEAD_BYTES - state.head.len());
        state.head.extend_from_slice(&bytes[..to_head]);
        if state.total > HEAD_BYTES as u64 {
            state.spill(bytes, before, to_head, &self.path);
            state.keep_tail(&bytes[to_head..]);
        }
        true
    }

    pub fn total(&self) -> u64 {
        self.state.lock().total
    }

    /// The last part, for the card while the command runs.
    pub fn latest(&self, bytes: usize) -> String {
        let state = self.state.lock();
        let tail = &state.tail[state.tail.len().saturating_sub(bytes)..];
        // A tail below its maximum size directly follows the head.
        let missing = bytes - tail.len();
        let head = &state.head[state.head.len().saturating_sub(missing)..];
        String::from_utf8_lossy(&[head, tail].concat()).into_owned()
    }

    pub fn finish(&self) -> Captured {
        let mut state = self.state.lock();
        state.closed = true;
        state.file = None;
        Captured {
            head: String::from_utf8_lossy(&state.head).into_owned(),
            tail: String::from_utf8_lossy(
                &state.tail[state.tail.len().saturating_sub(TAIL_BYTES)..],
            )
            .into_owned(),
            total: state.total,
            saved: state.saved.then(|| self.path.clone()),
        }
    }
}

impl State {
    fn spill(&mut self, bytes: &[u8], before: u64, to_head: usize, path: &Path) {
        if before <= HEAD_BYTES as u64 && self.file.is_none() {
            self.file = truncate::create(path).ok();
            let head = std::mem::take(&mut self.head);
            self.saved = self.write(&head);
            self.head = head;
            self.write(&bytes[to_head..]);
        } else if before < MAX_FILE_BYTES {
            let room = usize::try_from(MAX_FILE_BYTES - before).unwrap_or(usize::MAX);
            self.write(&bytes[..bytes.len().min(room)]);
        } else {
            self.file = None;
        }
    }

    /// If the disk is full, the rest of the file is lost, but the command continues.
    fn write(&mut self, bytes: &[u8]) -> bool {
        let written = self
            .file
            .as_mut()
            .is_some_and(|file| file.write_all(bytes).is_ok());
        if !written {
            self.file = None;
        }
        written
    }

    fn keep_tail(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            let cut = self.tail.len() - TAIL_BYTES;
            self.tail.drain(..cut);
        }
    }
}
