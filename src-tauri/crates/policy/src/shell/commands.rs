//! One simple command: its pattern, its prefix, the commands inside it.

use super::word::Word;
use super::{Findings, Reason, flags, prefix};

/// Change what later words mean, or run their arguments.
const BUILTINS: [&str; 30] = [
    "eval",
    "source",
    ".",
    "exec",
    "builtin",
    "alias",
    "unalias",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "trap",
    "enable",
    "hash",
    "set",
    "shopt",
    "bind",
    "complete",
    "compgen",
    "mapfile",
    "readarray",
    "read",
    "coproc",
    "let",
    "getopts",
    "setopt",
    "autoload",
    "zmodload",
];
/// Run what follows as the same user, with the arguments that stand there.
const WRAPPERS: [&str; 14] = [
    "env",
    "nice",
    "nohup",
    "time",
    "timeout",
    "stdbuf",
    "setsid",
    "ionice",
    "command",
    "noglob",
    "nocorrect",
    "unbuffer",
    "caffeinate",
    "chronic",
];
/// Run what follows with other arguments, elsewhere or as someone else.
const INDIRECT: [&str; 20] = [
    "xargs", "parallel", "sudo", "doas", "su", "pkexec", "runuser", "chroot", "ssh", "watch",
    "strace", "ltrace", "gdb", "flock", "entr", "script", "busybox", "unshare", "nsenter",
    "expect",
];
const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash"];

impl Findings<'_> {
    pub(super) fn command(&mut self, words: Vec<Word>, depth: usize) {
        let Some(first) = words.first() else { return };
        if first.glob || first.value.is_empty() {
            self.because(Reason::Unclear);
        }
        let path = first.value.clone();
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        if matches!(name.as_str(), "cd" | "pushd" | "popd") && path == name {
            return self.change_directory(&words);
        }
        self.pattern(joined(&words));
        if path != name {
            // A rule that denies `rm *` means `/bin/rm` too.
            let mut bare = words.clone();
            bare[0] = Word::plain(&name);
            self.pattern(joined(&bare));
        }
        self.inner_commands(&name, &words, depth);
        if flags::are_dangerous(&name, &words[1..]) {
            self.because(Reason::Flag);
        }
        self.look_at_arguments(&name, &words[1..]);
        match prefix::of(&words) {
            Some(prefix) if path == name => self.offer(format!("{prefix} *")),
            _ => self.no_prefix = true,
        }
    }

    fn offer(&mut self, pattern: String) {
        if !self.analysis.always.contains(&pattern) {
            self.analysis.always.push(pattern);
        }
    }

    fn inner_commands(&mut self, name: &str, words: &[Word], depth: usize) {
        let arguments = &words[1..];
        if BUILTINS.contains(&name) {
            self.because(Reason::ShellBuiltin);
            if matches!(name, "eval" | "trap") {
                let text: Vec<&str> = arguments.iter().map(|word| word.value.as_str()).collect();
                self.script(&text.join(" "), depth + 1);
            }
        } else if name == "printf" && arguments.first().is_some_and(|w| w.value.starts_with("-v")) {
            self.because(Reason::Assignment);
        } else if SHELLS.contains(&name) {
            self.shell(arguments, depth);
        } else if WRAPPERS.contains(&name) {
            self.no_prefix = true;
            self.wrapped(name, arguments, depth);
        } else if INDIRECT.contains(&name) {
            self.because(Reason::Indirect);
            self.wrapped(name, arguments, depth);
        } else if runs_text(name, arguments) {
            self.because(Reason::Script);
        }
    }

    fn shell(&mut self, arguments: &[Word], depth: usize) {
        let is_command = |word: &Word| {
            word.value.starts_with('-') && !word.value.starts_with("--") && word.value.contains('c')
        };
        if let Some(at) = arguments.iter().position(is_command) {
            self.because(Reason::Script);
            if let Some(script) = arguments.get(at + 1) {
                self.script(&script.value, depth + 1);
            }
        } else if arguments
            .first()
            .is_none_or(|word| word.value.starts_with('-'))
        {
            // It reads commands from its input.
            self.because(Reason::Script);
        }
    }

    fn wrapped(&mut self, name: &str, arguments: &[Word], depth: usize) {
        if name == "command"
            && arguments
                .iter()
                .any(|w| matches!(w.value.as_str(), "-v" | "-V"))
        {
            return;
        }
        if name == "env" {
            if arguments.iter().any(|word| word.value.contains('=')) {
                self.because(Reason::Assignment);
            }
            if arguments
                .iter()
                .any(|w| w.value.starts_with("-S") || w.value.starts_with("--sp"))
            {
                self.because(Reason::Script);
            }
        }
        let positional = |word: &&Word| !word.value.starts_with('-') && !word.value.contains('=');
        let own = usize::from(name == "timeout");
        let Some(start) = arguments
            .iter()
            .enumerate()
            .filter(|(_, word)| positional(word))
            .nth(own)
            .map(|(at, _)| at)
        else {
            return;
        };
        self.command(arguments[start..].to_vec(), depth + 1);
    }
}

fn joined(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(Word::canonical).collect();
    words.join(" ")
}

/// Interpreters that were handed their program on the command line.
fn runs_text(name: &str, arguments: &[Word]) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let options: &[&str] = match name {
        "python" | "pypy" => &["-c"],
        "node" | "bun" | "deno" => &[
            "-e",
            "-p",
            "--eval",
            "--print",
            "-r",
            "--require",
            "--import",
            "--loader",
            "eval",
        ],
        "perl" | "ruby" | "lua" | "luajit" => &["-e", "-E", "-r", "-l"],
        "php" => &["-r", "-B", "-R", "-E"],
        "osascript" => &["-e"],
        "psql" | "mysql" | "sqlite" | "vim" | "vi" | "nvim" | "ex" | "ed" | "emacs" | "tclsh" => {
            return true;
        }
        _ => return false,
    };
    let reads_input = arguments.is_empty() || arguments.iter().all(|word| word.value == "-");
    reads_input
        || arguments
            .iter()
            .any(|word| options.iter().any(|o| word.value.starts_with(o)))
}
