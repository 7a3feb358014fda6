//! The space on the disk that tests of snapshots need.

use std::path::Path;

/// Names how many megabytes must stay free on the disk for the app to take snapshots.
const SETTING: &str = "LATHE_KEEP_FREE_MB";

/// The setting of the test run, for a program that starts without its environment.
pub fn keep_free() -> Option<(&'static str, String)> {
    Some((SETTING, std::env::var(SETTING).ok()?))
}

/// The app takes no snapshots when less is free.
fn needed() -> u64 {
    let set = keep_free().and_then(|(_, megabytes)| megabytes.parse::<u64>().ok());
    set.unwrap_or(5 << 10) << 20
}

/// Why tests of snapshots would fail in this folder, if they would.
pub fn shortage(folder: &Path) -> Option<String> {
    let free = free_bytes(folder)?;
    let needed = needed();
    (free < needed).then(|| {
        format!(
            "only {} MB are free in {}: with less than {} MB the app takes no snapshots, \
             and this test would fail",
            free >> 20,
            folder.display(),
            needed >> 20
        )
    })
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}

/// Not known here: the test runs and may fail.
#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_does_not_exist_is_no_shortage() {
        assert_eq!(shortage(Path::new("/does/not/exist")), None);
    }
}
