//! `find`: starting points, then tests and actions, of which only some look and do nothing else.

use super::super::Reason;
use super::super::options::{Use, UseKind};
use super::super::word::Word;
use super::{Understood, reading};

/// Followed by nothing.
const ALONE: [&str; 33] = [
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-not",
    "!",
    "-a",
    "-and",
    "-o",
    "-or",
    "(",
    ")",
    ",",
    "-true",
    "-false",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-follow",
    "-daystart",
    "-noleaf",
    "-nouser",
    "-nogroup",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-warn",
    "-nowarn",
];

/// Followed by a text.
const WITH_TEXT: [&str; 31] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-links",
    "-inum",
    "-lname",
    "-ilname",
    "-regextype",
    "-uid",
    "-gid",
    "-used",
    "-printf",
];

/// Followed by a file to compare with.
const WITH_FILE: [&str; 5] = ["-newer", "-anewer", "-cnewer", "-samefile", "-newermm"];

pub(super) fn judge(arguments: &[Word]) -> Understood {
    let mut read = reading("find");
    let mut words = arguments.iter().peekable();
    while words
        .peek()
        .is_some_and(|word| matches!(word.value.as_str(), "-H" | "-P"))
    {
        words.next();
    }
    let mut starts = Vec::new();
    while let Some(word) = words.peek() {
        if word.may_be_option() || matches!(word.value.as_str(), "(" | "!" | ",") {
            break;
        }
        starts.push((*word).clone());
        words.next();
    }
    if starts.is_empty() {
        starts.push(Word::plain("."));
    }
    let mut texts = Vec::new();
    while let Some(word) = words.next() {
        if !word.is_known() {
            return Err(Reason::Wildcard);
        }
        let value = word.value.as_str();
        if ALONE.contains(&value) {
            // It follows links, which may lead anywhere.
            if value == "-follow" {
                return Err(Reason::Flag);
            }
            continue;
        }
        let kind = if WITH_TEXT.contains(&value) || is_time_test(value) {
            UseKind::Text
        } else if WITH_FILE.contains(&value) {
            UseKind::List
        } else if value == "-exec" {
            let inner = executed(&mut words, &starts)?;
            read.inner.push(inner);
            continue;
        } else {
            return Err(Reason::Flag);
        };
        let next = words.next().ok_or(Reason::Unclear)?;
        if !next.is_known() {
            return Err(Reason::Wildcard);
        }
        texts.push(Use {
            kind,
            word: next.clone(),
        });
    }
    let kind = match read.inner.is_empty() {
        true => UseKind::List,
        false => UseKind::Tree { hidden: true },
    };
    let starts = starts.into_iter().map(|word| Use { kind, word });
    read.uses = starts.chain(texts).collect();
    Ok(read)
}

/// `-newermt` and its like compare with a time that is written out.
fn is_time_test(value: &str) -> bool {
    value.len() == 8 && value.starts_with("-newer") && value.ends_with('t')
}

/// The command of `-exec`, up to `;` or `{} +`.
fn executed<'w>(
    words: &mut impl Iterator<Item = &'w Word>,
    starts: &[Word],
) -> Result<Vec<Word>, Reason> {
    let mut command: Vec<Word> = Vec::new();
    for word in words {
        let after_name = command.last().is_some_and(|last| last.glob.is_some());
        if word.value == ";" || (word.value == "+" && after_name) {
            return match command.is_empty() {
                true => Err(Reason::Unclear),
                false => Ok(command),
            };
        }
        if word.value == "{}" {
            // A name as the program itself would be a program that is not known.
            let start = starts.first().ok_or(Reason::Unclear)?;
            command.push(Word::below(&start.value));
        } else if word.value.contains("{}") || !word.is_known() {
            return Err(Reason::Indirect);
        } else {
            command.push(word.clone());
        }
    }
    Err(Reason::Unclear)
}
