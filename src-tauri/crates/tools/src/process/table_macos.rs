//! The process table, from libproc and sysctl.
#![allow(unsafe_code)] // The table is only to be had from C.

pub struct Entry {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    /// Ended, but not yet waited for by its parent.
    pub dead: bool,
}

/// `SZOMB` of sys/proc.h.
const ZOMBIE: u32 = 5;

pub fn entries() -> Vec<Entry> {
    pids().into_iter().filter_map(entry).collect()
}

fn pids() -> Vec<i32> {
    // SAFETY: without a buffer the call only counts.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Room for processes that start between the two calls.
    let mut pids = vec![0i32; usize::try_from(count).unwrap_or(0) + 64];
    let bytes = i32::try_from(size_of_val(pids.as_slice())).unwrap_or(0);
    // SAFETY: the buffer is as long as we say.
    let listed = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), bytes) };
    pids.truncate(usize::try_from(listed).unwrap_or(0));
    pids
}

fn entry(pid: i32) -> Option<Entry> {
    // SAFETY: plain numbers and arrays of them; all zero is a value.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let into = (&raw mut info).cast();
    // SAFETY: the buffer is of the size that this flavour fills.
    let filled = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, into, size) };
    (filled == size).then(|| Entry {
        pid,
        parent: i32::try_from(info.pbi_ppid).unwrap_or(0),
        group: i32::try_from(info.pbi_pgid).unwrap_or(0),
        dead: info.pbi_status == ZOMBIE,
    })
}

/// The arguments and the environment of one of our own processes are one block of text.
pub fn has_mark(pid: i32, mark: &str) -> bool {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut block = vec![0u8; 1024 * 1024];
    let mut length = block.len();
    // SAFETY: name and block are as long as we say; nothing is set.
    let result = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            block.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    result == 0
        && block[..length]
            .split(|byte| *byte == 0)
            .any(|v| v == mark.as_bytes())
}
