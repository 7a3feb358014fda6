//! A small home with a project, secrets, and things outside to reach for.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lathe_sandbox::Confinement;

/// In every secret. The attempts look for it, and have no other way to know it.
pub const SECRET: &str = "TOP-SECRET";
const FILES: [(&str, &str); 16] = [
    (".ssh/id_ed25519", "TOP-SECRET key\n"),
    (".aws/credentials", "TOP-SECRET token\n"),
    (".netrc", "TOP-SECRET password\n"),
    (".npmrc", "//registry.localhost/:_authToken=TOP-SECRET\n"),
    (".zsh_history", "login TOP-SECRET\n"),
    (".config/app/token", "TOP-SECRET\n"),
    (".config/git/config", "[user]\n"),
    (".bashrc", "# start-up\n"),
    ("important.txt", "do not touch\n"),
    ("outside/file.txt", "do not touch\n"),
    ("project/src/main.c", "int main(void) { return 0; }\n"),
    ("project/sub/.vscode/tasks.json", "{}\n"),
    // As much of a repository as git asks for.
    ("project/.git/HEAD", "ref: refs/heads/main\n"),
    ("project/.git/config", "[core]\n\tbare = false\n"),
    ("project/.git/hooks/README", "hooks\n"),
    ("project/.git/refs/README", "references\n"),
];
pub const PROTECTED: [&str; 5] = [
    ".git",
    ".lathe",
    ".opencode",
    "sub/.vscode",
    ".vscode/tasks.json",
];
const MISSING: [&str; 3] = [".lathe", ".opencode", ".vscode"];

pub struct World {
    scratch: tempfile::TempDir,
    pub base: PathBuf,
    victim: Child,
    listeners: Listeners,
    before: BTreeMap<PathBuf, (String, u32, i64)>,
}

/// What waits outside for a packet.
struct Listeners {
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    display: UnixListener,
    datagram: UnixDatagram,
    named: UnixListener,
    name: String,
    pipe: File,
    terminal: (OwnedFd, PathBuf),
    /// Left open to be inherited, as a careless library would.
    _leaked: File,
}

impl World {
    pub fn new() -> Self {
        let scratch = tempfile::Builder::new().prefix("world").tempdir().unwrap();
        let base = fs::canonicalize(scratch.path()).unwrap();
        fs::create_dir(base.join("tmp")).unwrap();
        let home = base.join("home");
        for (path, content) in FILES {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::create_dir(home.join("project/.git/objects")).unwrap();
        let victim = Command::new("sleep")
            .arg("300")
            .env("TOKEN", format!("{SECRET} of another process"))
            .current_dir(&home)
            .stdin(File::open(home.join(".netrc")).unwrap())
            .spawn()
            .unwrap();
        let listeners = Listeners::new(&base);
        let mut world = Self {
            scratch,
            base,
            victim,
            listeners,
            before: BTreeMap::new(),
        };
        world.before = world.fingerprint();
        world
    }

    pub fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.base.join("home/project")
    }

    pub fn confinement(&self) -> Confinement {
        let project = self.project();
        let mut confinement = Confinement::new(&project);
        confinement.writable.push(self.base.join("tmp"));
        confinement.protected = PROTECTED.iter().map(|path| project.join(path)).collect();
        confinement.hide_secrets(&self.home(), &[]);
        confinement
    }

    /// Gives a command the folder and the variables that the attempts count on.
    pub fn dress(&self, command: &mut Command) {
        let port = |address: std::net::SocketAddr| address.port().to_string();
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path_variable())
            .env("HOME", self.home())
            .env("PROJECT", self.project())
            .env("TMPDIR", self.base.join("tmp"))
            .env("SOCKETS", self.base.join("home"))
            .env("VICTIM", self.victim.id().to_string())
            .env("HOST", std::process::id().to_string())
            .env("TCP", port(self.listeners.tcp.local_addr().unwrap()))
            .env("UDP", port(self.listeners.udp.local_addr().unwrap()))
            .env("NAME", &self.listeners.name)
            .env("TERMINAL", &self.listeners.terminal.1)
            .stdin(Stdio::null());
    }

    /// What the attempt changed, read or reached that it should not have. Nothing, if all is as
    /// it was.
    pub fn damage(&mut self, output: &Output) -> Option<String> {
        let text = [&output.stdout[..], &output.stderr[..]].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if text.contains(SECRET) {
            return Some(format!("a secret was read: {text}"));
        }
        if let Some(reached) = self.listeners.reached() {
            return Some(format!("{reached} was reached"));
        }
        if self.victim.try_wait().unwrap().is_some() {
            return Some("another process was killed".into());
        }
        let after = self.fingerprint();
        for (path, before) in &self.before {
            if after.get(path) != Some(before) {
                return Some(format!("{} is {:?}", path.display(), after.get(path)));
            }
        }
        let new = after.keys().find(|path| !self.before.contains_key(*path));
        new.map(|path| format!("{} is new", path.display()))
    }

    /// Everything but what may be changed: path, content, mode, time.
    fn fingerprint(&self) -> BTreeMap<PathBuf, (String, u32, i64)> {
        let mut found = BTreeMap::new();
        let open = [self.project().join("src"), self.project().join("sub")];
        gather(&self.home(), &open, &mut found);
        gather(&self.project().join("sub/.vscode"), &[], &mut found);
        // The project's own time changes with what may be created in it.
        found.remove(&self.project());
        let project = self.project();
        let guarded: Vec<PathBuf> = PROTECTED
            .iter()
            .chain(&MISSING)
            .map(|path| project.join(path))
            .collect();
        found.retain(|path, _| {
            !path.starts_with(&project) || guarded.iter().any(|place| path.starts_with(place))
        });
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        // Attempts outside of a sandbox may have made it unremovable by its owner.
        let _ = Command::new("chmod")
            .args(["-R", "u+rwX"])
            .arg(self.scratch.path())
            .status();
    }
}

