//! Attempts that no shell can make. This binary runs itself inside to make them.

#![allow(unsafe_code)] // An attacker makes any call it likes.

use std::env;
use std::ffi::CString;
use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::PathBuf;

use libc::{c_int, c_long, c_void};

use crate::world::SECRET;

/// Names the attempt that this process is to make.
pub const ATTEMPT: &str = "LATHE_ATTEMPT";

/// Not a test by itself: without the variable it does nothing.
#[test]
fn attacker() {
    let Ok(name) = env::var(ATTEMPT) else {
        return;
    };
    match attempt(&name) {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            println!("{name}: {error}");
            std::process::exit(9);
        }
    }
}

/// Succeeds if it got out.
fn attempt(name: &str) -> io::Result<()> {
    match name {
        "truncate" => {
            let path = text(&format!("{}/important.txt", variable("HOME")));
            call(unsafe { libc::truncate(path.as_ptr(), 0) }.into())
        }
        "tcp" => TcpStream::connect(("127.0.0.1", number("TCP"))).map(drop),
        "udp" => UdpSocket::bind("127.0.0.1:0")?
            .send_to(b"out", ("127.0.0.1", number("UDP")))
            .map(drop),
        "udp outside" => UdpSocket::bind("0.0.0.0:0")?
            .send_to(b"out", "192.0.2.1:9")
            .map(drop),
        "unix" => UnixStream::connect(place("SOCKETS", "bus")).map(drop),
        "display" => UnixStream::connect(place("TMPDIR", ".X11-unix/X0")).map(drop),
        "datagram pair" => datagram_from_pair(),
        "abstract connect" => {
            let address = SocketAddr::from_abstract_name(variable("NAME"))?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "abstract bind" => {
            let name = format!("{}-own", variable("NAME"));
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?).map(drop)
        }
        "netlink" => interfaces_besides_loopback(),
        "packet" => socket(libc::AF_PACKET, libc::SOCK_RAW),
        "vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM),
        "kernel crypto" => socket(libc::AF_ALG, libc::SOCK_SEQPACKET),
        "io_uring" => {
            let mut parameters = [0_u8; 120];
            raw(
                libc::SYS_io_uring_setup,
                [1, parameters.as_mut_ptr() as c_long, 0, 0, 0],
            )
        }
        "inherited" => inherited_secret(),
        "ptrace" => raw(
            libc::SYS_ptrace,
            [c_long::from(libc::PTRACE_SEIZE), victim(), 0, 0, 0],
        ),
        "vm read" => read_memory(),
        "mem" => std::fs::File::options()
            .write(true)
            .open(format!("/proc/{}/mem", variable("VICTIM")))
            .map(drop),
        "pidfd" => steal_descriptor(),
        "signal" => call(unsafe { libc::kill(victim() as c_int, libc::SIGKILL) }.into()),
        "signal all" => {
            // Not even the host's group.
            let group = unsafe { libc::getpgid(number::<c_int>("HOST")) };
            match group {
                1.. => call(unsafe { libc::kill(-group, 0) }.into()),
                _ => Err(io::Error::last_os_error()),
            }
        }
        "setuid" => {
            match std::fs::read_to_string("/proc/self/status")?.contains("NoNewPrivs:\t1") {
                true => Err(io::Error::other("programs get no new privileges")),
                false => Ok(()),
            }
        }
        "capabilities" => {
            let status = std::fs::read_to_string("/proc/self/status")?;
            let sets = ["CapPrm", "CapEff", "CapAmb"];
            match sets
                .iter()
                .all(|set| status.contains(&format!("{set}:\t0000000000000000")))
            {
                true => Err(io::Error::other("there are no capabilities")),
                false => Ok(()),
            }
        }
        "keys" => raw(libc::SYS_keyctl, [0, -3, 1, 0, 0]),
        "bpf" => permitted(libc::SYS_bpf),
        "perf" => permitted(libc::SYS_perf_event_open),
        "userfaultfd" => permitted(libc::SYS_userfaultfd),
        "modules" => permitted(libc::SYS_finit_module),
        "handle" => permitted(libc::SYS_open_by_handle_at),
        "new mount" => permitted(libc::SYS_fsopen),
        "mount" => permitted(libc::SYS_mount),
        "chroot" => call(unsafe { libc::chroot(c"/tmp".as_ptr()) }.into()),
        "setns" => permitted(libc::SYS_setns),
        "unshare" => call(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into()),
        "unshare mount" => {
            call(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) }.into())
        }
        "clone" => clone_user_namespace(),
        "clone3" => permitted(libc::SYS_clone3),
        "x32" => raw(0x4000_0000 + libc::SYS_getpid, [0; 5]),
        "newer call" => raw(470, [0; 5]),
        "type" => type_into_terminal(),
        "device" => {
            let path = text("src/disk");
            let number = libc::makedev(1, 1);
            call(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o666, number) }.into())
        }
        "shared memory" => visible_segment(),
        "message queue" => {
            let name = text(&format!("/lathe-sandbox-{}", variable("SHARED")));
            call(unsafe { libc::mq_open(name.as_ptr(), libc::O_RDONLY) }.into())
        }
        other => panic!("there is no attempt {other}"),
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap()
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> T {
    variable(name).parse().unwrap()
}

