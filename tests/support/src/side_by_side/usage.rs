//! Time and memory of a command, as the system measured them.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Seconds.
    pub wall: f64,
    /// Seconds, user and system, of the process and of all it waited for.
    pub cpu: f64,
    /// Megabytes, the peak of the largest process.
    pub memory: f64,
}

/// Runs to the end; its output goes to the files given.
pub fn measure(command: &mut Command) -> io::Result<(Usage, ExitStatus)> {
    command.stdin(Stdio::null());
    let began = Instant::now();
    let child = command.spawn()?;
    let (status, used) = wait(child.id())?;
    let wall = began.elapsed().as_secs_f64();
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let per_megabyte = if cfg!(target_os = "macos") {
        1_048_576.0
    } else {
        1024.0
    };
    let usage = Usage {
        wall,
        cpu: seconds(used.ru_utime) + seconds(used.ru_stime),
        memory: used.ru_maxrss as f64 / per_megabyte,
    };
    Ok((usage, status))
}

#[allow(unsafe_code, reason = "std waits without telling what was used")]
fn wait(process: u32) -> io::Result<(ExitStatus, libc::rusage)> {
    use std::os::unix::process::ExitStatusExt;
    let mut status = 0;
    // SAFETY: all zeroes is a valid rusage, and both pointers are to values that outlive the
    // call. The process is our child and no other code waits for it.
    let (ended, used) = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        let ended = libc::wait4(process as libc::pid_t, &mut status, 0, &mut used);
        (ended, used)
    };
    if ended < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((ExitStatus::from_raw(status), used))
}
