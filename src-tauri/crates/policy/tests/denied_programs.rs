//! A rule that denies a program counts however the program is spelled or started.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[path = "support/disk.rs"]
mod disk;
#[path = "support/generator.rs"]
#[allow(dead_code)]
mod generator;

use std::path::Path;

use disk::Disk;
use generator::{Dice, quoted, respelled};
use lathe_policy::decision::{Asker, Call, Mode, Need, decide};
use lathe_policy::shell::{Surroundings, analyse};
use lathe_policy::{Verdict, rule};
use lathe_protocol::{Action, ShellDialect};

/// `%` is the command inside.
const AROUND: [&str; 44] = [
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
