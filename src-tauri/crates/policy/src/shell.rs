//! What a shell command would do, as far as its text tells.
//!
//! A command line is parsed into simple commands, and each is read by the table of its program:
//! it is *understood* if every word is known there. Whatever the text does not tell for certain
//! (a substitution, a redirect, a variable, an option that no table lists…) makes it *opaque*:
//! then no rule for some commands may let it pass. When in doubt it is opaque; that costs a
//! question, the opposite could cost the user's files.

mod braces;
mod catalog;
mod commands;
pub mod config;
mod danger;
mod directories;
mod effects;
mod git_format;
mod ignore;
mod inside;
mod knowledge;
mod lex;
mod options;
mod parameter;
mod parse;
mod places;
mod prefix;
mod raw;
mod reason;
mod special;
mod syntax;
mod table;
mod walk;
mod word;
mod wrappers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lathe_protocol::ShellDialect;

pub use catalog::{KnownOption, KnownProgram, Meaning, catalog};
pub use danger::Danger;
pub use effects::Effects;
pub use ignore::SearchPattern;
pub use knowledge::{Knowledge, SimpleCommand};
pub use reason::Reason;

use crate::protected::Protected;
use syntax::HereDocument;

/// Where the command would run.
pub struct Surroundings<'a> {
    pub directory: &'a Path,
    pub home: Option<&'a Path>,
    pub dialect: ShellDialect,
    pub paths: &'a dyn PathLookup,
}

/// What the analysis must know of the file system; the caller answers.
pub trait PathLookup {
    /// Where a path, as it is written, leads from a directory. None where that is unclear.
    fn locate(&self, written: &str, from: &Path) -> Option<Located>;

    /// The symbolic links directly in a directory.
    fn links_in(&self, directory: &Path) -> Vec<PathBuf>;

    /// The names directly in a directory, for wildcards; None where there are too many.
    fn names_in(&self, _directory: &Path) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// Files below a directory that a person wants to be asked about, as rules see them, and
    /// links there that lead out of the project; None where there are too many files to say.
    fn notable_below(&self, _directory: &Path, _hidden: bool) -> Option<Notable> {
        Some(Notable::default())
    }

    /// Files that git has a record of and that a person wants to be asked about, as rules see them;
    /// None where that is not known.
    fn tracked_notable(&self, _directory: &Path) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// Whether files of the project make this program run others, such as `core.fsmonitor` in
    /// the config of a repository.
    fn is_configured_to_run(&self, _program: &str, _from: &Path) -> bool {
        false
    }
}

/// What is worth a question below a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notable {
    /// As rules see them.
    pub asked_about: Vec<String>,
    /// Directories outside the project that links lead to.
    pub outside: Vec<PathBuf>,
}

/// A path with all symbolic links followed; its last parts need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    /// As rules see it: relative to the project with `/`, or absolute.
    pub shown: String,
    /// It lies in the project.
    pub inside: bool,
    pub exists: bool,
    pub is_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// Everything that may run, for rules that deny: each simple command, and the wrappers
    /// around it. Empty if there is only a `cd` that stays in the project.
    pub patterns: Vec<String>,
    /// Other spellings of the same, without options before a subcommand or folders before a
    /// program; only for rules that deny.
    pub spellings: Vec<String>,
    /// Texts that may be commands, if their program runs what follows it.
    pub possible: Vec<String>,
    /// What must be allowed.
    pub commands: Vec<SimpleCommand>,
    /// What "always" would add; empty if it must not be offered.
    pub always: Vec<String>,
    /// Why its words do not tell everything.
    pub reasons: BTreeSet<Reason>,
    /// Those of them that are about the whole line, not about one simple command.
    pub line_reasons: BTreeSet<Reason>,
    /// It may run any program: no rule that denies one can be sure.
    pub hides_program: bool,
    /// A program in it that is known may run any other, by an option or a text.
    pub runs_unknown: bool,
    /// Directories outside the project that the command names.
    pub outside: BTreeSet<PathBuf>,
    /// Files whose content it reads, as rules see them.
    pub reads: BTreeSet<String>,
    /// Names that it looks at.
    pub lists: BTreeSet<String>,
    /// Files that it is known to write.
    pub writes: BTreeSet<String>,
    /// What it may write although it is protected.
    pub protected: Vec<Protected>,
    pub dangers: Vec<Danger>,
}

