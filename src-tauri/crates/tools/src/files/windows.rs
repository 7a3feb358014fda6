//! Windows opens by path and follows links on the way, so the final path of each handle is checked
//! before it is used.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_NAME_NORMALIZED, GetFinalPathNameByHandleW,
};

use super::{Expected, FileError, check, temporary_name};
use crate::context::ContentHash;

pub fn open(path: &Path) -> Result<File, FileError> {
    // Directories can only be opened with this flag; the caller checks the type.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
        .map_err(refused)?;
    verified(file, path)
}

pub fn is_directory(path: &Path) -> bool {
    open(path)
        .and_then(|file| Ok(file.metadata()?.is_dir()))
        .unwrap_or(false)
}

pub fn replace(path: &Path, content: &[u8], expected: Expected) -> Result<(), FileError> {
    let parent = path.parent().ok_or(FileError::Directory)?;
    std::fs::create_dir_all(parent)?;
    let old = check(open(path), expected)?;
    let temporary = parent.join(temporary_name());
    let written = write(&temporary, content, old.as_ref())
        .and_then(|()| check(open(path), expected).map(|_| ()))
        .and_then(|()| std::fs::rename(&temporary, path).map_err(refused));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

pub fn remove(path: &Path, expected: ContentHash) -> Result<(), FileError> {
    check(open(path), Expected::Content(expected))?;
    std::fs::remove_file(path).map_err(refused)
}

fn write(path: &Path, content: &[u8], old: Option<&File>) -> Result<(), FileError> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(refused)?;
    let mut file = verified(file, path)?;
    file.write_all(content)?;
    if let Some(old) = old {
        file.set_permissions(old.metadata()?.permissions())?;
    }
    Ok(file.sync_all()?)
}

pub fn rename_in_folder(path: &Path, to: &std::ffi::OsStr) -> Result<(), FileError> {
    let target = path.with_file_name(to);
    if target.symlink_metadata().is_ok() {
        return Err(FileError::Changed);
    }
    std::fs::rename(path, target).map_err(refused)
}

fn verified(file: File, path: &Path) -> Result<File, FileError> {
    let real = final_path(&file)?;
    let folded = |path: &Path| {
        path.to_string_lossy()
            .trim_start_matches(r"\\?\")
            .trim_end_matches('\\')
            .to_lowercase()
    };
    if folded(&real) == folded(path) {
        Ok(file)
    } else {
        Err(FileError::Swapped)
    }
}

#[allow(unsafe_code)] // std has no call for the path of an open handle.
fn final_path(file: &File) -> std::io::Result<PathBuf> {
    let mut buffer = vec![0u16; 512];
    loop {
        let room = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        // SAFETY: the handle is open for as long as `file` is borrowed, and the buffer has
        // `room` elements.
        let length = unsafe {
            GetFinalPathNameByHandleW(
                file.as_raw_handle(),
                buffer.as_mut_ptr(),
                room,
                FILE_NAME_NORMALIZED,
            )
        } as usize;
        match length {
            0 => return Err(std::io::Error::last_os_error()),
            length if length < buffer.len() => {
                return Ok(PathBuf::from(std::ffi::OsString::from_wide(
                    &buffer[..length],
                )));
            }
            length => buffer.resize(length + 1, 0),
        }
    }
}

fn refused(error: std::io::Error) -> FileError {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Io(error),
    }
}
