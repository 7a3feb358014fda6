//! The space on the disk that tests of snapshots need.

use std::path::Path;

/// The app takes no snapshots when less is free (`keep_free` of the snapshot crate's options).
const NEEDED: u64 = 5 << 30;

/// Why tests of snapshots would fail in this folder, if they would.
pub fn shortage(folder: &Path) -> Option<String> {
    let free = free_bytes(folder)?;
    (free < NEEDED).then(|| {
        format!(
            "only {} MB are free in {}: with less than {} MB the app takes no snapshots, \
             and this test would fail",
            free >> 20,
            folder.display(),
            NEEDED >> 20
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
