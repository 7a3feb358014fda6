//! `tar`: its first word may be a cluster without a dash, whose values follow in order.

use super::super::Reason;
use super::super::options::{Use, UseKind, understand};
use super::super::word::Word;
use super::Understood;

/// Letters that take a value.
const WITH_VALUE: &str = "fCXTbNVgHILFK";

pub(super) fn judge(program: &str, words: &[Word], vouched: usize) -> Understood {
    let words = dashed(words)?;
    let mut read = understand("tar", &words, vouched, false)?;
    read.name = program.to_owned();
    let has = |names: [&str; 2]| {
        read.options
            .iter()
            .any(|option| names.contains(&option.as_str()))
    };
    // Such a name is a file on another machine, and a program is run to get at it.
    let elsewhere = |one: &Use| one.kind == UseKind::Write && one.word.value.contains(':');
    if read.uses.iter().any(elsewhere) {
        return Err(Reason::Runs);
    }
    // What it writes is in the archive.
    if has(["-x", "--extract"]) || has(["-x", "--get"]) {
        return Err(Reason::DoesMore);
    }
    if has(["-t", "--list"]) && !has(["-c", "--create"]) {
        for one in &mut read.uses {
            if one.kind == UseKind::Write {
                one.kind = UseKind::Read;
            }
        }
        read.effects = super::super::Effects::default();
        return Ok(read);
    }
    if !has(["-c", "--create"]) {
        return Err(Reason::UnknownOption);
    }
    // In an archive, nothing would be known of what it holds.
    let packed = read.uses.iter().filter(|one| one.kind == UseKind::Any);
    let kind = UseKind::Tree { hidden: true };
    let packed: Vec<Use> = packed.cloned().map(|one| Use { kind, ..one }).collect();
    read.uses.extend(packed);
    Ok(read)
}

/// `cf x y` as `-c -f x y`.
fn dashed(words: &[Word]) -> Result<Vec<Word>, Reason> {
    let Some(first) = words.get(1) else {
        return Ok(words.to_vec());
    };
    if first.value.starts_with('-') {
        return Ok(words.to_vec());
    }
    if !first.is_known() {
        return Err(Reason::Wildcard);
    }
    let mut result = vec![words[0].clone()];
    let mut rest = words[2..].iter();
    for letter in first.value.chars() {
        result.push(Word::plain(&format!("-{letter}")));
        if WITH_VALUE.contains(letter) {
            result.push(rest.next().ok_or(Reason::Unclear)?.clone());
        }
    }
    result.extend(rest.cloned());
    Ok(result)
}
