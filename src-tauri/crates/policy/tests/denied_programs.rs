//! A rule that denies a program counts however the program is spelled or started.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "support/disk.rs"]
mod disk;
#[path = "support/generator.rs"]
#[allow(dead_code)]
mod generator;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use disk::Disk;
use generator::{Dice, quoted, respelled};
use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Surroundings, analyse};
use lathe_policy::{Verdict, rule};
use lathe_protocol::{Action, ShellDialect};

/// `%` is the command inside.
const AROUND: [&str; 46] = [
    "%",
    "env %",
    "env -i %",
    "env -u X %",
    "env A=1 %",
    "env -- %",
    "timeout 5 %",
    "timeout -s KILL 5 %",
    "timeout -k 1 5 %",
    "nice %",
    "nice -n 5 %",
    "nice -5 %",
    "ionice -c 3 %",
    "nohup %",
    "setsid -w %",
    "stdbuf -oL %",
    "time %",
    "time -p %",
    "command %",
    "command -p %",
    "exec %",
    "sudo %",
    "sudo -u root %",
    "doas %",
    "busybox %",
    "ls | xargs %",
    "ls | xargs -0 -n 1 %",
    "find . -exec % {} +",
    "find . -exec % {} \\;",
    "find . -name x -exec % \\;",
    "ls && %",
    "ls; %",
    "ls | %",
    "ls & %",
    "(%)",
    "{ %; }",
    "! %",
    "if true; then %; fi",
    "for f in a b; do %; done",
    "while true; do %; done",
    "echo $(%)",
    "echo ${x:-$(%)}",
    "a[$(%)]=1",
    "echo `%`",
    "f() { %; }; f",
    "A=1 %",
];

fn spelled(dice: &mut Dice) -> String {
    const NAMES: [&str; 12] = [
        "rm",
        "/bin/rm",
        "/usr/bin/rm",
        "\\rm",
        "'rm'",
        "\"rm\"",
        "r''m",
        "r\\m",
        "{rm,-f}",
        "r{m,m}",
        "RM",
        "./rm",
    ];
    let mut command = (*dice.pick(&NAMES)).to_owned();
    for _ in 0..dice.roll(3) {
        let word = *dice.pick(&["-f", "-rf", "x", "a.txt", "--force", "src"]);
        command = format!("{command} {}", respelled(dice, word.to_owned()));
    }
    for _ in 0..=dice.roll(3) {
        let around = *dice.pick(&AROUND);
        // One of these inside another would end it.
        if around.contains('`') && command.contains('`') {
            continue;
        }
        // Compound commands are no words that a program could be given.
        let words = command.starts_with(['(', '{', '!'])
            || command.contains([';', '|', '&', '`', '\n'])
            || ["if ", "for ", "while ", "time ", "A="]
                .iter()
                .any(|word| command.starts_with(word));
        let takes_words = !around.contains("; %")
            && (around.ends_with(" %") || around.contains("-exec"))
            && !around.contains(['&', '!'])
            && around != "ls | %"
            && around != "time %"
            && around != "time -p %";
        command = match words && takes_words {
            true => format!("sh -c {}", quoted(&command)),
            false => around.replace('%', &command),
        };
    }
    command
}

fn verdict(command: &str, root: &Path) -> Verdict {
    let paths = Disk { root, home: None };
    let surroundings = Surroundings {
        directory: root,
        home: None,
        dialect: ShellDialect::Posix,
        paths: &paths,
    };
    let needs = Need::of_command(&analyse(command, &surroundings));
    let rules = [
        rule("*", "*", Action::Allow),
        rule("bash", "rm *", Action::Deny),
    ];
    let askers = [Asker {
        name: "build",
        rules: &rules,
    }];
    let call = Call {
        askers: &askers,
        mode: Mode::FullAccess,
        approved: &[],
        granted: &[],
        needs: &needs,
    };
    decide(&call).verdict
}

#[test]
fn no_spelling_of_a_denied_program_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut dice = Dice::new(7);
    let mut asked = 0;
    let count = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 50_000,
        None => 3_000,
    };
    for _ in 0..count {
        let command = spelled(&mut dice);
        match verdict(&command, &root) {
            Verdict::Deny(_) => {}
            Verdict::Ask => asked += 1,
            Verdict::Allow => panic!("{command:?} is allowed"),
        }
    }
    // Scripts in scripts in scripts are not read any more.
    assert!(
        asked * 5 < count,
        "{asked} of {count} were only asked about"
    );
}

