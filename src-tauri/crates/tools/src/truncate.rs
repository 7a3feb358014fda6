//! Truncates a tool's result to what a model can use; the full result is saved for some days.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::context::ToolContext;
use crate::tool::ToolOutput;

pub const MAX_LINES: usize = 2_000;
pub const MAX_BYTES: usize = 50 * 1024;
const RETENTION_DAYS: u64 = 7;

/// Truncates output over the limits, saves the full text and adds its path for the model.
pub fn bound(mut result: ToolOutput, cx: &ToolContext) -> ToolOutput {
    let end = head_end(&result.output, MAX_LINES, MAX_BYTES);
    if end == result.output.len() {
        return result;
    }
    let saved = save(cx, result.output.as_bytes());
    let left_out = result.output.len() - end;
    let note = note(left_out as u64, saved.as_deref());
    result.output.truncate(end);
    result.output.push_str(&note);
    result = result.with("truncated", true);
    if let Some(path) = saved {
        result = result.with("outputPath", path.to_string_lossy().into_owned());
    }
    result
}

pub(crate) fn note(left_out: u64, saved: Option<&Path>) -> String {
    match saved {
        Some(path) => format!(
            "\n\n({left_out} bytes left out here. The whole result is in {}: search it with grep, \
             or read parts of it with offset and limit.)",
            path.display()
        ),
        None => format!("\n\n({left_out} bytes left out here; the whole couldn’t be saved.)"),
    }
}

/// The end of the first `lines` lines or `bytes` bytes, on a character boundary.
pub(crate) fn head_end(text: &str, lines: usize, bytes: usize) -> usize {
    let by_lines = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .nth(lines.saturating_sub(1))
        .map_or(text.len(), |(at, _)| at + 1);
    let mut end = by_lines.min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// The start of the last `lines` lines or `bytes` bytes.
pub(crate) fn tail_start(text: &str, lines: usize, bytes: usize) -> usize {
    let by_lines = text
        .trim_end_matches('\n')
        .bytes()
        .enumerate()
        .rev()
        .filter(|(_, byte)| *byte == b'\n')
        .nth(lines.saturating_sub(1))
        .map_or(0, |(at, _)| at + 1);
    let by_bytes = text.len().saturating_sub(bytes);
    let mut start = by_lines.max(by_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    start
}

impl ToolContext {
    /// This session's own part of the output directory.
    pub fn own_output_dir(&self) -> PathBuf {
        self.output_dir.join(self.call.session.as_str())
    }

    /// The file for the full output of this call. Call ids come from providers and are not
    /// trusted as file names.
    pub(crate) fn output_file(&self) -> PathBuf {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let name: String = self.call.call.chars().take(80).map(safe).collect();
        self.own_output_dir().join(format!("{name}.txt"))
    }
}

pub(crate) fn save(cx: &ToolContext, bytes: &[u8]) -> Option<PathBuf> {
    let path = cx.output_file();
    let written = create(&path).and_then(|mut file| io::Write::write_all(&mut file, bytes));
    match written {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!(%error, "a tool's whole output could not be saved");
            None
        }
    }
}

/// A new file that only the user can read, in directories of the same kind.
pub(crate) fn create(path: &Path) -> io::Result<fs::File> {
    let mut directories = fs::DirBuilder::new();
    directories.recursive(true);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directories.mode(0o700);
        options.mode(0o600);
    }
    if let Some(parent) = path.parent() {
        directories.create(parent)?;
    }
    options.open(path)
}

/// Removes outputs older than seven days, and empty directories. Returns the number of removed
/// files. Files whose metadata cannot be read stay.
pub fn sweep(dir: &Path, now_ms: i64) -> usize {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now_ms).unwrap_or(0));
    let Some(oldest) = now.checked_sub(Duration::from_secs(RETENTION_DAYS * 24 * 60 * 60)) else {
        return 0;
    };
    let mut removed = 0;
    for session in entries(dir) {
        for file in entries(&session) {
            let old = fs::symlink_metadata(&file)
                .and_then(|meta| meta.modified())
                .is_ok_and(|modified| modified < oldest);
            if old && fs::remove_file(&file).is_ok() {
                removed += 1;
            }
        }
        // Fails if the directory is not empty, as intended.
        let _ = fs::remove_dir(&session);
    }
    removed
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let is_real = fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    if !is_real {
        return Vec::new();
    }
    fs::read_dir(dir)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}
