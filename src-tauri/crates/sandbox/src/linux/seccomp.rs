//! The system calls that are refused inside.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use crate::confinement::Confinement;
use crate::plan::SandboxError;

/// Which sockets a command may make, and whether it has an IPC namespace of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sockets {
    internet: bool,
    local: bool,
    /// Shared memory, semaphores and message queues are those of the whole machine.
    shared_ipc: bool,
}

impl Sockets {
    /// In a network namespace of its own a command may talk to itself.
    pub fn in_namespace(confinement: &Confinement) -> Self {
        Self {
            internet: true,
            local: confinement.local_sockets(),
            shared_ipc: false,
        }
    }

    pub fn without_namespace(confinement: &Confinement) -> Self {
        Self {
            internet: confinement.network(),
            local: confinement.local_sockets(),
            shared_ipc: true,
        }
    }
}

/// Calls that nothing inside needs and that act on other processes, on the kernel or on the
/// whole machine.
const REFUSED: &[c_long] = &[
    // Other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts, namespaces and files by other means than their path
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    // Keys of the kernel
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_syslog,
    // The machine
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    // Newer calls, by their number on every architecture
    QUOTACTL_FD,
    LSM_SET_SELF_ATTR,
    OPEN_TREE_ATTR,
];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_kexec_file_load,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

const QUOTACTL_FD: c_long = 443;
const LSM_SET_SELF_ATTR: c_long = 460;
const OPEN_TREE_ATTR: c_long = 467;

/// The last call that was looked at for this list. Newer ones do not exist inside; neither do
/// those of the x32 ABI, which have high numbers and mean the same as others.
const LAST_REVIEWED: u32 = 469;

/// Calls that do not exist inside, so that programs fall back on older ones. What `clone3` is to
/// do cannot be looked at, and `io_uring` makes sockets without a system call.
const ABSENT: [c_long; 4] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

const SHARED_IPC: [c_long; 5] = [
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

const NEW_NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Typing into a terminal, and what the console's own call may do.
const TERMINAL_INPUT: [u64; 2] = [TIOCSTI, TIOCLINUX];
// As numbers: the type of requests differs between C libraries.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// The programs to install, in this order. Compiled once per kind, not for every command.
pub(crate) fn filters(sockets: Sockets) -> Result<Vec<BpfProgram>, SandboxError> {
    static COMPILED: Mutex<BTreeMap<Sockets, Vec<BpfProgram>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = compiled.get(&sockets) {
        return Ok(known.clone());
    }
    let filters = compile(sockets)?;
    compiled.insert(sockets, filters.clone());
    Ok(filters)
}

fn compile(sockets: Sockets) -> Result<Vec<BpfProgram>, SandboxError> {
    let error = |error: seccompiler::BackendError| SandboxError::Rules(error.to_string());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(error)?;
    let refused = SeccompFilter::new(
        rules(sockets).map_err(error)?,
        SeccompAction::Allow,
        // Lossless: an error number is small and positive.
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        architecture,
    )
    .and_then(BpfProgram::try_from)
    .map_err(error)?;
    Ok(vec![absent_calls(), refused])
}

type RuleMap = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(sockets: Sockets) -> Result<RuleMap, seccompiler::BackendError> {
    let mut rules = RuleMap::new();
    let always = REFUSED.iter().chain(REFUSED_HERE);
    for call in always {
        rules.insert(*call, Vec::new());
    }
    if sockets.shared_ipc {
        for call in SHARED_IPC {
            rules.insert(call, Vec::new());
        }
    }
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let flags = NEW_NAMESPACES.iter().map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            SeccompRule::new(vec![dword(0, SeccompCmpOp::MaskedEq(flag), flag)?])
        });
        rules.insert(call, flags.collect::<Result<_, _>>()?);
    }
    let inputs = TERMINAL_INPUT
        .iter()
        .map(|request| SeccompRule::new(vec![dword(1, SeccompCmpOp::Eq, *request)?]));
    rules.insert(libc::SYS_ioctl, inputs.collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_socket, socket_rules(sockets)?);
    if !sockets.local {
        rules.insert(libc::SYS_socketpair, socketpair_rules()?);
    }
    Ok(rules)
}

/// Refused are all families but the allowed ones; of netlink, all but the routing table.
fn socket_rules(sockets: Sockets) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut families = Vec::new();
    if sockets.internet {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if sockets.local {
        families.push(libc::AF_UNIX);
    }
    if families.is_empty() {
        // Every family is at least zero.
        return Ok(vec![SeccompRule::new(vec![dword(
            0,
            SeccompCmpOp::Ge,
            0,
        )?])?]);
    }
    let others = families
        .iter()
        .map(|family| dword(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())));
    let mut rules = vec![SeccompRule::new(others.collect::<Result<_, _>>()?)?];
    if sockets.internet {
        let netlink = u64::from(libc::AF_NETLINK.cast_unsigned());
        rules.push(SeccompRule::new(vec![
            dword(0, SeccompCmpOp::Eq, netlink)?,
            dword(2, SeccompCmpOp::Ne, 0)?,
        ])?);
    }
    Ok(rules)
}

/// A pair is needed everywhere and leads nowhere else, but for one of datagrams: it can be sent
/// from to any address. Raw ones are datagrams by another name.
fn socketpair_rules() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    const TYPE: u64 = 0xf;
    let kind = |kind: libc::c_int| {
        let kind = u64::from(kind.cast_unsigned());
        SeccompRule::new(vec![dword(1, SeccompCmpOp::MaskedEq(TYPE), kind)?])
    };
    let local = u64::from(libc::AF_UNIX.cast_unsigned());
    Ok(vec![
        SeccompRule::new(vec![dword(0, SeccompCmpOp::Ne, local)?])?,
        kind(libc::SOCK_DGRAM)?,
        kind(libc::SOCK_RAW)?,
    ])
}

fn dword(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Answers "no such call" to [`ABSENT`] ones and to all that are newer than this list. Of another
/// architecture the other filter lets nothing pass.
fn absent_calls() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const JUMP_IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    let step = |code, k, jt| sock_filter { code, jt, jf: 0, k };
    // Jumps lead to the last step.
    let checks = ABSENT.len() + 1;
    let to_end = |index: usize| u8::try_from(checks - index).unwrap_or(u8::MAX);
    let mut program = vec![step(LOAD_NUMBER, 0, 0)];
    program.push(step(JUMP_IF_GREATER, LAST_REVIEWED, to_end(0)));
    for (index, call) in ABSENT.iter().enumerate() {
        let call = u32::try_from(*call).unwrap_or(u32::MAX);
        program.push(step(JUMP_IF_EQUAL, call, to_end(index + 1)));
    }
    program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0));
    let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    program.push(step(RETURN, absent, 0));
    program
}

/// What the kernel reads of a program.
pub(crate) fn bytes(program: &[sock_filter]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    bytes
}
