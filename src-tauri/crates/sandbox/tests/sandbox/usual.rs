//! Usual work that goes on inside.

use std::path::Path;
use std::process::{Command, Output};

use lathe_sandbox::{Engine, Plan, Probe};

use crate::world::{World, finish, path_variable};

/// Where a command is to work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Works {
    Everywhere,
    /// Needs entries to be created in a folder with protected paths, or connections within the
    /// machine: Landlock says so among its limits.
    InBubblewrap,
}
use Works::{Everywhere, InBubblewrap};

/// One row a line, as in a table. Run by `sh -e` in a folder of the project.
#[rustfmt::skip]
const COMMANDS: &[(&str, Works, &str)] = &[
    // Compilers and builds
    ("compile and run C", Everywhere, "echo 'int main(void){return 0;}' > a.c; cc -O1 a.c -o a; ./a"),
    ("compile in two steps", Everywhere, "echo 'int f(void){return 0;}' > f.c; cc -c f.c; ar rcs libf.a f.o; test -s libf.a"),
    ("compile C++", Everywhere, "printf '#include <string>\\nint main(){return std::string(\"\").size();}' > b.cc; c++ b.cc -o b; ./b"),
    ("make", Everywhere, "printf 'all: out\\nout:\\n\\techo built > out\\n' > Makefile; make -s -j2; grep -q built out"),
    ("cargo build and test, offline", Everywhere, "mkdir -p crate/src; cd crate; printf '[package]\\nname=\"tiny\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > Cargo.toml; echo '#[test] fn t(){assert_eq!(1,1)}' > src/lib.rs; \"$CARGO\" test -q --offline"),
    ("cargo metadata", Everywhere, "mkdir -p meta/src; cd meta; printf '[package]\\nname=\"tiny\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > Cargo.toml; echo > src/lib.rs; \"$CARGO\" metadata --offline --no-deps --format-version 1 | grep -q tiny"),
    ("cargo build with a dependency, offline", Everywhere, "mkdir -p dep/src; cd dep; printf '[package]\\nname=\"dep\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[dependencies]\\ncfg-if=\"*\"\\n[workspace]\\n' > Cargo.toml; echo 'cfg_if::cfg_if!{ if #[cfg(unix)] { pub fn f() {} } }' > src/lib.rs; \"$CARGO\" build -q --offline"),
    ("node", Everywhere, "node -e 'require(\"fs\").writeFileSync(\"n.txt\", \"x\"); console.log(require(\"os\").tmpdir())'; test -s n.txt"),
    ("node starts a child", Everywhere, "node -e 'require(\"child_process\").execSync(\"echo hi\"); const w = new (require(\"worker_threads\").Worker)(\"1\", {eval: true}); w.on(\"exit\", c => process.exit(c))'"),
    ("node talks to a child", Everywhere, "echo 'process.on(\"message\", m => process.send(m))' > child.js; node -e 'const c = require(\"child_process\").fork(\"child.js\"); c.send(1); c.on(\"message\", () => c.kill())'"),
    ("npm, offline", Everywhere, "mkdir -p pkg; cd pkg; echo '{\"name\":\"p\",\"version\":\"1.0.0\",\"scripts\":{\"t\":\"echo ran\"}}' > package.json; npm ls --offline; npm run --silent t | grep -q ran"),
    ("python", Everywhere, "/usr/bin/python3 -c 'import tempfile, os; f = tempfile.NamedTemporaryFile(); f.write(b\"x\"); print(f.name)'"),
    ("python's tests", Everywhere, "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): self.assertEqual(1, 1)\\n' > test_t.py; /usr/bin/python3 -m unittest -q test_t"),
    ("python threads and a child", Everywhere, "/usr/bin/python3 -c 'import subprocess, threading; t = threading.Thread(target=print); t.start(); t.join(); subprocess.run([\"true\"], check=True)'"),
    ("python's processes", InBubblewrap, "/usr/bin/python3 -c 'import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1, 2]))'"),
    ("a server and its client", InBubblewrap, "/usr/bin/python3 -c 'import socket, threading; s = socket.create_server((\"127.0.0.1\", 0)); t = threading.Thread(target=s.accept); t.start(); socket.create_connection(s.getsockname()); t.join()'"),
    ("perl", Everywhere, "perl -e 'open(F, \">p.txt\"); print F \"x\"; close F'; test -s p.txt"),
    ("sqlite", Everywhere, "sqlite3 t.db 'create table t(a); insert into t values (1); select a from t' | grep -q 1"),
    // Git
    ("git status", Everywhere, "git status --short"),
    ("git diff", Everywhere, "git diff HEAD --stat"),
    ("git log and show", Everywhere, "git log --oneline | grep -q first; git show --stat HEAD >/dev/null"),
    ("git grep and blame", Everywhere, "git grep -q main -- ../src; git blame ../src/main.c >/dev/null"),
    ("a repository of its own", Everywhere, "git init -q own; cd own; echo x > f; git add f; git -c user.name=T -c user.email=t@localhost commit -q -m x; git log --oneline | grep -q x"),
    ("git add and commit", InBubblewrap, "echo x > tracked; git add tracked; git commit -q -m second; git log --oneline | grep -q second"),
    ("git branches", InBubblewrap, "git switch -q -c topic; git switch -q main; git branch | grep -q topic"),
    ("git stash", InBubblewrap, "echo y >> ../src/main.c; git stash -q; git stash pop -q; git diff --stat | grep -q main.c"),
    // Files
    ("edit in place", Everywhere, "echo one > e; sed -i s/one/two/ e; grep -q two e"),
    ("tar there and back", Everywhere, "mkdir -p t/u; echo x > t/u/v; tar czf t.tgz t; rm -r t; tar xzf t.tgz; test -s t/u/v"),
    ("find and xargs", Everywhere, "touch f1 f2; find . -name 'f[12]' -print0 | xargs -0 -P2 rm; test ! -e f1"),
    ("find and grep through the system", Everywhere, "find /usr/share/doc -maxdepth 1 | head -5 | grep -q usr; ls / ~ >/dev/null"),
    ("sort with temporary files", Everywhere, "seq 200000 | sort -R -S 1M | sort -n -S 1M | tail -1 | grep -q 200000"),
    ("mktemp", Everywhere, "f=$(mktemp); echo x > \"$f\"; d=$(mktemp -d); mv \"$f\" \"$d/\"; rm -r \"$d\""),
    ("copy, link, move, remove", Everywhere, "cp ../src/main.c c; ln c h; ln -s c s; mkdir m; mv c h m/; rm -r m s"),
    ("move and link between folders", Everywhere, "echo x > a; mv a ../src/a; ln ../src/a b; mv b ../src/b"),
    ("modes and times", Everywhere, "echo x > x; chmod +x x; touch -d 2020-01-01 x; cp -p x y; test -x y"),
    ("patch and diff", Everywhere, "echo a > o; echo b > n; diff -u o n > p || true; patch -s o p; grep -q b o"),
    ("a new file in the project's folder", InBubblewrap, "echo x > ../top-level; rm ../top-level"),
    ("settings of git", Everywhere, "test -s $HOME/.config/git/config; cat $HOME/.bashrc | grep -q start"),
    // The shell and processes
    ("pipes and heredocs", Everywhere, "cat <<END | tr a-z A-Z | grep -q HELLO\nhello\nEND"),
    ("process substitution", Everywhere, "bash -c 'diff <(echo a) <(echo a)'"),
    ("a background job", Everywhere, "sleep 0.1 & wait $!"),
    ("kill an own child", Everywhere, "sleep 30 & kill $!; wait $! || true"),
    ("a timeout", Everywhere, "timeout 0.1 sleep 5 || test $? = 124"),
    ("ps", Everywhere, "ps -ef | grep -q ps"),
    ("a lock", Everywhere, "flock lock sh -c 'echo locked > l'; test -s l"),
    ("a pseudo-terminal", Everywhere, "script -qec 'test -t 1 && tty' /dev/null </dev/null"),
    ("a named pipe", Everywhere, "mkfifo q; echo x > q & read -r x < q; test \"$x\" = x; wait"),
    ("devices", Everywhere, "head -c 8 /dev/urandom | wc -c | grep -q 8; echo x > /dev/null; head -c 4 /dev/zero >/dev/null; echo x >/dev/stderr"),
    ("shared memory", InBubblewrap, "echo x > /dev/shm/x; rm /dev/shm/x"),
    ("who and where", Everywhere, "id; pwd; uname -a; date; df . ; nproc; getent passwd root; hostname || true"),
    ("limits and niceness", Everywhere, "ulimit -n 256; nice -n 5 true"),
    ("a file of random access", Everywhere, "dd if=/dev/zero of=d bs=1k count=64 conv=fsync 2>/dev/null; truncate -s 1M d; fallocate -l 2M d || true"),
    ("compression", Everywhere, "echo x | gzip | gunzip | grep -q x; echo x | xz | unxz | grep -q x"),
];

