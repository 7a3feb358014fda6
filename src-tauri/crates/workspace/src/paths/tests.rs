//! Repositories that make git run a program, with real git: first that they do, then that no
//! command there counts as one that only reads.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use lathe_policy::shell::{PathLookup, Surroundings, analyse};
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
    analyse(command, &surroundings).only_reads()
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
