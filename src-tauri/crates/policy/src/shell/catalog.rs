//! What the tables know, for those who show or try it.

use super::table::{self, Kind, Takes};
use super::{Effects, special};

/// A program, or one with a subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProgram {
    pub name: &'static str,
    pub effects: Effects,
    pub options: Vec<KnownOption>,
    pub operands: Vec<Meaning>,
    /// The words follow rules of their own.
    pub special: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOption {
    pub name: &'static str,
    pub value: Option<Meaning>,
    /// The value may be missing, and is part of the same word.
    pub glued: bool,
    /// It is known not to be harmless.
    pub refused: bool,
}

/// What a word is to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Text,
    Path,
    Revision,
}

/// In the order of their names.
pub fn catalog() -> Vec<KnownProgram> {
    let mut programs: Vec<KnownProgram> = table::all()
        .map(|(name, table)| KnownProgram {
            name,
            effects: table.effects,
            options: options(table),
            operands: table
                .operands
                .iter()
                .map(|one| meaning(&one.kind))
                .collect(),
            special: special::is_special(name),
        })
        .collect();
    programs.sort_by_key(|program| program.name);
    programs
}

fn options(table: &'static table::Table) -> Vec<KnownOption> {
    let mut options: Vec<KnownOption> = table
        .options
        .iter()
        .map(|(name, option)| KnownOption {
            name,
            value: match &option.takes {
                Takes::Nothing => None,
                Takes::Value(kind) | Takes::Perhaps(kind) => Some(meaning(kind)),
            },
            glued: matches!(option.takes, Takes::Perhaps(_)),
            refused: option.refused,
        })
        .collect();
    options.sort_by_key(|option| option.name);
    options
}

fn meaning(kind: &Kind) -> Meaning {
    match kind {
        Kind::Text
        | Kind::Name
        | Kind::Glob
        | Kind::FileType
        | Kind::Remote
        | Kind::Format
        | Kind::Field
        | Kind::Choice(_) => Meaning::Text,
        Kind::Revision => Meaning::Revision,
        Kind::Any
        | Kind::Read
        | Kind::List
        | Kind::Tree
        | Kind::Write
        | Kind::Replace
        | Kind::Remove
        | Kind::Enter => Meaning::Path,
    }
}
