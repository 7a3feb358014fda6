//! What is known of a program: its subcommands, its options and what its words mean.
//!
//! The tables are text, one file a family under `programs/`. An entry opens with `= name`; below
//! it are directives and options, in any order:
//!
//! - `@effects wxn`: it *w*rites files, e*x*ecutes code of the project, uses the *n*etwork.
//! - `@operands text read*`: what its other words are, see [`Kind`]; `*` repeats, `?`
//!   says that it is often missing. No directive: it takes none.
//! - `@any`: none of its options writes, runs, sends or reads elsewhere, so a word that only the
//!   file system decides does no harm.
//! - `@complete`: all its long options are listed, so an unambiguous beginning is understood.
//! - `@style dash`: long options have one dash. `@style first`: options end at the first operand.
//!   `@style words`: there are no options. `@style apart`: a letter takes its value from the next
//!   words even where other letters follow it.
//! - `@sub`: a subcommand follows; `@alone`: or none.
//! - `@after name`: what follows `--` is read by the table of that name.
//! - `@config`: files of the project can make it run other programs.
//! - `@reads`: with these options (all words behind it, one is enough) it only reads although
//!   its effects say otherwise.
//! - `@listing -l --list`: it writes where it has operands and none of these options.
//! - `@opaque`: it is known, and known to do more than its words say.
//! - `@wide`: with the network, its words still name nothing that it fetches, and no one that it
//!   sends to: "always" may stand for other words than those that were seen.
//! - `@use name`: all options of another entry. Entries named `@…` are there only for this.
//!
//! An option is `-x`, `--long`, `--[no-]long` or `-#` for numbers such as `-20`. `=kind` takes a
//! value, `?=kind` may take one in the same word. After it, `!` refuses the option, `+w`, `+x`
//! and `+n` add an effect, `^` says that it brings what the first operand would be, and `%` that
//! directories are read with everything in them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Effects;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// No path: a pattern, a number, a name.
    Text,
    /// A name without `=` or a sign in front, which would make it something else.
    Name,
    /// Anything; checked as a path in case it is one.
    Any,
    /// A file whose content is read.
    Read,
    /// A name that is looked at, not its content.
    List,
    /// A directory that is read with everything below it.
    Tree,
    Write,
    /// A file that is read, and replaced by another one beside it.
    Replace,
    /// A file or folder that is deleted or moved away.
    Remove,
    /// Names of files that a search looks at besides those it would find.
    Glob,
    /// A kind of files, which stands for such names.
    FileType,
    /// The name of a remote repository as the project has it, no address.
    Remote,
    /// What git prints of a commit or a reference.
    Format,
    /// By what git sorts references.
    Field,
    /// The directory that relative paths start from.
    Enter,
    /// A revision of git, or a path.
    Revision,
    /// One of these words.
    Choice(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Style {
    #[default]
    Gnu,
    Dash,
    First,
    Words,
    Apart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value(Kind),
    /// Only in the same word.
    Perhaps(Kind),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    pub takes: Takes,
    pub effects: Effects,
    pub refused: bool,
    pub replaces_first: bool,
    pub recursive: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    pub kind: Kind,
    pub repeats: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub effects: Effects,
    pub options: HashMap<String, Opt>,
    pub operands: Vec<Operand>,
    pub style: Style,
    pub any: bool,
    pub complete: bool,
    pub subcommands: bool,
    pub alone: bool,
    pub after: Option<String>,
    pub config: bool,
    pub opaque: bool,
    pub wide: bool,
    /// With operands, it only reads if one of these is there.
    pub listing: Vec<String>,
    /// Options that make it only read.
    pub reads: Vec<Vec<String>>,
}

const FAMILIES: [(&str, &str); 10] = [
    ("build", include_str!("programs/build.txt")),
    ("cargo", include_str!("programs/cargo.txt")),
    ("files", include_str!("programs/files.txt")),
    ("git", include_str!("programs/git.txt")),
    ("git_change", include_str!("programs/git_change.txt")),
    ("packages", include_str!("programs/packages.txt")),
    ("reading", include_str!("programs/reading.txt")),
    ("remote", include_str!("programs/remote.txt")),
    ("search", include_str!("programs/search.txt")),
    ("system", include_str!("programs/system.txt")),
];

static TABLES: LazyLock<HashMap<String, Table>> = LazyLock::new(|| {
    let mut tables = HashMap::new();
    for (_, text) in FAMILIES {
        // A bad entry is left out, which costs a question; a test sees to it that none is.
        let _ = parse(text, &mut tables);
    }
    tables
});

pub(super) fn find(name: &str) -> Option<&'static Table> {
    TABLES.get(name).filter(|_| !name.starts_with('@'))
}

/// Also those that are no programs, but parts of others.
pub(super) fn named(name: &str) -> Option<&'static Table> {
    TABLES.get(name)
}

/// Every program that is known, with its subcommands.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static Table)> {
    let entries = TABLES.iter().filter(|(name, _)| !name.starts_with('@'));
    entries.map(|(name, table)| (name.as_str(), table))
}

fn parse(text: &str, tables: &mut HashMap<String, Table>) -> Result<(), String> {
    let mut names: Vec<String> = Vec::new();
    let mut table = Table::default();
    let mut wrong = None;
    let lines = text.lines().chain(["="]);
    for line in lines.map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(next) = line.strip_prefix('=') {
            for name in names.drain(..) {
                tables.insert(name, table.clone());
            }
            table = Table::default();
            let next = next.split(',').map(str::trim);
            names = next
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
        } else if let Some(directive) = line.strip_prefix('@') {
            if !direct(&mut table, directive, tables) {
                wrong.get_or_insert(line.to_owned());
            }
        } else {
            for word in line.split_whitespace() {
                if !option(&mut table, word) {
                    wrong.get_or_insert(format!("{word} in {line}"));
                }
            }
        }
    }
    wrong.map_or(Ok(()), Err)
}

