//! One simple command: what it is and what it needs. Commands inside it are in [`inside`].

use super::knowledge::{Knowledge, SimpleCommand, joined, judge, program};
use super::options::Understanding;
use super::table::{self, Kind, Table};
use super::word::Word;
use super::wrappers::{Wrapping, unwrap};
use super::{Effects, Findings, Reason, danger, inside, parameter, prefix};

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
        // A subscript with blanks in it goes on in the next words.
        let sets = first.bare && first.value.contains('[') && !first.value.starts_with('[');
        if !first.is_known() || first.value.is_empty() || sets {
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
        if inside::is_builtin(&name) {
            return self.builtin(&name, words, place);
        }
        if inside::takes_number(&name) && !words[1..].iter().all(is_number) {
            // Some shells evaluate it, which can run commands.
            self.hides(Reason::Unclear);
        }
        if inside::is_shell(&name) {
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
        for at in 2..words.len() {
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

    pub(super) fn opaque(&mut self, words: Vec<Word>, reason: Reason, place: Place) {
        self.analysis.reasons.insert(reason);
        // By what is not understood, it may run any program. An interpreter may anyway, whatever its
        // words are: a rule that denies a program says nothing of those.
        self.analysis.runs_unknown |= !words
            .first()
            .is_some_and(|first| is_interpreter(&first.value));
        self.no_prefix = true;
        self.look_at_all(&words[1..]);
        let command = SimpleCommand::new(words, Knowledge::Opaque(reason), place.piped);
        self.analysis.commands.push(command);
    }

    /// Harmless ones are looked through; any other could change what the program does.
    pub(super) fn assignment_for_command(&mut self, assignment: &str) {
        const PLAIN: [&str; 17] = [
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
            "TERM",
        ];
        let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        let simple = |c: char| c.is_ascii_alphanumeric() || "_.,:=-".contains(c);
        let off = match name {
            "PAGER" | "GIT_PAGER" => value == "cat",
            "GIT_OPTIONAL_LOCKS" => value == "0",
            _ => false,
        };
        let plain = PLAIN.contains(&name) && value.chars().all(simple);
        if !off && !plain {
            self.analysis.runs_unknown = true;
            self.because(Reason::Assignment);
        }
    }

    /// A command that runs nothing but its program.
    pub(super) fn leaf(&mut self, name: &str, words: Vec<Word>, place: Place) {
        let read = match judge(&words, 0, place.piped) {
            Ok(read) => read,
            Err(reason) => {
                // Some of their options run a command.
                match name {
                    "find" | "fd" | "fdfind" | "git" => self.anywhere(&words, place),
                    _ => self.possibly(&words),
                }
                if removes(name) {
                    words[1..]
                        .iter()
                        .for_each(|word| self.protect_project(word));
                }
                return self.opaque(words, reason, place);
            }
        };
        if runs_text(name, &words[1..]) {
            self.because(Reason::Script);
            self.analysis.hides_program = true;
        }
        // The settings that count are those of the directory it works in.
        let outer = self.directories.len();
        self.enter_of(&read);
        let mut effects = read.effects;
        if read.config && self.is_configured_to_run(name) {
            effects = effects.and(Effects::parse("x"));
        }
        let inner = self.look_at_uses(&read, effects);
        self.directories.truncate(outer);
        self.suggest(&words, &read, effects, place);
        let possible_runner = effects == Effects::ALL && !read.name.contains(' ');
        if possible_runner {
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
        let may_differ = !effects.network || read.wide;
        let pattern = match may_differ && command.is_covered_by(&pattern) {
            true => pattern,
            // The prefix stands for less than this, or the other words say what is fetched or who
            // is sent something: only the very same is offered.
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

fn is_number(word: &Word) -> bool {
    word.is_known() && parameter::is_digits(&word.value)
}

/// It deletes or moves away what it names.
fn removes(name: &str) -> bool {
    let removed = |table: &Table| table.operands.iter().any(|one| one.kind == Kind::Remove);
    name == "mv" || table::find(name).is_some_and(removed)
}

/// Interpreters that were handed their program on the command line or take it from their input.
fn runs_text(name: &str, arguments: &[Word]) -> bool {
    is_interpreter(name) && arguments.iter().all(|word| word.value == "-")
}

fn is_interpreter(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
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
    )
}
