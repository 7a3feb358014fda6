//! Texts made at random, to look for what the shell and the analysis read differently.

use std::ops::Range;

use lathe_fuzz::fuzz;
use proptest::prelude::*;

use super::{analysed, is_allowed, project};

const PIECES: &[&str] = &[
    "echo",
    "echo x",
    "touch p",
    " touch p",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    " ",
    " ",
    "'",
    "\"",
    "\\",
    "$(",
    "`",
    ")",
    "(",
    "{",
    "}",
    "#",
    " #",
    "<",
    ">",
    "<<",
    "E",
    "\nE\n",
    "$",
    "$'",
    "!",
    "\\\n",
    "\\'",
    "\\\"",
    "case",
    "esac",
    "in",
    "if",
    "then",
    "fi",
    "[",
    "]",
    "~",
    "=",
    "a=",
    "*",
    "\t",
    "''",
    "\"\"",
    "x)",
    ";;",
    "do",
    "done",
    "time",
    "coproc",
    "function f",
    "-c",
    "=~",
    "%",
    "$=",
    "$~",
    ":h",
    "${",
    "@P}",
    "a[",
    "$(touch p)",
];

fn pieces() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 1..12)
        .prop_map(|pieces| format!("echo{}", pieces.concat()))
}

const SHELLS: [&str; 3] = ["/bin/bash", "/bin/zsh", "/usr/bin/zsh"];

/// A command that passes a rule for `echo` never does more than that in a real shell.
#[test]
fn what_passes_for_echo_only_prints() {
    fuzz(300, pieces(), |command| {
        let project = project();
        if !is_allowed(&analysed(&project, &command), &["echo *"]) {
            return;
        }
        let is_there = |shell: &&&str| std::path::Path::new(shell).exists();
        for shell in SHELLS.iter().filter(is_there) {
            std::process::Command::new(shell)
                .args(["-c", &command])
                .current_dir(project.root())
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            assert!(!project.path("p").exists(), "{shell}: {command:?}");
        }
    });
}

/// What nests or repeats, besides the pieces above.
const MORE: &[&str] = &[
    "{a,b}",
    "$((",
    "${x:-",
    "sudo ",
    "env ",
    "xargs ",
    "eval ",
    "sh -c '",
    "cat <<A\n",
    "a/../",
    "-x ",
];

/// What nests, repeats or never closes is what a parser takes too long for.
#[test]
fn a_command_that_repeats_itself_is_analysed_in_time() {
    let piece = || proptest::sample::select([PIECES, MORE].concat());
    let some = |count: Range<usize>| {
        proptest::collection::vec(piece(), count).prop_map(|all| all.concat())
    };
    let repeated = (some(0..4), some(1..4), 1_usize..3_000, some(0..4));
    fuzz(20, repeated, |(first, again, times, last)| {
        analysed(&project(), &(first + &again.repeat(times) + &last));
    });
}

/// Whatever the text: no panic, and never both nothing to check and something to run.
#[test]
fn any_text_is_analysed() {
    let text = "[a-z \\-;&|$(){}<>'\"`\\\\\n*?~/.=#!\\[\\]]{0,40}";
    fuzz(256, text, |command| {
        let project = project();
        let analysis = analysed(&project, &command);
        let mut characters = command.chars();
        let runs = characters.any(|c| c.is_ascii_alphanumeric() || c == '$' || c == '`');
        let only_cd_or_comment = command.contains("cd") || command.contains('#');
        let checked = !analysis.patterns.is_empty() || analysis.is_opaque();
        assert!(checked || !runs || only_cd_or_comment, "{command:?}");
    });
}
