//! Whether a process has a file open for writing.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `F_SETSIG`, which not every build of `libc` knows.
const SET_SIGNAL: libc::c_int = 10;

/// The kernel grants a read lease only on a file that is open for writing nowhere. `false` where
/// it grants no leases.
#[allow(unsafe_code)]
pub fn is_open_for_writing(path: &Path) -> bool {
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path);
    let Ok(file) = opened else {
        return false;
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    // Whoever opens the file for writing while we have the lease makes the kernel signal us. The
    // usual signal would end the program; this one is ignored.
    // SAFETY: a descriptor of ours and plain numbers.
    let granted = unsafe {
        libc::fcntl(file.as_raw_fd(), SET_SIGNAL, libc::SIGURG);
        libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK)
    };
    if granted == 0 {
        // SAFETY: as above. Closing the file would release the lease, too.
        unsafe {
            libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
        }
        return false;
    }
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}
