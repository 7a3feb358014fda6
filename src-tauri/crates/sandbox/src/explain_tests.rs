use std::fs;

use super::*;
use crate::confinement::Grant;

struct Home {
    _scratch: tempfile::TempDir,
    root: PathBuf,
    confinement: Confinement,
}

impl Home {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(scratch.path()).unwrap();
        for folder in ["project/.git", "project/src", ".ssh", "other"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("project/run.sh"), "").unwrap();
        let project = root.join("project");
        let mut confinement = Confinement::new(&project);
        confinement.protected = vec![project.join(".git")];
        confinement.unreadable = vec![root.join(".ssh")];
        Self {
            _scratch: scratch,
            root,
            confinement,
        }
    }

    fn explain(&self, output: &str) -> Option<Refused> {
        let output = output.replace("HOME", self.root.to_str().unwrap());
        let directory = self.root.join("project");
        let found = explain(Some(1), &output, &directory, &self.confinement);
        assert!(found.len() <= 1, "{found:?}");
        found.into_iter().next().map(|denial| denial.refused)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

#[test]
fn a_write_outside_is_named_by_its_path() {
    let home = Home::new();
    for output in [
        "touch: cannot touch 'HOME/other/x': Read-only file system",
        "sh: 1: cannot create ../other/x: Read-only file system",
        "bash: HOME/other/x: Permission denied",
        "Error: EROFS: read-only file system, open 'HOME/other/x'",
        "PermissionError: [Errno 13] Permission denied: 'HOME/other/x'",
        "mkdir: cannot create directory ‘../other/x’: Permission denied",
    ] {
        let expected = Some(Refused::Write(home.path("other/x")));
        assert_eq!(home.explain(output), expected, "{output}");
    }
}

#[test]
fn a_protected_path_is_named() {
    let home = Home::new();
    let output = "fatal: Unable to create 'HOME/project/.git/index.lock': Read-only file system";
    let expected = Some(Refused::Write(home.path("project/.git/index.lock")));
    assert_eq!(home.explain(output), expected);
}

#[test]
fn an_entry_beside_a_protected_path_is_named() {
    let home = Home::new();
    for output in [
        "sh: 1: cannot create new.txt: Permission denied",
        "bash: line 1: new.txt: Permission denied",
        "touch: cannot touch 'new.txt': Permission denied",
    ] {
        let expected = Some(Refused::Write(home.path("project/new.txt")));
        assert_eq!(home.explain(output), expected, "{output}");
    }
    let output = "mv: cannot move 'run.sh' to 'src/run.sh': Permission denied";
    let expected = Some(Refused::Write(home.path("project/run.sh")));
    assert_eq!(home.explain(output), expected);
}

#[test]
fn a_secret_that_was_read_is_named() {
    let home = Home::new();
    for output in [
        "cat: HOME/.ssh/id_ed25519: Permission denied",
        "awk: cannot open HOME/.ssh/id_ed25519 (Permission denied)",
    ] {
        let expected = Some(Refused::Read(home.path(".ssh/id_ed25519")));
        assert_eq!(home.explain(output), expected, "{output}");
    }
}

#[test]
fn a_host_that_could_not_be_reached_is_named() {
    let home = Home::new();
    for (output, host) in [
        (
            "curl: (6) Could not resolve host: example.org",
            Some("example.org"),
        ),
        (
            "fatal: unable to access 'https://example.org/a.git/': Could not resolve host: example.org",
            Some("example.org"),
        ),
        (
            "npm error request to https://registry.example.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.example.org",
            Some("registry.example.org"),
        ),
        (
            "ssh: Could not resolve hostname example.org: Temporary failure in name resolution",
            Some("example.org"),
        ),
        ("ping: connect: Network is unreachable", None),
    ] {
        let expected = Some(Refused::Network(host.map(str::to_owned)));
        assert_eq!(home.explain(output), expected, "{output}");
    }
}

#[test]
fn what_would_fail_outside_as_well_is_not_the_sandboxes_doing() {
    let home = Home::new();
    for output in [
        "cat: missing.txt: No such file or directory",
        "error[E0425]: cannot find value `x` in this scope",
        "cat: /dev/null/x: Permission denied",
        "sh: 1: ./src/run.sh: Permission denied",
        "bash: line 1: ./run.sh: Permission denied",
        "test failed: expected 2, got 3",
    ] {
        assert_eq!(home.explain(output), None, "{output}");
    }
}

#[test]
fn a_command_that_ended_well_was_not_refused_anything() {
    let home = Home::new();
    let output = "touch: cannot touch '/x': Read-only file system";
    let directory = home.path("project");
    assert_eq!(explain(Some(0), output, &directory, &home.confinement), []);
}

#[test]
fn with_the_network_granted_a_missing_host_is_just_missing() {
    let mut home = Home::new();
    home.confinement.grants = vec![Grant::Network];
    assert_eq!(
        home.explain("curl: (6) Could not resolve host: example.org"),
        None
    );
}

#[test]
fn a_refused_call_is_recognised() {
    let home = Home::new();
    let output = "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted";
    assert_eq!(home.explain(output), Some(Refused::SystemCall));
    let directory = home.path("project");
    let killed = explain(Some(KILLED_BY_FILTER), "", &directory, &home.confinement);
    let killed: Vec<Refused> = killed.into_iter().map(|denial| denial.refused).collect();
    assert_eq!(killed, [Refused::SystemCall]);
}

#[test]
fn all_that_was_refused_is_named_once() {
    let home = Home::new();
    let directory = home.path("project");
    let root = home.root.display();
    let output = format!(
        "touch: cannot touch '{root}/other/x': Read-only file system\n\
         compiling\n\
         touch: cannot touch '{root}/other/x': Read-only file system\n\
         cat: {root}/.ssh/id: Permission denied\n\
         ping: connect: Network is unreachable\n\
         curl: (6) Could not resolve host: example.org\n\
         curl: (6) Could not resolve host: example.com\n"
    );
    let found = explain(Some(1), &output, &directory, &home.confinement);
    let found: Vec<Refused> = found.into_iter().map(|denial| denial.refused).collect();
    let host = |name: &str| Refused::Network(Some(name.to_owned()));
    let expected = [
        host("example.com"),
        host("example.org"),
        Refused::Read(home.path(".ssh/id")),
        Refused::Write(home.path("other/x")),
    ];
    assert_eq!(found, expected);
}
