//! Commands inside commands: the text of a script, what a wrapper runs, what a program that is
//! not known may run.

use super::commands::Place;
use super::knowledge::joined;
use super::word::Word;
use super::wrappers::Wrapped;
use super::{Findings, Reason};

/// Change what later words mean, or run their arguments.
const BUILTINS: [&str; 27] = [
    "eval",
    "source",
    ".",
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
    "shopt",
    "bind",
    "complete",
    "compgen",
    "mapfile",
    "readarray",
    "read",
    "let",
    "getopts",
    "setopt",
    "autoload",
    "zmodload",
    "emulate",
];
const SHELLS: [&str; 9] = [
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "rbash",
];

/// More words of one command are not looked at.
const MOST_WORDS: usize = 100;

pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Builtins that are given how many, or a status.
pub(super) fn takes_number(name: &str) -> bool {
    matches!(
        name,
        "exit" | "return" | "shift" | "break" | "continue" | "logout"
    )
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// A shell would make more of it than one plain word.
fn is_script(value: &str) -> bool {
    value.contains([
        ' ', '\t', '\n', '{', '}', ';', '|', '&', '$', '`', '(', ')', '\'', '"', '\\', '<', '>',
    ])
}

/// The name of a program without its folder, as a rule would have it.
fn bare(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.to_lowercase()
}

impl Findings<'_> {
    /// The command may begin at any of the words, or be the text of one.
    pub(super) fn anywhere(&mut self, words: &[Word], place: Place) {
        if words.len() > MOST_WORDS {
            self.hides(Reason::Unclear);
        }
        for at in 1..words.len().min(MOST_WORDS) {
            let value = words[at].value.as_str();
            if value.starts_with('-') || value == "{}" {
                continue;
            }
            if is_script(value) {
                self.script(value, place.depth + 1);
                continue;
            }
            let name = bare(value);
            let mut inner = words[at..].to_vec();
            inner[0] = Word::plain(&name);
            self.spelling(joined(&inner));
            if is_shell(&name) && inner.len() > 1 {
                self.shell(&inner[1..], place);
            }
        }
    }

    /// A program of which nothing is known may run what follows it, or what an option says.
    pub(super) fn possibly(&mut self, words: &[Word]) {
        if words.len() > MOST_WORDS {
            self.analysis.runs_unknown = true;
        }
        for at in 1..words.len().min(MOST_WORDS) {
            self.analysis.possible.push(joined(&words[at..]));
            let value = words[at].value.as_str();
            let assigned = value.split_once('=').map(|(_, assigned)| assigned);
            for program in [Some(value), assigned].into_iter().flatten() {
                let mut rest = words[at..].to_vec();
                rest[0] = Word::plain(&bare(program));
                self.analysis.possible.push(joined(&rest));
            }
            if is_script(value) {
                let ends = |c: char| ";|&(){}!\"'`$<>\n".contains(c);
                for part in value.split(ends) {
                    let words: Vec<&str> = part.split_whitespace().take(MOST_WORDS).collect();
                    let texts = (0..words.len()).map(|from| {
                        let program = bare(words[from]);
                        [&[program.as_str()], &words[from + 1..]].concat().join(" ")
                    });
                    self.analysis.possible.extend(texts);
                }
            }
        }
    }

    pub(super) fn builtin(&mut self, name: &str, words: Vec<Word>, place: Place) {
        let text: Vec<&str> = words[1..].iter().map(|word| word.value.as_str()).collect();
        let known = words[1..].iter().all(Word::is_known);
        let reason = match name {
            "export" | "declare" | "typeset" | "local" | "readonly" | "unset" => Reason::Assignment,
            "alias" => Reason::Definition,
            _ => Reason::ShellBuiltin,
        };
        match name {
            "eval" | "trap" if known => {
                self.because(reason);
                self.script(&text.join(" "), place.depth + 1);
            }
            "export" | "unset" => self.because(reason),
            _ => self.hides(reason),
        }
        self.because(Reason::ShellBuiltin);
        self.variables.set.clear();
        self.opaque(words, reason, place);
    }

    pub(super) fn shell(&mut self, arguments: &[Word], place: Place) {
        if !arguments.iter().all(Word::is_known) {
            // It may become an option.
            self.hides(Reason::Script);
        }
        let is_command = |word: &Word| {
            word.value.starts_with('-') && !word.value.starts_with("--") && word.value.contains('c')
        };
        let is_option = |word: &Word| word.value.starts_with(['-', '+']);
        if let Some(at) = arguments.iter().position(is_command) {
            self.because(Reason::Script);
            match arguments.get(at + 1) {
                Some(script) if script.is_known() && !is_option(script) => {
                    self.script(&script.value, place.depth + 1);
                }
                // One of these options may have a value of its own.
                _ => self.hides(Reason::Script),
            }
        } else if arguments.iter().all(is_option) {
            self.reads_commands = true;
            self.hides(Reason::Script);
        } else if is_option(&arguments[0]) {
            self.hides(Reason::Script);
        }
    }

    pub(super) fn transparent(
        &mut self,
        name: &str,
        words: Vec<Word>,
        wrapped: Wrapped,
        place: Place,
    ) {
        let looks_up = words
            .get(1)
            .is_some_and(|word| matches!(word.value.as_str(), "-v" | "-V"));
        if name == "command" && looks_up {
            return self.leaf(name, words, place);
        }
        if wrapped.start >= words.len() && wrapped.script.is_none() {
            // Nothing is run: `env` alone prints the variables.
            return self.leaf(name, words, place);
        }
        for assignment in &wrapped.assignments {
            self.assignment_for_command(assignment);
        }
        self.inner(words, wrapped, place);
    }

    pub(super) fn inner(&mut self, mut words: Vec<Word>, wrapped: Wrapped, place: Place) {
        let place = Place {
            wrapped: true,
            ..place
        };
        if let Some(directory) = wrapped.enters {
            self.enter(&directory);
        }
        if let Some(script) = wrapped.script {
            self.because(Reason::Script);
            // `env -S` has escapes and variables of its own.
            if script.contains(['\\', '$']) {
                self.hides(Reason::Script);
            }
            self.script(&script, place.depth + 1);
        }
        if wrapped.start >= words.len() {
            return;
        }
        let mut inner = words.split_off(wrapped.start);
        if let Some(placeholder) = &wrapped.replaces {
            for word in &mut inner {
                let found = word.value.find(placeholder.as_str());
                word.unknown = word.unknown.or(found);
            }
        }
        if wrapped.appends {
            inner.push(Word::more());
        }
        self.command(inner, place);
    }
}