impl Analysis {
    pub fn is_opaque(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// Every part of it is known to read and to do nothing else.
    pub fn only_reads(&self) -> bool {
        let read = self.commands.iter().all(SimpleCommand::only_reads);
        read && !self.is_opaque() && !self.hides_program && self.writes.is_empty()
    }

    /// Every part of it is understood, and those that do more than read are git changing its own
    /// record of the project: nothing else would write to a repository that is opened for it.
    pub fn changes_only_git(&self) -> bool {
        let mut commands = self.commands.iter();
        let harmless = |one: &SimpleCommand| one.only_reads() || one.is_named(&GIT_CHANGES);
        commands.all(harmless) && !self.only_reads() && !self.is_opaque() && !self.hides_program
    }
}

/// Subcommands of git that change its index, objects and references, and files of the project.
const GIT_CHANGES: [&str; 20] = [
    "git add",
    "git branch",
    "git checkout",
    "git cherry-pick",
    "git commit",
    "git merge",
    "git mv",
    "git reset",
    "git restore",
    "git revert",
    "git rm",
    "git stash",
    "git stash apply",
    "git stash drop",
    "git stash pop",
    "git stash push",
    "git stash save",
    "git switch",
    "git tag",
    "git update-index",
];

pub fn analyse(command: &str, surroundings: &Surroundings) -> Analysis {
    let mut findings = Findings::new(surroundings);
    match surroundings.dialect {
        ShellDialect::Posix => findings.script(command, 0),
        ShellDialect::PowerShell => findings.plain_words(command),
    }
    findings.finish(command)
}

/// What is found on the way through a command.
struct Findings<'a> {
    surroundings: &'a Surroundings<'a>,
    analysis: Analysis,
    variables: word::Variables<'a>,
    /// Where a relative path may start: each `cd` adds one.
    directories: Vec<PathBuf>,
    /// A command for which no prefix can be offered.
    no_prefix: bool,
    /// A shell that takes commands from its input.
    reads_commands: bool,
    here_documents: Vec<HereDocument>,
}

impl<'a> Findings<'a> {
    fn new(surroundings: &'a Surroundings<'a>) -> Self {
        Self {
            surroundings,
            analysis: Analysis::default(),
            variables: word::Variables {
                home: surroundings.home,
                ..word::Variables::default()
            },
            directories: vec![surroundings.directory.to_owned()],
            no_prefix: false,
            reads_commands: false,
            here_documents: Vec::new(),
        }
    }

    /// About the whole line.
    fn because(&mut self, reason: Reason) {
        self.analysis.hides_program |= reason == Reason::Hidden;
        self.analysis.reasons.insert(reason);
        self.analysis.line_reasons.insert(reason);
    }

    /// Which program runs is not known.
    fn hides(&mut self, reason: Reason) {
        self.analysis.hides_program = true;
        self.because(reason);
    }

    fn pattern(&mut self, pattern: String) {
        if !self.analysis.patterns.contains(&pattern) {
            self.analysis.patterns.push(pattern);
        }
    }

    fn spelling(&mut self, pattern: String) {
        if !self.analysis.spellings.contains(&pattern) {
            self.analysis.spellings.push(pattern);
        }
    }

    /// PowerShell is not parsed: only a single command of plain words is taken for what it is.
    fn plain_words(&mut self, command: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=,+@\\".contains(c);
        if !command.chars().all(is_plain) {
            self.hides(Reason::Unclear);
            let separators = |c: char| ";|&(){}\n\r'\"`$".contains(c);
            for part in command.split(separators).map(str::trim) {
                if !part.is_empty() {
                    self.spelling(part.to_lowercase());
                }
            }
            return self.pattern(command.trim().to_owned());
        }
        let words: Vec<_> = command.split_whitespace().map(word::Word::plain).collect();
        // These are names of other commands there, with other options.
        let borrowed = [
            "cat", "cp", "curl", "diff", "echo", "kill", "ls", "mv", "ps", "pwd", "rm", "rmdir",
            "sleep", "sort", "tee", "type", "wget", "where", "man", "mount", "clear", "history",
        ];
        let name = words.first().map_or("", |word| word.value.as_str());
        let options = words.iter().skip(1).any(|word| word.value.starts_with('-'));
        if borrowed.contains(&name.to_lowercase().as_str()) && options {
            self.because(Reason::UnknownOption);
        }
        self.command(words, commands::Place::default());
    }

    fn finish(mut self, command: &str) -> Analysis {
        if self.reads_commands {
            for document in std::mem::take(&mut self.here_documents) {
                self.script(&document.text, 1);
            }
        }
        if self.analysis.patterns.is_empty() && self.analysis.is_opaque() {
            self.pattern(command.trim().to_owned());
        }
        self.look_at_directories();
        if self.no_prefix || self.analysis.is_opaque() || !self.analysis.protected.is_empty() {
            self.analysis.always.clear();
        }
        self.analysis
    }
}