fn gather(path: &Path, open: &[PathBuf], found: &mut BTreeMap<PathBuf, (String, u32, i64)>) {
    let Ok(kind) = fs::symlink_metadata(path) else {
        return;
    };
    let content = match kind.is_file() {
        true => fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default(),
        false => String::new(),
    };
    // Git may refresh its index when it only looks.
    let mode = kind.permissions().mode();
    found.insert(path.to_owned(), (content, mode, kind.mtime()));
    if kind.is_dir() && !open.iter().any(|place| place == path) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            gather(&entry.path(), open, found);
        }
    }
}

pub fn path_variable() -> &'static str {
    "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
}

impl Listeners {
    fn new(base: &Path) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("lathe-sandbox-{}-{number}", std::process::id());
        let home = base.join("home");
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let display = base.join("tmp/.X11-unix");
        fs::create_dir(&display).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            home.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from(0o666),
            0,
        )
        .unwrap();
        let leaked = File::open(home.join(".ssh/id_ed25519")).unwrap();
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
        let listeners = Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            stream: UnixListener::bind(home.join("bus")).unwrap(),
            display: UnixListener::bind(display.join("X0")).unwrap(),
            datagram: UnixDatagram::bind(home.join("log")).unwrap(),
            named: UnixListener::bind_addr(&address).unwrap(),
            name,
            pipe: File::options()
                .read(true)
                .write(true)
                .open(home.join("pipe"))
                .unwrap(),
            terminal: terminal(),
            _leaked: leaked,
        };
        listeners.tcp.set_nonblocking(true).unwrap();
        listeners.udp.set_nonblocking(true).unwrap();
        listeners.stream.set_nonblocking(true).unwrap();
        listeners.display.set_nonblocking(true).unwrap();
        listeners.datagram.set_nonblocking(true).unwrap();
        listeners.named.set_nonblocking(true).unwrap();
        for descriptor in [listeners.pipe.as_raw_fd(), listeners.terminal.0.as_raw_fd()] {
            // SAFETY: both are open as long as `listeners`.
            #[allow(unsafe_code)]
            let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
            let flags = rustix::fs::fcntl_getfl(borrowed).unwrap();
            rustix::fs::fcntl_setfl(borrowed, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
        }
        listeners
    }

    fn reached(&self) -> Option<&'static str> {
        let mut buffer = [0; 64];
        let mut pipe = &self.pipe;
        [
            (self.tcp.accept().is_ok(), "a TCP listener"),
            (self.udp.recv(&mut buffer).is_ok(), "a UDP socket"),
            (self.stream.accept().is_ok(), "a Unix socket"),
            (self.display.accept().is_ok(), "the display's socket"),
            (self.datagram.recv(&mut buffer).is_ok(), "a datagram socket"),
            (self.named.accept().is_ok(), "an abstract socket"),
            (pipe.read(&mut buffer).is_ok_and(|n| n > 0), "a named pipe"),
            (
                rustix::io::read(&self.terminal.0, &mut buffer).is_ok_and(|n| n > 0),
                "a terminal",
            ),
        ]
        .into_iter()
        .find_map(|(reached, what)| reached.then_some(what))
    }
}

/// Another terminal of the person: its inner end, and the path of the outer one.
fn terminal() -> (OwnedFd, PathBuf) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let inner = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&inner).unwrap();
    unlockpt(&inner).unwrap();
    let path = ptsname(&inner, Vec::new()).unwrap();
    (inner, PathBuf::from(path.into_string().unwrap()))
}

/// Runs to the end, and ends what hangs.
pub fn finish(mut command: Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0);
    let child = command.spawn().unwrap();
    let group = child.id();
    let over = Arc::new(AtomicU64::new(0));
    let seen = over.clone();
    let watch = std::thread::spawn(move || {
        for _ in 0..1200 {
            std::thread::sleep(Duration::from_millis(50));
            if seen.load(Ordering::Relaxed) == 1 {
                return;
            }
        }
        let group = rustix::process::Pid::from_raw(group.cast_signed()).unwrap();
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    });
    let output = child.wait_with_output().unwrap();
    over.store(1, Ordering::Relaxed);
    drop(watch);
    output
}
