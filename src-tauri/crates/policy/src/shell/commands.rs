//! One simple command: what it is, the commands inside it, and what they need.

use super::knowledge::{Knowledge, SimpleCommand, joined, judge, program};
use super::options::Understanding;
use super::word::Word;
use super::wrappers::{Wrapped, Wrapping, unwrap};
use super::{Effects, Findings, Reason, danger, prefix};

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

/// Where a simple command is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// It reads the output of another.
    pub piped: bool,
    /// Scripts around it.
    pub depth: usize,
    /// It is inside another command, so that no prefix of it can be offered.
    pub wrapped: bool,
}

impl Findings<'_> {
    pub(super) fn command(&mut self, words: Vec<Word>, place: Place) {
        let Some(first) = words.first() else { return };
        if !first.is_known() || first.value.is_empty() {
            return self.hidden_program(words, place);
        }
        let path = first.value.clone();
        if matches!(path.as_str(), "cd" | "pushd" | "popd") {
            return self.change_directory(&words);
        }
        let name = self.spell(&path, &words);
        if let Some(danger) = danger::find(&name, &words) {
            self.analysis.dangers.push(danger);
        }
        if BUILTINS.contains(&name.as_str()) {
            return self.builtin(&name, words, place);
        }
        if SHELLS.contains(&name.as_str()) {
            self.shell(&words[1..], place);
            return self.leaf(&name, words, place);
        }
        match unwrap(&name, &words) {
            Wrapping::No => self.leaf(&name, words, place),
            Wrapping::Transparent(wrapped) => self.transparent(&name, words, wrapped, place),
            Wrapping::Indirect(wrapped) => {
                let reason = match name.as_str() {
                    "exec" => Reason::ShellBuiltin,
                    _ => Reason::Indirect,
                };
                self.because(reason);
                self.opaque(words.clone(), reason, place);
                self.inner(words, wrapped, place);
            }
            Wrapping::Anywhere => {
                self.hides(Reason::Indirect);
                self.anywhere(&words, place);
                self.opaque(words, Reason::Indirect, place);
            }
        }
    }

    /// Offers every spelling to rules that deny; returns the bare name.
    fn spell(&mut self, path: &str, words: &[Word]) -> String {
        self.pattern(joined(words));
        let name = path.rsplit('/').next().unwrap_or(path);
        // In zsh `=rm` is the path of `rm`.
        let name = name.trim_start_matches('=').to_owned();
        let spelled = |name: &str| {
            let mut words = words.to_vec();
            words[0] = Word::plain(name);
            joined(&words)
        };
        if path != name {
            // A rule that denies `rm *` means `/bin/rm` too.
            self.pattern(spelled(&name));
        }
        // Where names differ only by case, so do programs; Windows adds an ending.
        let folded = name.to_lowercase();
        let bare = folded.strip_suffix(".exe").unwrap_or(&folded);
        if bare != name {
            self.spelling(spelled(bare));
        }
        if words
            .get(1)
            .is_some_and(|word| word.value.starts_with(['-', '+']))
        {
            self.without_options(bare, words);
        }
        name
    }

    /// `git -C . push` is a `git push`. Which option takes a value only the program knows, so
    /// each word that is no option may be the subcommand.
    fn without_options(&mut self, name: &str, words: &[Word]) {
        const MOST: usize = 12;
        for at in 2..words.len().min(MOST) {
            if !words[at].value.starts_with('-') {
                self.spelling(format!("{name} {}", joined(&words[at..])));
            }
        }
    }

    fn hidden_program(&mut self, words: Vec<Word>, place: Place) {
        let reason = match words[0].glob.is_some() || words[0].value.is_empty() {
            true => Reason::Unclear,
            false => Reason::Hidden,
        };
        self.hides(reason);
        self.pattern(joined(&words));
        self.anywhere(&words, place);
        self.opaque(words, reason, place);
    }

    /// The command may begin at any of the words, or be the text of one.
    fn anywhere(&mut self, words: &[Word], place: Place) {
        const MOST: usize = 16;
        for at in 1..words.len().min(MOST) {
            let value = &words[at].value;
            if value.starts_with('-') {
                continue;
            }
            if value.contains(' ') {
                self.script(value, place.depth + 1);
            } else {
                let name = value.rsplit('/').next().unwrap_or(value).to_lowercase();
                let mut inner = words[at..].to_vec();
                inner[0] = Word::plain(&name);
                self.spelling(joined(&inner));
            }
        }
    }

    fn opaque(&mut self, words: Vec<Word>, reason: Reason, place: Place) {
        self.analysis.reasons.insert(reason);
        self.no_prefix = true;
        self.look_at_all(&words[1..]);
        let command = SimpleCommand::new(words, Knowledge::Opaque(reason), place.piped);
        self.analysis.commands.push(command);
    }

    fn builtin(&mut self, name: &str, words: Vec<Word>, place: Place) {
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

    fn shell(&mut self, arguments: &[Word], place: Place) {
        let is_command = |word: &Word| {
            word.value.starts_with('-') && !word.value.starts_with("--") && word.value.contains('c')
        };
        if let Some(at) = arguments.iter().position(is_command) {
            self.because(Reason::Script);
            let text = arguments[at + 1..]
                .iter()
                .find(|word| !word.value.starts_with(['-', '+']));
            match text {
                Some(script) if script.is_known() => self.script(&script.value, place.depth + 1),
                _ => self.hides(Reason::Script),
            }
        } else if arguments
            .iter()
            .all(|word| word.value.starts_with(['-', '+']))
        {
            self.reads_commands = true;
            self.hides(Reason::Script);
        } else if arguments[0].value.starts_with('-') {
            self.because(Reason::Script);
        }
    }

    fn transparent(&mut self, name: &str, words: Vec<Word>, wrapped: Wrapped, place: Place) {
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

    fn inner(&mut self, words: Vec<Word>, wrapped: Wrapped, place: Place) {
        let place = Place {
            wrapped: true,
            ..place
        };
        if let Some(directory) = wrapped.enters {
            self.enter(&directory);
        }
        if let Some(script) = wrapped.script {
            self.because(Reason::Script);
            self.script(&script, place.depth + 1);
        }
        if wrapped.start < words.len() {
            self.command(words[wrapped.start..].to_vec(), place);
        }
    }

    /// Harmless ones are looked through; any other could change what the program does.
    pub(super) fn assignment_for_command(&mut self, assignment: &str) {
        const PLAIN: [&str; 18] = [
            "CI",
            "NO_COLOR",
            "FORCE_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "RUST_BACKTRACE",
            "RUST_LOG",
            "NODE_ENV",
            "LC_ALL",
            "LANG",
            "LC_COLLATE",
            "TZ",
            "COLUMNS",
            "CARGO_TERM_COLOR",
            "PYTHONUNBUFFERED",
            "PYTHONDONTWRITEBYTECODE",
            "GIT_OPTIONAL_LOCKS",
            "TERM",
        ];
        let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let simple = |c: char| c.is_ascii_alphanumeric() || "_.,:=-".contains(c);
        let cat = matches!(name, "PAGER" | "GIT_PAGER") && value == "cat";
        if !cat && !(PLAIN.contains(&name) && value.chars().all(simple)) {
            self.because(Reason::Assignment);
        }
    }

    /// A command that runs nothing but its program.
    fn leaf(&mut self, name: &str, words: Vec<Word>, place: Place) {
        let read = match judge(&words, 0, place.piped) {
            Ok(read) => read,
            Err(reason) => {
                // Some of their options run a command.
                match name {
                    "find" | "fd" | "fdfind" | "git" => self.anywhere(&words, place),
                    _ => self.possibly(&words),
                }
                return self.opaque(words, reason, place);
            }
        };
        if runs_text(name, &words[1..]) {
            self.because(Reason::Script);
            self.analysis.hides_program = true;
        }
        let mut effects = read.effects;
        if read.config && self.is_configured_to_run(name) {
            effects = effects.and(Effects::parse("x"));
        }
        let inner = self.look_at_uses(&read, effects);
        self.suggest(&words, &read, effects, place);
        let possible_runner = effects == Effects::ALL && !read.name.contains(' ');
        if possible_runner && place.depth == 0 {
            self.possibly(&words);
        }
        let knowledge = Knowledge::Understood {
            name: read.name,
            effects,
        };
        let command = SimpleCommand::new(words, knowledge, place.piped);
        self.analysis.commands.push(command);
        for words in inner {
            self.command(
                words,
                Place {
                    wrapped: true,
                    piped: true,
                    ..place
                },
            );
        }
    }

    /// A program of which nothing is known may be a wrapper.
    fn possibly(&mut self, words: &[Word]) {
        const MOST: usize = 8;
        for at in 1..words.len().min(MOST) {
            self.analysis.possible.push(joined(&words[at..]));
        }
    }

    fn suggest(&mut self, words: &[Word], read: &Understanding, effects: Effects, place: Place) {
        let path = &words[0].value;
        let prefix = prefix::find(words);
        let own = program(path) == path;
        let Some(prefix) = prefix.filter(|_| own && read.inner.is_empty() && !place.wrapped) else {
            self.no_prefix = true;
            return;
        };
        let knowledge = Knowledge::Understood {
            name: read.name.clone(),
            effects,
        };
        let command = SimpleCommand::new(words.to_vec(), knowledge, place.piped);
        let pattern = format!("{prefix} *");
        let pattern = match command.is_covered_by(&pattern) {
            true => pattern,
            // The prefix stands for less than this: only the very same is offered.
            false if !command.text.contains(['*', '?', '\'']) => command.text,
            false => {
                self.no_prefix = true;
                return;
            }
        };
        if !self.analysis.always.contains(&pattern) {
            self.analysis.always.push(pattern);
        }
    }
}

/// Interpreters that were handed their program on the command line or take it from their input.
fn runs_text(name: &str, arguments: &[Word]) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let interpreter = matches!(
        name,
        "python"
            | "pypy"
            | "node"
            | "bun"
            | "deno"
            | "perl"
            | "ruby"
            | "lua"
            | "luajit"
            | "php"
            | "osascript"
            | "psql"
            | "mysql"
            | "sqlite"
            | "vim"
            | "vi"
            | "nvim"
            | "ex"
            | "ed"
            | "emacs"
            | "tclsh"
            | "irb"
            | "ghci"
            | "R"
            | "Rscript"
            | "julia"
            | "octave"
    );
    interpreter && arguments.iter().all(|word| word.value == "-")
}
