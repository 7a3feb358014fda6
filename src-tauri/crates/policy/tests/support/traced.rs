//! A tree to run commands in, and what `strace` saw of them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lathe_policy::shell::{Analysis, Surroundings, analyse};
use lathe_protocol::ShellDialect;
use tempfile::TempDir;

use crate::disk::{Disk, is_secret};

const CALLS: &str = "execve,openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,\
                     mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmodat,\
                     fchmod,chown,fchown,fchownat,lchown,utimensat,mknod,mknodat,connect,setxattr";

/// Devices that may be opened for writing.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr"];

pub struct Scene {
    folder: TempDir,
    root: PathBuf,
    home: PathBuf,
}

pub fn is_there(program: &str) -> bool {
    // A version manager's stand-in runs programs of its own.
    const STAND_INS: [&str; 8] = [
        "cargo", "rustc", "rustup", "python", "python3", "python2", "rustfmt", "npm",
    ];
    const BUILTINS: [&str; 8] = [
        "echo", "true", "false", ":", "pwd", "type", "set", "command",
    ];
    let found = |folder: &str| Path::new(folder).join(program).exists();
    BUILTINS.contains(&program)
        || (!STAND_INS.contains(&program)
            && ["/usr/bin", "/bin", "/usr/local/bin"]
                .iter()
                .any(|f| found(f)))
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let scene = Self {
            root: base.join("project"),
            home: base.join("home"),
            folder,
        };
        for (name, text) in [
            ("project/a.txt", "a,1\nb,2\nfoo x\n"),
            ("project/b.txt", "b\n"),
            ("project/c d.txt", "c\n"),
            ("project/src/main.rs", "fn main() {}\n"),
            ("project/data.json", "{\"a\": 1}\n"),
            ("project/.env", "KEY=1\n"),
            ("project/.gitignore", ".env\n"),
            ("project/evil", "#!/bin/sh\ntouch p\n"),
            ("project/evil.sed", "w p\n"),
            ("project/evil.awk", "BEGIN { system(\"touch p\") }\n"),
            ("project/--output=p", ""),
            ("project/-op", ""),
            ("secret/key.txt", "secret\n"),
            ("home/.x", ""),
        ] {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::os::unix::fs::symlink(base.join("secret"), scene.root.join("out")).unwrap();
        let set_up = "chmod +x evil; tar cf a.tar a.txt b.txt; git init -q -b main .; \
                      git config user.email a@b.c; git config user.name a; git add -A; \
                      git commit -qm one; git tag v1; echo more >> b.txt; git commit -qam two; \
                      echo again >> b.txt; git stash -q; echo third >> b.txt";
        let done = scene.shell(set_up).status().unwrap();
        assert!(done.success());
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(&scene.root).arg(scene.kept());
        assert!(copy.status().unwrap().success());
        scene
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", &self.home)
            .env("LC_ALL", "C")
            // Reading commands are run without the lock with which git refreshes its index.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }

    pub fn analyse(&self, command: &str) -> Analysis {
        let paths = Disk {
            root: &self.root,
            home: Some(&self.home),
        };
        analyse(
            command,
            &Surroundings {
                directory: &self.root,
                home: Some(&self.home),
                dialect: ShellDialect::Posix,
                paths: &paths,
            },
        )
    }

    /// It would be run without a question, as rules are by default.
    pub fn is_known_to_read(&self, command: &str) -> bool {
        let analysis = self.analyse(command);
        let asked = analysis.reads.iter().any(|path| is_secret(path));
        analysis.only_reads() && analysis.outside.is_empty() && !asked && !endless(command)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The project, and what is beside it.
    pub fn base(&self) -> &Path {
        self.folder.path()
    }

    /// The project as it was before any command.
    pub fn restore(&self) {
        let (kept, root) = (self.kept(), &self.root);
        let script = "chmod -R u+rwX . && find . -mindepth 1 -delete && cp -a \"$0\"/. .";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(kept).current_dir(root);
        assert!(command.status().unwrap().success());
    }

    fn kept(&self) -> PathBuf {
        self.base().join("kept")
    }

    /// The calls that one command makes.
    pub fn trace(&self, command: &str) -> Vec<String> {
        calls(&self.log(&[command.to_owned()]))
    }

    /// Runs commands one after the other; says what they did beyond reading the project.
    pub fn run(&self, commands: &[String]) -> Vec<String> {
        let log = self.log(commands);
        let named = self.named_programs(commands);
        let mut found: Vec<String> = calls(&log)
            .iter()
            .filter_map(|call| self.wrong(call, &named))
            .collect();
        found.dedup();
        found.truncate(3);
        found
    }

    fn log(&self, commands: &[String]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let list = folder.path().join("commands");
        let text: String = commands.iter().map(|one| format!("{one}\0")).collect();
        std::fs::write(&list, text).unwrap();
        let driver = "while IFS= read -r -d '' c; do timeout -k 1 5 bash -c \"$c\" \
                      </dev/null >/dev/null 2>&1; done < \"$0\"";
        let mut strace = Command::new("strace");
        strace.args(["-f", "-y", "-qq", "--seccomp-bpf", "-s", "400", "-e"]);
        strace.arg(format!("trace={CALLS}")).arg("-o").arg(&log);
        strace.args(["bash", "-c", driver]).arg(&list);
        self.prepare(&mut strace);
        strace.status().unwrap();
        std::fs::read_to_string(&log).unwrap_or_default()
    }

    fn named_programs(&self, commands: &[String]) -> BTreeSet<String> {
        let mut named: BTreeSet<String> = ["bash", "timeout"].map(str::to_owned).into();
        for command in commands {
            let analysis = self.analyse(command);
            let patterns = analysis.patterns.iter().chain(&analysis.spellings);
            let words = patterns.flat_map(|pattern| pattern.split(' '));
            named.extend(words.map(|word| word.rsplit('/').next().unwrap_or(word).to_owned()));
            // These are scripts around it.
            if ["egrep", "fgrep"].iter().any(|name| named.contains(*name)) {
                named.insert("grep".to_owned());
            }
            if command.contains("time") {
                named.insert("time".to_owned());
            }
        }
        named
    }

    fn wrong(&self, call: &str, named: &BTreeSet<String>) -> Option<String> {
        let name = call.split('(').next()?;
        let path = self.path_in(call);
        // They keep in files of their own what is too much for memory, and delete them.
        let sorting = ["sort", "tac"]
            .iter()
            .any(|name| named.contains(*name) && path.starts_with(&format!("/tmp/{name}")));
        // So Perl finds out whether the system has links.
        let asks_for_links = call.starts_with("symlink(\"\", \"\")");
        if sorting || asks_for_links {
            return None;
        }
        let bad = match name {
            "execve" => {
                let program = path.rsplit('/').next().unwrap_or_default().to_owned();
                let started = call.contains(" = 0");
                let git = path.contains("git-core/") && named.contains("git");
                started && !named.contains(&program) && !git
            }
            "open" | "openat" | "creat" => {
                let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
                let writes = flags.iter().any(|flag| call.contains(flag));
                let writes = writes && !call.contains("EISDIR");
                (writes && !DEVICES.contains(&path.as_str())) || self.is_secret(&path, call)
            }
            "connect" => {
                call.contains("AF_INET") || (call.contains("AF_UNIX") && !call.contains("nscd"))
            }
            _ => true,
        };
        bad.then(|| call.to_owned())
    }

    pub fn is_secret(&self, path: &str, call: &str) -> bool {
        let secret = path.contains("/secret/") || path.ends_with("/.env");
        // Opened only for what is known of it.
        let looked_at = ["O_DIRECTORY", "O_PATH", "O_NOCTTY"];
        secret && !looked_at.iter().any(|flag| call.contains(flag))
    }

    /// The first path of a call, absolute.
    fn path_in(&self, call: &str) -> String {
        let text = call.split('"').nth(1).unwrap_or_default();
        let from = call
            .split('<')
            .nth(1)
            .filter(|_| call.contains("AT_FDCWD<") || call.starts_with("openat("));
        let from = from.and_then(|rest| rest.split('>').next());
        let from = from.map_or(self.root.as_path(), Path::new);
        from.join(text).to_string_lossy().into_owned()
    }
}

/// They wait for something that does not come; the driver would end them.
fn endless(command: &str) -> bool {
    ["tail", "sleep", "yes", "wait"]
        .iter()
        .any(|word| command.contains(word))
}

/// The calls of a log, each in one line: another process may have come in between.
fn calls(log: &str) -> Vec<String> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((process, call)) = line.split_once(' ') else {
            continue;
        };
        let call = call.trim_start();
        if call.starts_with("---") || call.starts_with("+++") {
            continue;
        }
        if let Some(first) = call.strip_suffix("<unfinished ...>") {
            begun.insert(process, first.to_owned());
        } else if let Some((_, rest)) = call.split_once(" resumed>") {
            let first = begun.remove(process).unwrap_or_default();
            calls.push(format!("{first}{rest}"));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls.extend(begun.into_values());
    calls
}
