//! Which `${…}` give the value of a variable, or a part of it, and evaluate nothing.
//!
//! Subscripts, offsets and `@P` are evaluated by the shell, and what they hold can run commands. What
//! is not known here is taken for one of those.

use super::Reason;
use super::parse::is_name;
use super::syntax::{RawWord, Unit};

/// `inside` is what lies between the braces. Scripts in it are looked at elsewhere.
pub(super) fn only_gives_text(inside: &RawWord) -> bool {
    let evaluates =
        |unit: &Unit| matches!(unit, Unit::Unknown { reason, .. } if *reason == Reason::Hidden);
    if inside.units.iter().any(evaluates) {
        return false;
    }
    let plain = |unit: &Unit| match unit {
        Unit::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    // The first part that is no plain text may be the word of an operator, and nothing else.
    let text: String = inside.units.iter().map_while(plain).collect();
    let whole = text.chars().count() == inside.units.len();
    if let Some(counted) = text.strip_prefix('#') {
        return whole && subscript_skipped(name_skipped(counted)).is_some_and(str::is_empty);
    }
    let Some(rest) = subscript_skipped(name_skipped(&text)) else {
        return false;
    };
    match rest.strip_prefix(':') {
        Some(rest) if rest.starts_with(['-', '+', '?']) => true,
        Some(rest) => whole && rest.split(':').count() <= 2 && rest.split(':').all(is_number),
        None => {
            rest.is_empty() && whole || rest.starts_with(['-', '+', '?', '#', '%', '/', '^', ','])
        }
    }
}

/// What follows the name of a variable; None where there is none.
fn name_skipped(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let digits = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
    match is_name(name) || digits {
        true => Some(rest),
        false => text.strip_prefix(['@', '*', '?', '$', '-']),
    }
}

/// `[0]`, `[@]` and `[*]`; any other subscript is evaluated.
fn subscript_skipped(text: Option<&str>) -> Option<&str> {
    let text = text?;
    let Some(subscript) = text.strip_prefix('[') else {
        return Some(text);
    };
    let (subscript, rest) = subscript.split_once(']')?;
    (matches!(subscript, "@" | "*") || is_digits(subscript)).then_some(rest)
}

/// As an offset or a length; before a negative offset there is a blank.
fn is_number(text: &str) -> bool {
    is_digits(text.trim().trim_start_matches('-'))
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
