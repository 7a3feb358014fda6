//! One word of a command, after the shell has expanded it.

use std::collections::HashMap;
use std::path::Path;

use super::Reason;
use super::braces;
use super::syntax::{RawWord, Unit};

/// Variables whose values are no secret: they may be printed, and nothing else.
const PRINTABLE: [&str; 16] = [
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TERM",
    "TMPDIR",
    "HOSTNAME",
    "OSTYPE",
    "MACHTYPE",
    "EDITOR",
    "VIRTUAL_ENV",
    "CARGO_HOME",
    "GOPATH",
    "JAVA_HOME",
    "RANDOM",
];

/// More alternatives of one word are not looked at.
const MOST_VALUES: usize = 24;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// Without quotes and escapes.
    pub value: String,
    /// Where the part begins that depends on which files there are.
    pub glob: Option<usize>,
    /// Where the part begins that is known only when the command runs.
    pub unknown: Option<usize>,
    /// It was written without quotes or escapes.
    pub bare: bool,
}

impl Word {
    pub fn plain(text: &str) -> Self {
        Self {
            value: text.to_owned(),
            bare: true,
            ..Self::default()
        }
    }

    /// A name below a directory, which one is not known.
    pub fn below(directory: &str) -> Self {
        let value = format!("{}/", directory.trim_end_matches('/'));
        Self {
            glob: Some(value.len()),
            value,
            ..Self::default()
        }
    }

    /// Words that are known only when the command runs.
    pub fn more() -> Self {
        Self {
            value: "…".to_owned(),
            unknown: Some(0),
            ..Self::default()
        }
    }

    pub fn is_known(&self) -> bool {
        self.glob.is_none() && self.unknown.is_none()
    }

    /// The text that is certain.
    pub fn certain(&self) -> &str {
        let end = self.glob.into_iter().chain(self.unknown).min();
        &self.value[..end.unwrap_or(self.value.len())]
    }

    /// It may become an option, or be one.
    pub fn may_be_option(&self) -> bool {
        match self.certain() {
            "" => !self.is_known(),
            certain => certain.starts_with('-') && self.value != "-",
        }
    }

    /// One spelling for each meaning, so that `'rm'` and `\rm` are both `rm` to a rule, while
    /// `'a b'` is not two words.
    pub fn canonical(&self) -> String {
        let safe = |c: char| c.is_alphanumeric() || "_@%+=:,./~^-…".contains(c);
        let glob = |c: char| "*?[]{}!".contains(c);
        let plain = self
            .value
            .chars()
            .all(|c| safe(c) || (self.bare && glob(c)));
        if plain && !self.value.is_empty() {
            return self.value.clone();
        }
        format!("'{}'", self.value.replace('\'', r"'\''"))
    }
}

/// What is known of the shell's variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables<'a> {
    pub home: Option<&'a Path>,
    /// Each value a variable may have; None where that is not known.
    pub set: HashMap<String, Option<Vec<Word>>>,
}

/// Expands a word to all the words it becomes; several where it has braces. Where a variable
/// has several values, there is an alternative for each.
pub(super) fn expand(
    raw: &RawWord,
    variables: &Variables,
    doubt: &mut impl FnMut(Reason),
) -> Vec<Vec<Word>> {
    let Some(words) = braces::expand(&raw.units) else {
        doubt(Reason::Unclear);
        return vec![vec![assemble(&raw.units, variables, doubt).remove(0)]];
    };
    let mut alternatives: Vec<Vec<Word>> = vec![Vec::new()];
    for units in &words {
        let values = assemble(units, variables, doubt);
        alternatives = product(&alternatives, values, doubt);
    }
    alternatives
}

fn product(
    alternatives: &[Vec<Word>],
    values: Vec<Word>,
    doubt: &mut impl FnMut(Reason),
) -> Vec<Vec<Word>> {
    if alternatives.len() * values.len() > MOST_VALUES {
        doubt(Reason::Unclear);
    }
    let joined = alternatives.iter().flat_map(|words| {
        values.iter().map(move |value| {
            let mut words = words.clone();
            words.push(value.clone());
            words
        })
    });
    joined.take(MOST_VALUES).collect()
}

