//! Repositories that make git run a program, with real git: first that they do, then that no
//! command there counts as one that only reads.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use lathe_policy::shell::{Analysis, PathLookup, Surroundings, analyse};
use lathe_protocol::ShellDialect;

use super::DiskPaths;

fn shell(directory: &Path, script: &str) {
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn only_reads(root: &Path, command: &str) -> bool {
    analysed(root, command).only_reads()
}

fn analysed(root: &Path, command: &str) -> Analysis {
    let may_read = |path: &str| !path.ends_with(".env");
    let paths = DiskPaths {
        root,
        home: None,
        may_read: &may_read,
    };
    let surroundings = Surroundings {
        directory: root,
        home: None,
        dialect: ShellDialect::Posix,
        paths: &paths,
    };
    analyse(command, &surroundings)
}

/// A project with a repository and a program that leaves a mark.
fn project() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let evil = format!("#!/bin/sh\ntouch {}\ncat\n", root.join("mark").display());
    fs::write(root.join("evil"), evil).unwrap();
    shell(
        &root,
        "chmod +x evil; git init -q -b main; git config user.name a; git config user.email b;
         echo a > a.txt; git add a.txt; git commit -qm a; echo b > a.txt",
    );
    (folder, root)
}

const NESTED: &str = "git init -q -b main sub; cd sub; git config user.name a;
    git config user.email b; echo a > a.txt; git add a.txt; git commit -qm a;
    git config core.fsmonitor ../evil";

#[test]
fn a_plain_repository_is_read_without_a_question() {
    let (_folder, root) = project();
    shell(&root, "git clone -q . sub");
    for command in [
        "git status",
        "git diff",
        "git -C sub log",
        "cd sub && git status",
    ] {
        assert!(only_reads(&root, command), "{command}");
    }
}

