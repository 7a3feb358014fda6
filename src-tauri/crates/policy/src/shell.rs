//! What a shell command would do, as far as its text tells.
//!
//! The result is a list of simple commands for rules to be matched against. Whatever the text
//! does not tell for certain (a substitution, a redirect, a variable, a flag that runs another
//! program…) makes the command *opaque*: then no rule for some commands may let it pass. When
//! in doubt it is opaque; that costs a question, the opposite could cost the user's files.

mod commands;
mod flags;
mod places;
mod prefix;
mod raw;
mod tree;
mod word;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lathe_protocol::ShellDialect;

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
}

/// A path with all symbolic links followed; its last parts need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    /// It lies in the project.
    pub inside: bool,
    pub exists: bool,
    pub is_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Analysis {
    /// One for each simple command; all must be allowed. Empty if there is only a `cd` that
    /// stays in the project.
    pub patterns: Vec<String>,
    /// What "always" would add; empty if it must not be offered.
    pub always: Vec<String>,
    /// Why the patterns do not tell everything.
    pub reasons: BTreeSet<Reason>,
    /// Directories outside the project that the command names.
    pub outside: BTreeSet<PathBuf>,
}

impl Analysis {
    pub fn is_opaque(&self) -> bool {
        !self.reasons.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Reason {
    #[error("it could not be parsed")]
    ParseError,
    #[error("it redirects to or from a file")]
    Redirect,
    #[error("it substitutes the output of another command")]
    Substitution,
    #[error("it contains a here-document")]
    Heredoc,
    #[error("it sets variables")]
    Assignment,
    #[error("it uses variables whose values are not known here")]
    Variable,
    #[error("it defines a function or an alias")]
    Definition,
    #[error("it changes how the shell works, or has it run text as commands")]
    ShellBuiltin,
    #[error("it runs a program given as text")]
    Script,
    #[error("it runs another command with arguments not known here, or as another user")]
    Indirect,
    #[error("it has an option that writes files or runs other programs")]
    Flag,
    #[error("it contains characters that hide what it does")]
    Deceptive,
    #[error("it contains something this check does not understand")]
    Unclear,
}

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
    /// Where a relative path may start: each `cd` adds one.
    directories: Vec<PathBuf>,
    /// A command for which no prefix can be offered.
    no_prefix: bool,
}

impl<'a> Findings<'a> {
    fn new(surroundings: &'a Surroundings<'a>) -> Self {
        Self {
            surroundings,
            analysis: Analysis::default(),
            directories: vec![surroundings.directory.to_owned()],
            no_prefix: false,
        }
    }

    fn because(&mut self, reason: Reason) {
        self.analysis.reasons.insert(reason);
    }

    fn pattern(&mut self, pattern: String) {
        if !self.analysis.patterns.contains(&pattern) {
            self.analysis.patterns.push(pattern);
        }
    }

    /// PowerShell is not parsed: only a single command of plain words is taken for what it is.
    fn plain_words(&mut self, command: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=,+@\\".contains(c);
        if !command.chars().all(is_plain) {
            self.because(Reason::Unclear);
            return self.pattern(command.trim().to_owned());
        }
        let words = command.split_whitespace().map(word::Word::plain).collect();
        self.command(words, 0);
    }

    fn finish(mut self, command: &str) -> Analysis {
        if self.analysis.patterns.is_empty() && self.analysis.is_opaque() {
            self.pattern(command.trim().to_owned());
        }
        if self.no_prefix || self.analysis.is_opaque() {
            self.analysis.always.clear();
        }
        self.analysis
    }
}
