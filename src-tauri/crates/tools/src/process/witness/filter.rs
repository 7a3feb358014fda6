//! The seccomp program that reports calls which change files.

use libc::{c_long, sock_filter, sock_fprog};

/// What a reported call does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A path.
    Path,
    /// A folder and a path below it.
    At,
    /// The same, with a structure that says how.
    Open2,
    /// An open file.
    File,
    /// From a path to a path.
    Rename,
    /// From a folder and a path to a folder and a path.
    RenameAt,
    /// The new name is the second path.
    SecondPath,
    /// The new name is a folder and a path behind another path.
    SymlinkAt,
    /// The new name is the second folder and path.
    LinkAt,
    /// Files can be changed by it in ways that are not seen.
    Unseen,
}

const FCHMODAT2: c_long = 452;

/// What a call does to the file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Opens it, with these flags.
    Opens(u32),
    /// Changes it under all of its names, without opening it.
    Changes,
    /// Adds the name.
    Adds,
    /// Removes the name.
    Removes,
}

impl Effect {
    /// `flags` are those of a call that opens a file.
    pub fn of(number: c_long, flags: u32) -> Effect {
        match number {
            libc::SYS_unlinkat => Effect::Removes,
            libc::SYS_linkat | libc::SYS_symlinkat | libc::SYS_mknodat | libc::SYS_mkdirat => {
                Effect::Adds
            }
            libc::SYS_truncate | libc::SYS_fchmod | libc::SYS_fchmodat | FCHMODAT2 => {
                Effect::Changes
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink | libc::SYS_rmdir => Effect::Removes,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link | libc::SYS_symlink | libc::SYS_mknod | libc::SYS_mkdir => Effect::Adds,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => Effect::Changes,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => Effect::Opens((libc::O_CREAT | libc::O_WRONLY) as u32),
            _ => Effect::Opens(flags),
        }
    }
}

/// Calls that are always reported.
pub const CALLS: &[(c_long, Shape)] = &[
    (libc::SYS_openat2, Shape::Open2),
    (libc::SYS_renameat, Shape::RenameAt),
    (libc::SYS_renameat2, Shape::RenameAt),
    (libc::SYS_unlinkat, Shape::At),
    (libc::SYS_linkat, Shape::LinkAt),
    (libc::SYS_symlinkat, Shape::SymlinkAt),
    (libc::SYS_mknodat, Shape::At),
    (libc::SYS_mkdirat, Shape::At),
    (libc::SYS_truncate, Shape::Path),
    (libc::SYS_fchmod, Shape::File),
    (libc::SYS_fchmodat, Shape::At),
    (FCHMODAT2, Shape::At),
    (libc::SYS_io_uring_setup, Shape::Unseen),
    (libc::SYS_open_by_handle_at, Shape::Unseen),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, Shape::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, Shape::Rename),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, Shape::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_link, Shape::SecondPath),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_symlink, Shape::SecondPath),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, Shape::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, Shape::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, Shape::Path),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, Shape::Path),
];

/// Calls that are reported if their flags, in this argument, say that the file may be written.
pub const OPENS: &[(c_long, Shape, u32)] = &[
    (libc::SYS_openat, Shape::At, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Shape::Path, 1),
];

pub const WRITING: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND) as u32;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xC000_00B7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: u32 = 0;

/// The bit of the x32 interface: other numbers for the same calls.
const X32: u32 = 0x4000_0000;

/// The calls of a 32-bit program that change files or might: `open`, `creat`, `link`, `unlink`,
/// `chmod`, `rename`, `mkdir`, `rmdir`, `symlink`, `truncate`, `truncate64`, `openat`, `mkdirat`,
/// `unlinkat`, `renameat`, `renameat2`, `io_uring_setup`, `openat2`.
const OTHER_CALLS: [u32; 18] = [
    5, 8, 9, 10, 15, 38, 39, 40, 83, 92, 193, 295, 296, 301, 302, 353, 425, 437,
];

const NR: u32 = 0;
const ARCH: u32 = 4;

const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

fn jump(how: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        code: (libc::BPF_JMP | how | libc::BPF_K) as u16,
        jt,
        jf,
        k,
    }
}

fn answer(action: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, action)
}

/// Each test is followed by its own answer, so that no jump is long.
pub fn program() -> Vec<sock_filter> {
    let notify = || answer(libc::SECCOMP_RET_USER_NOTIF);
    let mut program = vec![load(ARCH), jump(libc::BPF_JEQ, NATIVE, 1, 0)];
    let mut others = vec![load(NR)];
    for number in OTHER_CALLS {
        others.extend([jump(libc::BPF_JEQ, number, 0, 1), notify()]);
    }
    others.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(statement(libc::BPF_JMP | libc::BPF_JA, 1));
    program.push(statement(libc::BPF_JMP | libc::BPF_JA, others.len() as u32));
    program.extend(others);
    program.extend([load(NR), jump(libc::BPF_JGE, X32, 0, 1), notify()]);
    for (number, _) in CALLS {
        program.extend([jump(libc::BPF_JEQ, *number as u32, 0, 1), notify()]);
    }
    for (number, _, flags) in OPENS {
        program.extend([
            jump(libc::BPF_JEQ, *number as u32, 0, 4),
            load(argument(*flags)),
            jump(libc::BPF_JSET, WRITING, 0, 1),
            notify(),
            answer(libc::SECCOMP_RET_ALLOW),
        ]);
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

const WAIT_KILLABLE: libc::c_ulong = 1 << 5;
const NEW_LISTENER: libc::c_ulong = 1 << 3;

/// Installs the program in this process and returns the descriptor that reports come from.
/// Only system calls: it runs between fork and exec.
#[allow(unsafe_code)]
pub fn install(program: &[sock_filter], may_lose_rights: bool) -> Option<i32> {
    if NATIVE == 0 {
        return None;
    }
    let described = sock_fprog {
        len: program.len() as u16,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: `described` and the program live until the call returns.
    let load = |flags: libc::c_ulong| unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const described,
        )
    };
    let load_any = || match load(NEW_LISTENER | WAIT_KILLABLE) {
        // An older kernel does not know the second flag.
        -1 => load(NEW_LISTENER),
        fd => fd,
    };
    let mut fd = load_any();
    if fd < 0 && may_lose_rights {
        // SAFETY: plain numbers.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        }
        fd = load_any();
    }
    i32::try_from(fd).ok().filter(|fd| *fd >= 0)
}
