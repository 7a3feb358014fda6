//! The UI's own tools: installing its packages and building it.

use std::path::Path;
use std::time::SystemTime;

use crate::{Outcome, tool};

/// Everything under `ui/` that the built page comes from.
const SOURCES: [&str; 5] = [
    "src",
    "index.html",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
];

/// Installs the packages that the lock file names, when they are missing or older than it.
pub fn install() -> Outcome {
    let ui = tool::root().join("ui");
    // npm writes this file last: an interrupted installation does not have it.
    let installed = modified(&ui.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&ui.join("package-lock.json")) {
        return Ok(());
    }
    println!("Installing the UI's packages…");
    tool::expect_success(tool::npm().args(["ci", "--no-audit", "--no-fund"]))
}

/// Builds the page, unless the one that is there is newer than its sources.
pub fn build_if_stale() -> Outcome {
    let ui = tool::root().join("ui");
    let built = modified(&ui.join("dist/index.html"));
    let changed = SOURCES
        .iter()
        .filter_map(|source| newest(&ui.join(source)))
        .max();
    if built.is_some() && built >= changed {
        return Ok(());
    }
    println!("Building the UI…");
    tool::expect_success(tool::npm().args(["run", "--silent", "build"]))
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// The newest change below a path; a folder's own time tells of files that went away.
fn newest(path: &Path) -> Option<SystemTime> {
    let own = modified(path);
    let Ok(entries) = path.read_dir() else {
        return own;
    };
    entries
        .flatten()
        .filter_map(|entry| newest(&entry.path()))
        .chain(own)
        .max()
}
