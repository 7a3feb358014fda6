//! Long results of calls, which are in files beside the records.

use std::path::Path;

/// Longer ones stay in their file.
const LONGEST: u64 = 8 * 1024 * 1024;
/// How a result begins whose text is in a file.
const START: &str = "<persisted-output>";

/// The name of the file that has the text of a result, if it is in one.
pub fn file_of(output: &str) -> Option<&str> {
    let rest = output.trim_start().strip_prefix(START)?;
    let (_, rest) = rest.split_once("saved to:")?;
    let path = rest.lines().next()?.trim();
    let name = path.rsplit(['/', '\\']).next()?;
    (!name.is_empty() && name != "..").then_some(name)
}

/// Only a file of the session's own folder is read, whatever path the record names.
pub fn read(folder: &Path, name: &str) -> Option<String> {
    let bytes = lathe_files::read_real(&folder.join(name), LONGEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
