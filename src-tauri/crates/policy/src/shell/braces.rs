//! Brace expansion: `a{b,c}` becomes `ab ac`, before anything else is expanded.

use super::syntax::Unit;

/// More words than this are not looked at.
const MOST_WORDS: usize = 64;

/// All words that a word becomes, in order. None where there are too many, or where the shell
/// might see it differently.
pub(super) fn expand(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let Some(open) = units.iter().position(|unit| is(unit, '{')) else {
        return Some(vec![units.to_vec()]);
    };
    let mut words = Vec::new();
    expand_from(units, open, &mut words)?;
    Some(words)
}

fn is(unit: &Unit, wanted: char) -> bool {
    matches!(unit, Unit::Char { c, quoted: false } if *c == wanted)
}

fn expand_from(units: &[Unit], from: usize, words: &mut Vec<Vec<Unit>>) -> Option<()> {
    let found = units[from..].iter().position(|unit| is(unit, '{'));
    let Some(open) = found.map(|at| from + at) else {
        words.push(units.to_vec());
        return (words.len() <= MOST_WORDS).then_some(());
    };
    let Some(close) = closing(units, open) else {
        // Without its partner it is a character, unless the shell finds one where this does not.
        let suspicious = units[open..].iter().any(|unit| is(unit, ','));
        return match suspicious {
            true => None,
            false => {
                words.push(units.to_vec());
                Some(())
            }
        };
    };
    let inside = &units[open + 1..close];
    let Some(alternatives) = alternatives(inside)? else {
        // `{}` and `{x}` are plain text, but there may be braces in or after it.
        return expand_from(units, open + 1, words);
    };
    for alternative in alternatives {
        let mut word = units[..open].to_vec();
        let next = word.len();
        word.extend(alternative);
        word.extend_from_slice(&units[close + 1..]);
        expand_from(&word, next, words)?;
    }
    (words.len() <= MOST_WORDS).then_some(())
}

fn closing(units: &[Unit], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, unit) in units.iter().enumerate().skip(open) {
        if is(unit, '{') {
            depth += 1;
        } else if is(unit, '}') {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The parts between commas, or the members of `1..9`. `Some(None)`: neither.
#[allow(clippy::option_option)]
fn alternatives(inside: &[Unit]) -> Option<Option<Vec<Vec<Unit>>>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0usize;
    for unit in inside {
        if is(unit, '{') {
            depth += 1;
        } else if is(unit, '}') {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && is(unit, ',') {
            parts.push(Vec::new());
            continue;
        }
        if let Some(part) = parts.last_mut() {
            part.push(unit.clone());
        }
    }
    if parts.len() > 1 {
        return Some(Some(parts));
    }
    let plain = |unit: &Unit| match unit {
        Unit::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    let text: Option<String> = inside.iter().map(plain).collect();
    match text {
        Some(text) if text.contains("..") => sequence(&text).map(Some),
        // Quoted dots or a variable: the shell may count or not.
        None if inside
            .windows(2)
            .any(|pair| pair.iter().all(|unit| is(unit, '.'))) =>
        {
            None
        }
        _ => Some(None),
    }
}

fn sequence(text: &str) -> Option<Vec<Vec<Unit>>> {
    let ends: Vec<&str> = text.split("..").collect();
    let &[first, last] = ends.as_slice() else {
        return None;
    };
    let letters = |text: &str| {
        let mut chars = text.chars();
        let letter = chars.next().filter(char::is_ascii_alphabetic)?;
        chars.next().is_none().then_some(u32::from(letter))
    };
    let number = |text: &str| {
        // Zeros at the front are padding, which makes other names.
        let digits = text.strip_prefix('-').unwrap_or(text);
        let padded = digits.len() > 1 && digits.starts_with('0');
        text.parse::<i32>().ok().filter(|_| !padded)
    };
    let members: Vec<String> = if let (Some(a), Some(b)) = (number(first), number(last)) {
        range(a.into(), b.into())?.map(|n| n.to_string()).collect()
    } else {
        let (a, b) = (letters(first)?, letters(last)?);
        let same_case = (a < 97) == (b < 97);
        let member = |n: i64| u32::try_from(n).ok().and_then(char::from_u32);
        range(a.into(), b.into())
            .filter(|_| same_case)?
            .filter_map(member)
            .map(String::from)
            .collect()
    };
    let units = |member: String| {
        let unit = |c| Unit::Char { c, quoted: false };
        member.chars().map(unit).collect()
    };
    Some(members.into_iter().map(units).collect())
}

fn range(a: i64, b: i64) -> Option<Box<dyn Iterator<Item = i64>>> {
    let most = MOST_WORDS.try_into().unwrap_or(i64::MAX);
    if (a - b).abs() > most {
        return None;
    }
    Some(match a <= b {
        true => Box::new(a..=b),
        false => Box::new((b..=a).rev()),
    })
}