fn direct(table: &mut Table, directive: &str, tables: &HashMap<String, Table>) -> bool {
    let (name, value) = directive.split_once(' ').unwrap_or((directive, ""));
    match name {
        "effects" => table.effects = Effects::parse(value),
        "operands" => {
            let operands: Option<Vec<Operand>> = value.split_whitespace().map(operand).collect();
            let Some(operands) = operands else {
                return false;
            };
            table.operands = operands;
        }
        "any" => table.any = true,
        "complete" => table.complete = true,
        "style" => {
            table.style = match value {
                "dash" => Style::Dash,
                "first" => Style::First,
                "words" => Style::Words,
                "apart" => Style::Apart,
                _ => return false,
            }
        }
        "sub" => table.subcommands = true,
        "alone" => table.alone = true,
        "after" => table.after = Some(value.to_owned()),
        "config" => table.config = true,
        "opaque" => table.opaque = true,
        "wide" => table.wide = true,
        "listing" => table.listing = value.split_whitespace().map(str::to_owned).collect(),
        "reads" => {
            let sets = value
                .split('|')
                .map(|set| set.split_whitespace().map(str::to_owned).collect());
            table.reads.extend(sets);
        }
        "use" => {
            let Some(other) = tables.get(value) else {
                return false;
            };
            let options = other.options.iter();
            table
                .options
                .extend(options.map(|(name, option)| (name.clone(), option.clone())));
        }
        _ => return false,
    }
    true
}

fn operand(word: &str) -> Option<Operand> {
    let repeats = word.ends_with('*');
    let kind = kind(word.trim_end_matches(['*', '?']))?;
    Some(Operand { kind, repeats })
}

fn kind(word: &str) -> Option<Kind> {
    if let Some(choices) = word
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return Some(Kind::Choice(
            choices.split('|').map(str::to_owned).collect(),
        ));
    }
    Some(match word {
        "text" => Kind::Text,
        "name" => Kind::Name,
        "any" => Kind::Any,
        "read" => Kind::Read,
        "list" => Kind::List,
        "tree" => Kind::Tree,
        "write" => Kind::Write,
        "replace" => Kind::Replace,
        "remove" => Kind::Remove,
        "glob" => Kind::Glob,
        "filetype" => Kind::FileType,
        "remote" => Kind::Remote,
        "format" => Kind::Format,
        "field" => Kind::Field,
        "enter" => Kind::Enter,
        "revision" => Kind::Revision,
        _ => return None,
    })
}

fn option(table: &mut Table, word: &str) -> bool {
    let mut word = word;
    let mut opt = Opt {
        takes: Takes::Nothing,
        effects: Effects::default(),
        refused: false,
        replaces_first: false,
        recursive: false,
    };
    loop {
        if let Some(rest) = word.strip_suffix('!') {
            opt.refused = true;
            word = rest;
        } else if let Some(rest) = word.strip_suffix('^') {
            opt.replaces_first = true;
            word = rest;
        } else if let Some(rest) = word.strip_suffix('%') {
            opt.recursive = true;
            word = rest;
        } else if let Some((rest, effects)) = word.rsplit_once('+').filter(|(rest, effects)| {
            !rest.is_empty() && !effects.is_empty() && effects.chars().all(|c| "wxn".contains(c))
        }) {
            opt.effects = opt.effects.and(Effects::parse(effects));
            word = rest;
        } else {
            break;
        }
    }
    if let Some((name, value)) = word.split_once("?=") {
        let Some(kind) = kind(value) else {
            return false;
        };
        opt.takes = Takes::Perhaps(kind);
        word = name;
    } else if let Some((name, value)) = word.split_once('=') {
        let Some(kind) = kind(value) else {
            return false;
        };
        if matches!(kind, Kind::Write | Kind::Replace | Kind::Remove) {
            opt.effects = opt.effects.and(Effects::parse("w"));
        }
        opt.takes = Takes::Value(kind);
        word = name;
    }
    if !word.starts_with('-') || word.len() < 2 {
        return false;
    }
    if let Some(name) = word.strip_prefix("--[no-]") {
        let mut plain = opt.clone();
        plain.takes = Takes::Nothing;
        table.options.insert(format!("--no-{name}"), plain);
        table.options.insert(format!("--{name}"), opt);
    } else {
        table.options.insert(word.to_owned(), opt);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read_without_a_mistake() {
        let mut tables = HashMap::new();
        for (family, text) in FAMILIES {
            assert_eq!(parse(text, &mut tables), Ok(()), "{family}");
        }
        assert!(tables.len() > 200, "only {} entries", tables.len());
        for (name, table) in &tables {
            let harmful = |option: &Opt| option.refused || !option.effects.only_reads();
            let all_harmless = !table.options.values().any(harmful);
            assert!(
                !table.any || all_harmless,
                "{name} has options that do harm"
            );
            if let Some(after) = &table.after {
                assert!(tables.contains_key(after), "{name}: {after}");
            }
            let parent = name.rsplit_once(' ').map(|(parent, _)| parent);
            if let Some(parent) = parent.filter(|_| !name.starts_with('@')) {
                let known = tables.get(parent);
                assert!(known.is_some_and(|table| table.subcommands), "{name}");
            }
        }
    }
}
