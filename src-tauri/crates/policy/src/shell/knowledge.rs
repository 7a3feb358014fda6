//! What is known of one simple command, and which rules cover it.

use super::options::{Understanding, Use, UseKind, understand};
use super::word::Word;
use super::{Effects, Reason, special, table};
use crate::rules::{READ_ONLY, wildcard};

/// One command of a command line, without operators, as rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Its words in one spelling, with a blank between them.
    pub text: String,
    pub knowledge: Knowledge,
    words: Vec<Word>,
    piped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knowledge {
    /// Every word of it is understood.
    Understood {
        /// The program and its subcommand, such as `git log`.
        name: String,
        effects: Effects,
    },
    Opaque(Reason),
}

impl SimpleCommand {
    pub(super) fn new(words: Vec<Word>, knowledge: Knowledge, piped: bool) -> Self {
        Self {
            text: joined(&words),
            knowledge,
            words,
            piped,
        }
    }

    pub fn only_reads(&self) -> bool {
        match &self.knowledge {
            Knowledge::Understood { effects, .. } => effects.only_reads(),
            Knowledge::Opaque(_) => false,
        }
    }

    /// It is understood, and one of these programs with their subcommands.
    pub(super) fn is_named(&self, names: &[&str]) -> bool {
        match &self.knowledge {
            Knowledge::Understood { name, .. } => names.contains(&name.as_str()),
            Knowledge::Opaque(_) => false,
        }
    }

    pub fn is_understood(&self) -> bool {
        matches!(self.knowledge, Knowledge::Understood { .. })
    }

    /// Whether a rule that allows this pattern allows this command: every word that the rule
    /// does not name itself must be understood, and it must do no more than the words of the
    /// rule stand for.
    pub fn is_covered_by(&self, pattern: &str) -> bool {
        if pattern == "*" {
            return true;
        }
        if pattern == READ_ONLY {
            return self.only_reads();
        }
        if !wildcard(pattern, &self.text) {
            return false;
        }
        let named = named_words(pattern);
        let effects = match &self.knowledge {
            Knowledge::Understood { effects, .. } => *effects,
            Knowledge::Opaque(reason) if reason.is_about_words() => {
                match judge(&self.words, named.len(), self.piped) {
                    Ok(read) if read.inner.is_empty() => read.effects,
                    _ => return false,
                }
            }
            Knowledge::Opaque(_) => return false,
        };
        // Written out as a whole, it was meant as it is.
        effects.is_within(meant_by(&named)) || !pattern.contains(['*', '?'])
    }
}

/// The words before the first one with a wildcard.
fn named_words(pattern: &str) -> Vec<Word> {
    let words = pattern.split(' ').filter(|word| !word.is_empty());
    words
        .take_while(|word| !word.contains(['*', '?', '\'', '"']))
        .map(Word::plain)
        .collect()
}

/// What a rule with these words in front of its wildcard may let happen.
fn meant_by(named: &[Word]) -> Effects {
    match judge(named, named.len(), false) {
        Ok(read) => read.effects,
        Err(_) => Effects::ALL,
    }
}

/// Folders in which only the system's programs are.
const SYSTEM: [&str; 4] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"];

/// The name of the program, without the system's folder.
pub(super) fn program(path: &str) -> &str {
    let bare = SYSTEM.iter().find_map(|folder| path.strip_prefix(folder));
    bare.unwrap_or(path)
}

pub(super) fn judge(words: &[Word], vouched: usize, piped: bool) -> Result<Understanding, Reason> {
    let Some(first) = words.first().filter(|word| word.is_known()) else {
        return Err(Reason::Hidden);
    };
    let program = program(&first.value);
    if let Some(judged) = special::judge(program, words, vouched) {
        return judged;
    }
    match table::find(program) {
        Some(_) => understand(program, words, vouched, piped),
        None => unknown(program, words, vouched),
    }
}

/// Nothing is known of it: whatever it does, plain words cannot make it do something else. An
/// option could.
fn unknown(program: &str, words: &[Word], vouched: usize) -> Result<Understanding, Reason> {
    let script = program.contains('/');
    let mut uses = Vec::new();
    for word in words
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(at, _)| *at >= vouched)
    {
        let word = word.1;
        if !word.is_known() {
            return Err(match word.unknown {
                Some(_) => Reason::Variable,
                None => Reason::Wildcard,
            });
        }
        let simple = |c: char| c.is_alphanumeric() || "_-./=:,@".contains(c);
        let option = word.value.starts_with(['-', '+']) || word.value.contains('=');
        if option && !(script && word.value.chars().all(simple)) {
            return Err(Reason::UnknownOption);
        }
        uses.push(Use {
            kind: UseKind::Any,
            word: word.clone(),
        });
    }
    Ok(Understanding {
        name: program.to_owned(),
        effects: Effects::ALL,
        uses,
        wide: script,
        ..Understanding::default()
    })
}

pub(super) fn joined(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(Word::canonical).collect();
    words.join(" ")
}