/// Texts that the shell evaluates, with a command in quotes in them.
const EVALUATED: [&str; 12] = [
    "x='$(%)'; echo ${x@P}",
    "x='a[$(%)]'; echo ${!x}",
    "x='a[$(%)]'; y=1; echo ${y:x}",
    "x='a[$(%)]'; a=(1); echo ${a[x]}",
    "x='a[$(%)]'; a[x]=1",
    "x='a[$(%)]'; a[ x ]+=1",
    "x='a[$(%)]'; [[ $x -eq 0 ]]",
    "[[ -v 'a[$(%)]' ]]",
    "a=(1); unset 'a[$(%)]'",
    "test -v 'a[$(%)]'",
    "declare -i x='a[$(%)]'",
    "x='%'; eval \"$x\"",
];

#[test]
fn a_denied_program_in_a_text_that_the_shell_evaluates_is_not_allowed() {
    let place = Place::new();
    let mut dice = Dice::new(8);
    for around in EVALUATED {
        let plain = around.replace('%', "rm x");
        // Older shells lack some of these.
        let runs = place.runs_it("/bin/bash", &plain);
        assert!(runs || cfg!(not(target_os = "linux")), "{plain:?}");
        for _ in 0..40 {
            let inner = spelled(&mut dice);
            if inner.contains('\'') {
                continue;
            }
            let command = around.replace('%', &inner);
            let allowed = verdict(&command, &place.root) == Verdict::Allow;
            assert!(!allowed, "{command:?} is allowed");
        }
    }
}

const PIECES: [&str; 64] = [
    "rm p",
    "$(rm p)",
    "`rm p`",
    "x='a[$(rm p)]'; ",
    "x='$(rm p)'; ",
    "x='rm p'; ",
    "y=rm; ",
    "y=1; ",
    "a=(1); ",
    "echo ",
    "$x",
    "\"$x\"",
    "$y p",
    "${x",
    "${y",
    "${!x",
    "${#x",
    "@P}",
    ":x}",
    ":0:1}",
    ":-",
    "}",
    "[x]",
    "[0]",
    "a[x]=1",
    "a[ x ]=1",
    "b=",
    "; ",
    " && ",
    " || ",
    " | ",
    "[[ ",
    " -eq 0 ]]",
    " == 1 ]]",
    "-v x ",
    "-v 'a[$(rm p)]' ",
    "$((x))",
    "((x))",
    "test ",
    "[ ",
    " ]",
    "printf %d ",
    "printf -v ",
    "unset ",
    "let ",
    "eval ",
    "declare -i y=",
    "exit ",
    "=",
    "'",
    "\"",
    " ",
    "\n",
    "{x,y}",
    "! ",
    "trap ",
    " EXIT",
    "x",
    "export ",
    "( ",
    " )",
    "$~",
    "$=",
    "{ ",
];

const SHELLS: [&str; 3] = ["/bin/bash", "/bin/zsh", "/usr/bin/zsh"];

/// Where commands find one program: an `rm` that says that it ran.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    programs: PathBuf,
    mark: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let place = Self {
            root: base.join("project"),
            programs: base.join("programs"),
            mark: base.join("mark"),
            _folder: folder,
        };
        std::fs::create_dir(&place.root).unwrap();
        std::fs::create_dir(&place.programs).unwrap();
        let rm = place.programs.join("rm");
        let script = format!("#!/bin/sh\n: > '{}'\n", place.mark.display());
        std::fs::write(&rm, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&rm, mode).unwrap();
        place
    }

    fn runs_it(&self, shell: &str, command: &str) -> bool {
        let _ = std::fs::remove_file(&self.mark);
        Command::new(shell)
            .args(["-c", command])
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", &self.programs)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        self.mark.exists()
    }
}

#[test]
fn a_command_that_really_runs_a_denied_program_is_not_allowed() {
    let place = Place::new();
    let shells: Vec<&str> = SHELLS
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
        .collect();
    let count = match std::env::var_os("LATHE_SOAK") {
        Some(_) => 30_000,
        None => 1_500,
    };
    let mut dice = Dice::new(9);
    let mut ran = 0;
    for _ in 0..count {
        let pieces = 2 + dice.roll(7);
        let command: String = (0..pieces).map(|_| *dice.pick(&PIECES)).collect();
        let allowed = verdict(&command, &place.root) == Verdict::Allow;
        for shell in &shells {
            let runs = place.runs_it(shell, &command);
            ran += usize::from(runs);
            assert!(!(runs && allowed), "{shell}: {command:?} is allowed");
        }
    }
    assert!(ran * 20 > count, "only {ran} of {count} ran it");
}