#[test]
fn a_repository_that_runs_a_program_is_never_only_read() {
    let cases = [
        ("nested, entered by an option", NESTED, "git -C sub status"),
        ("nested, entered before", NESTED, "cd sub && git status"),
        (
            "nested, in the index but listed nowhere",
            "git init -q -b main sub; cd sub; git config user.name a; git config user.email b;
             echo a > a.txt; git add a.txt; git commit -qm a; cd ..; git add sub 2>/dev/null;
             git -C sub config core.fsmonitor ../evil",
            "git status",
        ),
        (
            "listed in one line",
            "git init -q -b main sub; cd sub; git config user.name a; git config user.email b;
             echo a > a.txt; git add a.txt; git commit -qm a; cd ..; git add sub 2>/dev/null;
             echo '[submodule \"s\"] path = sub' > .gitmodules;
             git -C sub config core.fsmonitor ../evil",
            "git diff",
        ),
        (
            "without a checkout",
            "git commit -qam b; git clone -q --bare . mirror;
             git -C mirror config diff.external \"$PWD/evil\"",
            "cd mirror && git diff main~1 main",
        ),
        (
            "two sections in a line",
            "echo '* filter=a.url=b' > .gitattributes;
             echo '[remote \"x\"] [filter \"a.url=b\"] clean = ./evil' >> .git/config",
            "git diff",
        ),
    ];
    let mut missed = Vec::new();
    for (name, prepare, command) in cases {
        let (_folder, root) = project();
        shell(&root, prepare);
        shell(&root, &format!("{command} || true"));
        assert!(
            root.join("mark").exists(),
            "{name}: the attack itself failed"
        );
        if only_reads(&root, command) {
            missed.push(name);
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn a_search_reads_hidden_files_that_an_ignore_file_reveals() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/.env"), "KEY=1").unwrap();
    let may_read = |path: &str| !path.ends_with(".env");
    let paths = DiskPaths {
        root: &root,
        home: None,
        may_read: &may_read,
    };
    let read = |text: &str| {
        fs::write(root.join(".ignore"), text).unwrap();
        paths.notable_below(&root, false).unwrap().asked_about
    };
    for text in ["", "*.log\n!.env.example\n", "!.github/**\n"] {
        assert_eq!(read(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "!.env\n",
        "!/src/.e*\n",
        "*\n!*\n",
        "!.[e]nv\n",
        "!\\.env\n",
        "!.en\u{76}\u{200b}\n",
        "!src/**\n",
        "!/src/*\n",
        "!**/.env\n",
    ] {
        assert_eq!(read(text), ["src/.env"], "{text}");
    }
    read("");
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::write(root.join(".git/info/exclude"), "!.env\n").unwrap();
    assert_eq!(read(""), ["src/.env"]);
}

/// What a command prints, and the files that are asked about before it runs.
fn printed_and_asked(root: &Path, command: &str) -> (bool, bool) {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).contains("TOP-SECRET");
    let analysis = analysed(root, command);
    let asked = analysis.reads.iter().any(|path| path.ends_with(".env")) || analysis.is_opaque();
    (printed, asked)
}

#[test]
fn git_does_not_print_a_tracked_secret_without_a_question() {
    let (_folder, root) = project();
    fs::create_dir(root.join("web")).unwrap();
    shell(
        &root,
        "echo KEY=TOP-SECRET-1 > .env; echo KEY=TOP-SECRET-2 > web/prod.env; echo c > web/c.txt;
         git add -f .env web; git commit -qm b; git branch web/c; git branch a.txt;
         echo KEY=TOP-SECRET-3 > .env; echo d >> web/c.txt; git add web/c.txt",
    );
    let hash = Command::new("git")
        .args(["rev-parse", "HEAD:.env"])
        .current_dir(&root)
        .output()
        .unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    let hash = hash.trim();
    let by_hash = [
        format!("git cat-file -p {hash}"),
        format!("git cat-file blob {hash}"),
        format!("git show {hash}"),
        format!("git show --stat {hash}"),
        format!("git show --oneline -s {}", &hash[..7]),
    ];
    let by_name = [
        "git grep TOP",
        "git grep TOP HEAD",
        "git grep TOP -- web",
        "git show",
        "git show HEAD",
        "git show HEAD -- web",
        "git show HEAD -- '*.env'",
        "git show a.txt --",
        "git show HEAD:.env",
        "cd web && git show HEAD",
        "git diff",
        "git diff .",
        "git diff HEAD~1",
        "git diff HEAD~1 HEAD --",
        "git diff HEAD~1 --stat -p",
        "git log -p",
        "git log --stat -u",
        "git log -1 -U0",
        "git log -L1,1:.env",
        "git log --patch -- web",
        "git -C web log -p",
        "git whatchanged -p",
        "git diff-tree -p HEAD~1 HEAD",
        "git format-patch --stdout HEAD~1",
        "git archive HEAD",
        "git add .env && git status -v",
    ];
    let commands = by_hash.iter().map(String::as_str).chain(by_name);
    let mut wrong = Vec::new();
    let mut harmless = Vec::new();
    for command in commands {
        match printed_and_asked(&root, command) {
            (true, false) => wrong.push(command),
            (false, _) => harmless.push(command),
            _ => {}
        }
    }
    assert_eq!(wrong, Vec::<&str>::new());
    assert_eq!(harmless, Vec::<&str>::new(), "the attack itself failed");
    for command in [
        "git log --oneline -5",
        "git log --stat --graph --all",
        "git show --stat HEAD",
        "git show HEAD:a.txt",
        "git show HEAD -- web/c.txt",
        "git diff --name-only HEAD~1",
        "git diff -- a.txt",
        "git diff web/c.txt",
        "git diff HEAD~1 -- 'web/*.txt'",
        "git grep TOP -- a.txt",
        "git status -sb",
        "git cat-file -t HEAD",
        "git cat-file -p HEAD",
    ] {
        assert_eq!(
            printed_and_asked(&root, command),
            (false, false),
            "{command}"
        );
    }
}

#[test]
fn a_search_reads_what_an_ignore_file_above_the_project_reveals() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, home) = (base.join("outer/project"), base.join("home"));
    fs::create_dir_all(root.join("src")).unwrap();
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::write(root.join("src/.env"), "KEY=1").unwrap();
    let may_read = |path: &str| !path.ends_with(".env");
    let paths = DiskPaths {
        root: &root,
        home: Some(&home),
        may_read: &may_read,
    };
    for file in [
        "outer/.ignore",
        "outer/.gitignore",
        ".rgignore",
        "home/.config/git/ignore",
    ] {
        let read = || paths.notable_below(&root, false).unwrap().asked_about;
        assert_eq!(read(), Vec::<String>::new(), "{file}");
        fs::write(base.join(file), "!.env\n").unwrap();
        assert_eq!(read(), ["src/.env"], "{file}");
        fs::remove_file(base.join(file)).unwrap();
    }
}