#[test]
fn there_are_at_least_forty_usual_commands() {
    let everywhere = COMMANDS.iter().filter(|row| row.1 == Everywhere);
    assert!(everywhere.count() >= 40);
}

#[test]
fn usual_commands_work_in_bubblewrap() {
    usual_commands_work(Engine::Bubblewrap);
}

#[test]
fn usual_commands_work_in_landlock_but_for_its_limits() {
    usual_commands_work(Engine::Landlock);
}

fn usual_commands_work(engine: Engine) {
    let probe = Probe::this_machine();
    if let Some(reason) = probe.failure(engine) {
        println!("{engine:?} is not tried: {reason}");
        return;
    }
    let mut failed = Vec::new();
    for (name, works, script) in COMMANDS {
        let world = project();
        let mut confinement = world.confinement();
        confinement.git_writable = *works == InBubblewrap;
        let plan = Plan::new(engine, &confinement, probe).unwrap();
        let launch = plan.launch().unwrap();
        let output = run(&world, launch.command("/bin/sh"), script);
        drop(launch);
        let limited = engine == Engine::Landlock && *works == InBubblewrap;
        match (output.status.success(), limited) {
            (true, false) => println!("{engine:?}: {name}: works"),
            (false, true) => println!("{engine:?}: {name}: does not work, as the plan says"),
            (true, true) => failed.push(format!("{name} works after all")),
            // A program that this machine does not have fails outside as well.
            (false, false) => {
                let outside = project();
                if run(&outside, Command::new("/bin/sh"), script)
                    .status
                    .success()
                {
                    failed.push(format!("{name}: {output:?}"));
                } else {
                    println!("{engine:?}: {name}: does not work outside either");
                }
            }
        }
    }
    assert!(failed.is_empty(), "{engine:?}: {failed:#?}");
}

/// A world whose project is a real repository with a commit.
fn project() -> World {
    let world = World::new();
    let script = "rm -r .git; git -c init.defaultBranch=main init -q; \
        git config user.name Test; git config user.email test@localhost; \
        git add src; git commit -q -m first; mkdir work";
    let mut command = Command::new("/bin/sh");
    command.args(["-ec", script]);
    world.dress(&mut command);
    assert!(finish(command).status.success());
    world
}

fn run(world: &World, mut command: Command, script: &str) -> Output {
    command.args(["-ec", script]);
    world.dress(&mut command);
    command.current_dir(world.project().join("work"));
    if let Some(cargo) = std::env::var_os("CARGO") {
        // The toolchain's own, which needs no choice by another program.
        let folder = Path::new(&cargo).parent().unwrap().display().to_string();
        command.env("PATH", format!("{folder}:{}", path_variable()));
        command.env("CARGO", &cargo);
        let home = std::env::var("HOME").unwrap_or_default();
        let packages = std::env::var("CARGO_HOME").unwrap_or(format!("{home}/.cargo"));
        command.env("CARGO_HOME", packages);
    }
    finish(command)
}
