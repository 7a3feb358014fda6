//! The sample project that a first start opens.

use std::path::{Path, PathBuf};
use std::{fs, io};

use lathe_session::{Failed, Result, SAMPLE_PROJECT};

use crate::texts;

/// Writes it once; later changes of the person are kept.
pub fn write(data_dir: &Path) -> Result<PathBuf> {
    let folder = data_dir.join("sample").join("tea-timer");
    if !folder.exists() {
        write_files(&folder).map_err(|error| Failed::Refused(texts::sample_not_written(error)))?;
    }
    Ok(folder)
}

fn write_files(folder: &Path) -> io::Result<()> {
    for (name, content) in SAMPLE_PROJECT {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content)?;
        make_runnable(&path)?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if path.extension().is_some_and(|ending| ending == "sh") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_runnable(_path: &Path) -> io::Result<()> {
    Ok(())
}