fn victim() -> c_long {
    number("VICTIM")
}

fn place(folder: &str, name: &str) -> PathBuf {
    PathBuf::from(variable(folder)).join(name)
}

fn text(path: &str) -> CString {
    CString::new(path).unwrap()
}

fn call(result: c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn raw(number: c_long, arguments: [c_long; 5]) -> io::Result<()> {
    let [a, b, c, d, e] = arguments;
    call(unsafe { libc::syscall(number, a, b, c, d, e) })
}

/// Makes a call with arguments that the kernel refuses for what they are. The answer that
/// it is not permitted, or does not exist, comes before that.
fn permitted(number: c_long) -> io::Result<()> {
    match raw(number, [-1; 5]) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

fn socket(family: c_int, kind: c_int) -> io::Result<()> {
    match call(unsafe { libc::socket(family, kind, 0) }.into()) {
        // The kernel may not have the family at all; asking it is what must not happen.
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        _ => Ok(()),
    }
}

/// Looks for a secret in every file that this process was started with.
fn inherited_secret() -> io::Result<()> {
    for descriptor in 3..64 {
        let mut bytes = [0_u8; 64];
        let read = unsafe { libc::pread(descriptor, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        if read > 0 && String::from_utf8_lossy(&bytes).contains(SECRET) {
            return Ok(());
        }
    }
    Err(io::Error::other("nothing was inherited"))
}

/// A pair of datagram sockets is connected, and may still send anywhere.
fn datagram_from_pair() -> io::Result<()> {
    let mut pair = [0; 2];
    call(
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM, 0, pair.as_mut_ptr()) }.into(),
    )?;
    let path = place("SOCKETS", "log");
    let path = path.as_os_str().as_encoded_bytes();
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    let sent = unsafe {
        libc::sendto(
            pair[0],
            b"out".as_ptr().cast(),
            3,
            0,
            (&raw const address).cast(),
            length,
        )
    };
    call(sent as c_long)
}

fn interfaces_besides_loopback() -> io::Result<()> {
    let mut first = std::ptr::null_mut();
    call(unsafe { libc::getifaddrs(&mut first) }.into())?;
    let mut next = first;
    while let Some(interface) = unsafe { next.as_ref() } {
        let name = unsafe { std::ffi::CStr::from_ptr(interface.ifa_name) };
        if name != c"lo" {
            return Ok(());
        }
        next = interface.ifa_next;
    }
    Err(io::Error::other("there is nothing but the loopback"))
}

fn read_memory() -> io::Result<()> {
    let mut byte = 0_u8;
    let own = libc::iovec {
        iov_base: (&raw mut byte).cast::<c_void>(),
        iov_len: 1,
    };
    // Any address will do: refused comes before unmapped.
    let other = libc::iovec {
        iov_base: 0x1000 as *mut c_void,
        iov_len: 1,
    };
    let read = unsafe { libc::process_vm_readv(victim() as c_int, &own, 1, &other, 1, 0) };
    match call(read as c_long) {
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other,
    }
}

fn steal_descriptor() -> io::Result<()> {
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, victim(), 0) };
    call(process)?;
    raw(libc::SYS_pidfd_getfd, [process, 0, 0, 0, 0])
}

fn clone_user_namespace() -> io::Result<()> {
    let flags = c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        0 => unsafe { libc::_exit(0) },
        result => call(result),
    }
}

fn type_into_terminal() -> io::Result<()> {
    let terminal = std::fs::File::open("/dev/null")?;
    match call(unsafe { libc::ioctl(terminal.as_raw_fd(), 0x5412, c"x".as_ptr()) }.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        // It is no terminal, but it was asked.
        _ => Ok(()),
    }
}

/// Whether a segment of shared memory made here is one of the whole machine.
fn visible_segment() -> io::Result<()> {
    let key = number::<i32>("SHARED");
    let segment = unsafe { libc::shmget(key, 1, 0) };
    call(segment.into())
}