/// Every value of a single word; never empty.
pub(super) fn assemble(
    units: &[Unit],
    variables: &Variables,
    doubt: &mut impl FnMut(Reason),
) -> Vec<Word> {
    let mut words = vec![Word {
        bare: true,
        ..Word::default()
    }];
    let mut units = units;
    if let Some((home, rest)) = tilde(units, variables.home, doubt) {
        words[0].value = home;
        units = rest;
    }
    let is_open = |at: usize| {
        let closes = |unit: &Unit| {
            matches!(
                unit,
                Unit::Char {
                    c: ']',
                    quoted: false
                }
            )
        };
        !units[at + 1..].iter().any(closes)
    };
    for (at, unit) in units.iter().enumerate() {
        match unit {
            Unit::Quotes => words.iter_mut().for_each(|word| word.bare = false),
            Unit::Char { c, quoted } => {
                for word in &mut words {
                    // A bracket that nothing closes is one.
                    if !quoted && "*?[".contains(*c) && !(*c == '[' && is_open(at)) {
                        word.glob.get_or_insert(word.value.len());
                    }
                    word.bare &= !quoted;
                    word.value.push(*c);
                }
            }
            Unit::Variable { name, quoted } => {
                words = with_variable(words, name, *quoted, variables, doubt);
            }
            Unit::Unknown { reason, text, .. } => {
                doubt(*reason);
                for word in &mut words {
                    word.unknown.get_or_insert(word.value.len());
                    word.value.push_str(text);
                    word.bare = false;
                }
            }
        }
    }
    words
}

/// `~` and `~/…`. Other people's homes are not known.
fn tilde<'u>(
    units: &'u [Unit],
    home: Option<&Path>,
    doubt: &mut impl FnMut(Reason),
) -> Option<(String, &'u [Unit])> {
    let is = |at: usize, wanted: char| matches!(units.get(at), Some(Unit::Char { c, quoted: false }) if *c == wanted);
    if !is(0, '~') {
        return None;
    }
    let whole = units.len() == 1 || is(1, '/');
    match home.filter(|_| whole) {
        Some(home) => Some((home.to_string_lossy().into_owned(), &units[1..])),
        None => {
            doubt(Reason::Unclear);
            None
        }
    }
}

fn with_variable(
    words: Vec<Word>,
    name: &str,
    quoted: bool,
    variables: &Variables,
    doubt: &mut impl FnMut(Reason),
) -> Vec<Word> {
    let values = known_values(name, variables).filter(|values| {
        // Unquoted, such a value would become several words or none.
        let splits = |value: &Word| {
            value.value.is_empty() || value.value.contains([' ', '\t', '\n', '*', '?', '['])
        };
        quoted || !values.iter().any(splits)
    });
    let Some(values) = values else {
        if !PRINTABLE.contains(&name) {
            doubt(Reason::Variable);
        }
        let add = |mut word: Word| {
            word.unknown.get_or_insert(word.value.len());
            word.value.push('$');
            word.value.push_str(name);
            word.bare = false;
            word
        };
        return words.into_iter().map(add).collect();
    };
    if words.len() * values.len() > MOST_VALUES {
        doubt(Reason::Unclear);
    }
    let joined = words.iter().flat_map(|word| {
        values.iter().map(move |value| {
            let offset = word.value.len();
            let moved = |at: Option<usize>| at.map(|at| at + offset);
            Word {
                value: format!("{}{}", word.value, value.value),
                glob: word.glob.or(moved(value.glob)),
                unknown: word.unknown.or(moved(value.unknown)),
                bare: word.bare && !quoted,
            }
        })
    });
    joined.take(MOST_VALUES).collect()
}

/// Values that are known here, or that are only numbers.
fn known_values(name: &str, variables: &Variables) -> Option<Vec<Word>> {
    if let Some(values) = variables.set.get(name) {
        return values.clone();
    }
    let value = match name {
        "HOME" => variables.home?.to_string_lossy().into_owned(),
        // Relative paths start there, wherever it is.
        "PWD" => ".".to_owned(),
        "?" | "$" | "!" | "#" => "0".to_owned(),
        _ => return None,
    };
    Some(vec![Word::plain(&value)])
}
