//! A second look at the bare text, independent of the parser: where the two disagree about
//! what is quoted, the command is opaque.

use std::borrow::Cow;

use super::Reason;
use lathe_protocol::text;

/// The command without its escaped line breaks, as the shell reads it: the parser takes them
/// for blanks and so joins what the shell keeps apart. Nothing, where a comment may be involved,
/// in which they do not count.
pub(super) fn joined_lines(command: &str) -> Option<Cow<'_, str>> {
    if !command.contains("\\\n") {
        return Some(Cow::Borrowed(command));
    }
    if command.contains('#') {
        return None;
    }
    let mut joined = String::with_capacity(command.len());
    let mut single = false;
    let mut double = false;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if !single => match chars.next() {
                Some('\n') => {}
                next => {
                    joined.push('\\');
                    joined.extend(next);
                }
            },
            c => {
                single ^= c == '\'' && !double;
                double ^= c == '"' && !single;
                joined.push(c);
            }
        }
    }
    Some(Cow::Owned(joined))
}

#[derive(PartialEq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Constructs that run or read something, anywhere outside single quotes.
pub(super) fn reasons(command: &str) -> Vec<Reason> {
    let mut found = Vec::new();
    let hides = |c: char| text::is_deceptive(c) && !matches!(c, '\n' | '\t');
    if command
        .chars()
        .any(|c| hides(c) || (c.is_whitespace() && !c.is_ascii()))
    {
        found.push(Reason::Deceptive);
    }
    let mut quote = Quote::None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (&quote, c) {
            (Quote::Single, '\'') => quote = Quote::None,
            (Quote::Single, _) => {}
            (_, '\\') => {
                chars.next();
            }
            (_, '`') => found.push(Reason::Substitution),
            (_, '$') if matches!(next, Some('(' | '[')) => found.push(Reason::Substitution),
            (_, '$') if next == Some('{') => found.push(Reason::Variable),
            (Quote::None, '$') if matches!(next, Some('\'' | '"')) => found.push(Reason::Unclear),
            (Quote::None, '<' | '>') if next == Some('(') => found.push(Reason::Substitution),
            (Quote::None, '<') if next == Some('<') => found.push(Reason::Heredoc),
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Double, '"') => quote = Quote::None,
            _ => {}
        }
    }
    if quote != Quote::None {
        found.push(Reason::ParseError);
    }
    found
}
