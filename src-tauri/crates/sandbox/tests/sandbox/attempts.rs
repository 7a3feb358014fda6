//! The ways out that are tried, and what stops each.

use lathe_sandbox::Promise;

pub enum How {
    /// Run by `sh -c` in the project. Ends well if it got out.
    Shell(&'static str),
    /// A call that no shell can make, by its name in `attacker`.
    Native(&'static str),
}
use How::{Native, Shell};

/// Whether it works outside of a sandbox, which shows that it is a real attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Works,
    /// Depends on the machine, or would do harm.
    NotTried,
}
use Outside::{NotTried, Works};

pub type Stop = Result<&'static str, Promise>;

pub struct Attempt {
    pub what: &'static str,
    pub how: How,
    pub outside: Outside,
    /// What stops it, or the promise that this engine does not hold.
    pub bubblewrap: Stop,
    pub landlock: Stop,
}

const fn row(
    what: &'static str,
    how: How,
    outside: Outside,
    bubblewrap: Stop,
    landlock: Stop,
) -> Attempt {
    Attempt {
        what,
        how,
        outside,
        bubblewrap,
        landlock,
    }
}

const READ_ONLY: Stop = Ok("a read-only mount");
const OWN_MOUNT: Stop = Ok("a mount that cannot be renamed");
const EMPTY: Stop = Ok("an empty folder over the secret");
const RULES: Stop = Ok("a Landlock rule");
const DOMAIN: Stop = Ok("the border of the Landlock domain");
const SECCOMP: Stop = Ok("seccomp");
const NAMESPACE: Stop = Ok("a namespace");
const NO_RIGHTS: Stop = Ok("dropped capabilities");
const CLOSED: Stop = Ok("descriptors closed at the start");

/// One row a line, as in a table.
#[rustfmt::skip]
pub static ATTEMPTS: &[Attempt] = &[
    // Writing outside
    row("write a new file outside", Shell("echo x > $HOME/outside/new"), Works, READ_ONLY, RULES),
    row("overwrite a file outside", Shell("echo x > $HOME/important.txt"), Works, READ_ONLY, RULES),
    row("append to a file outside", Shell("echo x >> $HOME/important.txt"), Works, READ_ONLY, RULES),
    row("truncate a file outside", Native("truncate"), Works, READ_ONLY, RULES),
    row("delete a file outside", Shell("rm $HOME/important.txt"), Works, READ_ONLY, RULES),
    row("rename a file outside", Shell("mv $HOME/important.txt $HOME/moved.txt"), Works, READ_ONLY, RULES),
    row("move a file out of the project", Shell("mv src/main.c $HOME/outside/"), Works, READ_ONLY, RULES),
    row("make a folder outside", Shell("mkdir $HOME/outside/new"), Works, READ_ONLY, RULES),
    row("write to a start-up file", Shell("echo x >> $HOME/.bashrc"), Works, READ_ONLY, RULES),
    row("write by a path with dots", Shell("echo x > ../outside/new"), Works, READ_ONLY, RULES),
    row("write through a symbolic link", Shell("ln -s $HOME/outside src/link && echo x > src/link/new"), Works, READ_ONLY, RULES),
    row("write through a hard link", Shell("ln $HOME/important.txt src/hard && echo x > src/hard"), Works, Ok("a mount of its own"), RULES),
    row("write through the folder of this process", Shell("echo x > /proc/self/cwd/../important.txt"), Works, READ_ONLY, RULES),
    row("write through the root of this process", Shell("echo x > /proc/self/root$HOME/important.txt"), Works, READ_ONLY, RULES),
    row("write through the folder of another process", Shell("echo x > /proc/$VICTIM/cwd/important.txt"), Works, NAMESPACE, DOMAIN),
    row("write to the system's configuration", Shell("echo x > /etc/lathe-sandbox-test"), NotTried, READ_ONLY, RULES),
    row("change a setting of the kernel", Shell("f=/proc/sys/kernel/core_pattern && v=$(cat $f) && echo \"$v\" > $f"), NotTried, READ_ONLY, RULES),
    row("write to sysfs", Shell("mkdir /sys/fs/cgroup/lathe-sandbox-test"), NotTried, READ_ONLY, RULES),
    row("change the mode of a file outside", Shell("chmod 777 $HOME/important.txt"), Works, READ_ONLY, Err(Promise::Metadata)),
    row("change the time of a file outside", Shell("touch -d 2001-01-01 $HOME/important.txt"), Works, READ_ONLY, Err(Promise::Metadata)),
    row("write to a named pipe outside", Shell("echo x > $HOME/pipe"), Works, Err(Promise::NamedPipes), RULES),
    row("leave a file in the machine's shared memory", Shell("echo x > /dev/shm/lathe-sandbox-$HOST"), NotTried, NAMESPACE, RULES),
    // Protected paths
    row("install a git hook", Shell("echo x > .git/hooks/pre-commit"), Works, READ_ONLY, RULES),
    row("change git's configuration", Shell("git config core.fsmonitor ./evil"), Works, READ_ONLY, RULES),
    row("move hooks elsewhere by git", Shell("git config core.hooksPath src"), Works, READ_ONLY, RULES),
    row("create a protected folder", Shell("mkdir .lathe && echo x > .lathe/config.json"), Works, READ_ONLY, RULES),
    row("create a path below a protected one", Shell("mkdir -p .opencode/plugin && echo x > .opencode/plugin/a.js"), Works, READ_ONLY, RULES),
    row("create a protected file and its folder", Shell("mkdir -p .vscode && echo x > .vscode/tasks.json"), Works, READ_ONLY, RULES),
    row("put a link in a protected place", Shell("ln -s src .lathe"), Works, Ok("a folder in its place"), RULES),
    row("move a folder to a protected place", Shell("mkdir src/n && mv -T src/n .lathe"), Works, OWN_MOUNT, RULES),
    row("rename a protected folder away", Shell("mv .git src/git"), Works, OWN_MOUNT, RULES),
    row("delete a protected folder", Shell("rm -rf .git; [ ! -e .git/config ]"), Works, READ_ONLY, RULES),
    row("replace the folder above a protected one", Shell("mv sub sub2 && mkdir -p sub/.vscode && echo x > sub/.vscode/tasks.json"), Works, OWN_MOUNT, RULES),
    row("exchange the folder above a protected one", Shell("mkdir -p src/.vscode && echo x > src/.vscode/tasks.json && mv --exchange src sub 2>/dev/null || { mv sub old && mv src sub; }"),
        Works,
        OWN_MOUNT,
        RULES,
    ),
    row("replace the project itself", Shell("cd .. && mv project project2 && mkdir project"), Works, OWN_MOUNT, RULES),
    row("write to a protected file by a hard link", Shell("ln .git/config src/config && echo x >> src/config"), Works, Ok("a mount of its own"), RULES),
    row("write to a protected file by this process' folder", Shell("echo x >> /proc/self/cwd/.git/config"), Works, READ_ONLY, RULES),
    // Secrets
    row("read a key", Shell("cat $HOME/.ssh/id_ed25519"), Works, EMPTY, RULES),
    row("read a secret file", Shell("cat $HOME/.netrc"), Works, EMPTY, RULES),
    row("read what was typed", Shell("cat $HOME/.zsh_history"), Works, EMPTY, RULES),
    row("read the settings of any program", Shell("cat $HOME/.config/app/token"), Works, EMPTY, RULES),
    row("read a key through a symbolic link", Shell("ln -s $HOME/.ssh src/s && cat src/s/id_ed25519"), Works, EMPTY, RULES),
    row("read a key through a hard link", Shell("ln $HOME/.ssh/id_ed25519 src/k && cat src/k"), Works, EMPTY, RULES),
    row("copy all secrets", Shell("cp -r $HOME/.aws src/ && cat src/.aws/credentials"), Works, EMPTY, RULES),
    row("list the names of keys", Shell("ls $HOME/.ssh | grep -q id_"), Works, EMPTY, Err(Promise::SecretNames)),
    row("read the variables of another process", Shell("tr '\\0' '\\n' < /proc/$VICTIM/environ | grep TOKEN"), Works, NAMESPACE, DOMAIN),
    row("read the variables of the host", Shell("cat /proc/$HOST/environ > src/environ"), Works, NAMESPACE, DOMAIN),
    row("read a key through another process' root", Shell("cat /proc/$VICTIM/root$HOME/.ssh/id_ed25519"), Works, NAMESPACE, DOMAIN),
    row("read a key through the first process' root", Shell("cat /proc/1/root$HOME/.ssh/id_ed25519"), NotTried, EMPTY, DOMAIN),
    row("read what another process has open", Shell("cat /proc/$VICTIM/fd/0"), Works, NAMESPACE, DOMAIN),
    row("read what the host left open", Native("inherited"), Works, CLOSED, CLOSED),
    row("read a key by its handle", Native("handle"), NotTried, SECCOMP, SECCOMP),
    row("read a disk", Shell("d=$(ls /dev/vd? /dev/sd? /dev/nvme?n? 2>/dev/null | head -1); head -c 1 \"$d\""), NotTried, Ok("a /dev of its own"), RULES),
    // Network
    row("connect by TCP", Native("tcp"), Works, NAMESPACE, SECCOMP),
    row("send by UDP", Native("udp"), Works, Ok("a namespace: it reaches its own loopback"), SECCOMP),
    row("send by UDP to another machine", Native("udp outside"), NotTried, NAMESPACE, SECCOMP),
    row("connect to a Unix socket, as to the session bus", Native("unix"), Works, SECCOMP, SECCOMP),
    row("connect to the display", Native("display"), Works, SECCOMP, SECCOMP),
    row("send from a pair to a Unix socket", Native("datagram pair"), Works, SECCOMP, SECCOMP),
    row("connect to an abstract socket", Native("abstract connect"), Works, SECCOMP, SECCOMP),
    row("bind an abstract socket", Native("abstract bind"), Works, SECCOMP, SECCOMP),
    row("see the machine's network devices", Native("netlink"), NotTried, NAMESPACE, SECCOMP),
    row("make a packet socket", Native("packet"), NotTried, SECCOMP, SECCOMP),
    row("make a socket to the host of a virtual machine", Native("vsock"), Works, SECCOMP, SECCOMP),
    row("make a socket of the kernel's cryptography", Native("kernel crypto"), Works, SECCOMP, SECCOMP),
    row("make sockets by io_uring", Native("io_uring"), NotTried, SECCOMP, SECCOMP),
    // Other processes
    row("kill another process", Native("signal"), Works, NAMESPACE, DOMAIN),
    row("signal the host's group", Native("signal all"), Works, NAMESPACE, DOMAIN),
    row("see another process", Shell("grep -q sleep /proc/$VICTIM/cmdline"), Works, NAMESPACE, Err(Promise::Processes)),
    row("slow another process down", Shell("renice -n 19 -p $VICTIM"), Works, NAMESPACE, Err(Promise::Processes)),
    row("trace another process", Native("ptrace"), NotTried, SECCOMP, SECCOMP),
    row("read another process' memory", Native("vm read"), NotTried, SECCOMP, SECCOMP),
    row("write another process' memory", Native("mem"), NotTried, NAMESPACE, DOMAIN),
    row("take a descriptor of another process", Native("pidfd"), NotTried, NAMESPACE, SECCOMP),
    row("write to another terminal", Shell("echo x > $TERMINAL"), Works, Ok("a /dev of its own"), Err(Promise::Terminals)),
    row("type into a terminal", Native("type"), NotTried, SECCOMP, SECCOMP),
    row("outlive the command", Shell("(setsid sh -c 'sleep 1; echo x > src/late' >/dev/null 2>&1 &) ; true"), Works, NAMESPACE, Err(Promise::Survivors)),
    row("see the machine's shared memory", Native("shared memory"), Works, NAMESPACE, SECCOMP),
    row("open a message queue of the machine", Native("message queue"), Works, NAMESPACE, SECCOMP),
    // Privileges and the kernel
    row("gain privileges by a setuid program", Native("setuid"), Works, Ok("no new privileges"), Ok("no new privileges")),
    row("keep an administrator's rights", Native("capabilities"), NotTried, NO_RIGHTS, NO_RIGHTS),
    row("make a user namespace", Native("unshare"), NotTried, SECCOMP, SECCOMP),
    row("make a mount namespace", Native("unshare mount"), NotTried, SECCOMP, SECCOMP),
    row("make a user namespace by clone", Native("clone"), NotTried, SECCOMP, SECCOMP),
    row("make a process by clone3", Native("clone3"), Works, SECCOMP, SECCOMP),
    row("enter a namespace", Native("setns"), Works, SECCOMP, SECCOMP),
    row("mount", Native("mount"), NotTried, SECCOMP, SECCOMP),
    row("mount by the newer calls", Native("new mount"), NotTried, SECCOMP, SECCOMP),
    row("change the root", Native("chroot"), NotTried, SECCOMP, SECCOMP),
    row("make a device", Native("device"), NotTried, NO_RIGHTS, RULES),
    row("use the kernel's keys", Native("keys"), Works, SECCOMP, SECCOMP),
    row("load a program into the kernel", Native("bpf"), NotTried, SECCOMP, SECCOMP),
    row("load a module into the kernel", Native("modules"), NotTried, SECCOMP, SECCOMP),
    row("watch the processor", Native("perf"), NotTried, SECCOMP, SECCOMP),
    row("handle page faults", Native("userfaultfd"), NotTried, SECCOMP, SECCOMP),
    row("call by the x32 numbers", Native("x32"), NotTried, SECCOMP, SECCOMP),
    row("call what is newer than the filter", Native("newer call"), NotTried, SECCOMP, SECCOMP),
];
