//! Reads the paths that a call of another process names.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

const LONGEST: usize = 4096;
const PAGE: u64 = 4096;

/// The path at an address of a process, absolute. `folder` is the descriptor it is relative to;
/// `None` for the working directory.
pub fn read(process: u32, folder: Option<i32>, address: u64) -> Option<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(read_text(process, address)?));
    if path.is_absolute() {
        return Some(own_files(process, &path).unwrap_or(path));
    }
    let folder = match folder {
        None | Some(libc::AT_FDCWD) => fs::read_link(format!("/proc/{process}/cwd")).ok()?,
        Some(folder) => open_file(process, folder)?,
    };
    match path.as_os_str().is_empty() {
        true => Some(folder),
        false => Some(folder.join(path)),
    }
}

/// The path of an open file of a process.
pub fn open_file(process: u32, descriptor: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok()
}

/// `/dev/stdout` and the like lead to the open files of the process that names them, not to ours.
fn own_files(process: u32, path: &Path) -> Option<PathBuf> {
    let descriptor = match path.to_str()? {
        "/dev/stdin" => 0,
        "/dev/stdout" => 1,
        "/dev/stderr" => 2,
        text => {
            let below = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];
            let number = below.iter().find_map(|start| text.strip_prefix(start))?;
            number.parse().ok()?
        }
    };
    open_file(process, descriptor)
}

fn read_text(process: u32, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < LONGEST {
        // The next page may not be mapped.
        let room = (PAGE - at % PAGE) as usize;
        let chunk = read_memory(process, at, room)?;
        match chunk.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&chunk[..end]);
                return Some(text);
            }
            None => text.extend_from_slice(&chunk),
        }
        at += room as u64;
    }
    None
}

pub fn read_number(process: u32, address: u64) -> Option<u64> {
    let bytes = read_memory(process, address, 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[allow(unsafe_code)]
fn read_memory(process: u32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; length];
    let ours = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: length,
    };
    let theirs = libc::iovec {
        iov_base: address as *mut _,
        iov_len: length,
    };
    // SAFETY: `ours` describes our own buffer; the kernel checks the other process's address.
    let got = unsafe {
        libc::process_vm_readv(process as i32, &raw const ours, 1, &raw const theirs, 1, 0)
    };
    (got == length as isize).then_some(bytes)
}

/// The name without symbolic links above it.
pub fn real_name(path: &Path) -> Option<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return fs::canonicalize(path).ok();
    };
    match fs::canonicalize(parent) {
        Ok(parent) => Some(parent.join(name)),
        // A missing folder: the call will fail.
        Err(_) => Some(path.to_owned()),
    }
}

/// The same, and every name that it leads to if it is a link. The last one may not exist: a call
/// that writes through the link then makes it.
pub fn real_names(path: &Path) -> Vec<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut names: Vec<PathBuf> = real_name(path).into_iter().collect();
    while let Some(last) = names.last()
        && let Ok(target) = fs::read_link(last)
        && names.len() <= MOST_LINKS
    {
        let target = match last.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
        match real_name(&target) {
            Some(target) => names.push(target),
            None => break,
        }
    }
    names
}
