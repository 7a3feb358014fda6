//! One word of a command: what the shell would make of it.

use std::path::Path;

use tree_sitter::Node;

use super::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without quotes and escapes.
    pub value: String,
    /// It would be expanded to file names.
    pub glob: bool,
    /// It was written without quotes or escapes.
    bare: bool,
}

impl Word {
    pub fn plain(text: &str) -> Self {
        Self {
            value: text.to_owned(),
            glob: false,
            bare: true,
        }
    }

    /// One spelling for each meaning, so that `'rm'` and `\rm` are both `rm` to a rule, while
    /// `'a b'` is not two words.
    pub fn canonical(&self) -> String {
        let safe = |c: char| c.is_alphanumeric() || "_@%+=:,./~^-".contains(c);
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

/// Reads a word's node; what is not plain text in it is told to `because`.
pub(super) fn read(
    node: Node,
    source: &str,
    home: Option<&Path>,
    because: &mut impl FnMut(Reason),
) -> Word {
    let mut word = Word {
        value: String::new(),
        glob: false,
        bare: true,
    };
    append(node, source, home, &mut word, because);
    // Over the whole word: the parser may split it at the braces.
    let text = &source[node.byte_range()];
    let quoted = matches!(node.kind(), "string" | "raw_string");
    if !quoted && text.contains('{') && !braces_are_plain(text) {
        because(Reason::Unclear);
    }
    word
}

fn append(
    node: Node,
    source: &str,
    home: Option<&Path>,
    word: &mut Word,
    because: &mut impl FnMut(Reason),
) {
    let text = &source[node.byte_range()];
    match node.kind() {
        "word" | "number" => bare(text, word, because),
        "raw_string" => {
            word.bare = false;
            word.value.push_str(text.trim_matches('\''));
        }
        "string" => {
            word.bare = false;
            quoted(node, source, home, word, because);
        }
        "simple_expansion" => match known_variable(text, home) {
            Some(value) => word.value.push_str(&value),
            None => {
                because(Reason::Variable);
                word.value.push_str(text);
            }
        },
        "concatenation" => {
            let mut cursor = node.walk();
            let parts: Vec<Node> = node.children(&mut cursor).collect();
            // Text between the parts (an escaped line break) is something we have not understood.
            let covered: usize = parts.iter().map(|part| part.byte_range().len()).sum();
            if covered != text.len() {
                because(Reason::Unclear);
            }
            for part in parts {
                append(part, source, home, word, because);
            }
        }
        "command_substitution" | "process_substitution" => {
            because(Reason::Substitution);
            word.value.push_str(text);
        }
        "expansion" | "arithmetic_expansion" => {
            because(Reason::Variable);
            word.value.push_str(text);
        }
        // Brackets and braces outside of words; `bare` judges what they make together.
        "[" | "]" | "{" | "}" | "," | ".." => bare(text, word, because),
        "brace_expression" => bare(text, word, because),
        _ => {
            because(Reason::Unclear);
            word.value.push_str(text);
        }
    }
}

fn bare(text: &str, word: &mut Word, because: &mut impl FnMut(Reason)) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                word.bare = false;
                match chars.next() {
                    // The shell joins the lines; whoever splits a word so has something to hide.
                    Some('\n') | None => because(Reason::Deceptive),
                    Some(escaped) => word.value.push(escaped),
                }
            }
            '*' | '?' | '[' => {
                word.glob = true;
                word.value.push(c);
            }
            c => word.value.push(c),
        }
    }
}

/// `*.{ts,tsx}` and `{}` are taken for what they look like; other braces can make any words.
fn braces_are_plain(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|at| open + at) else {
            return true;
        };
        let inside = &rest[open + 1..close];
        let plain = |part: &str| {
            part.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        let dashed = |part: &str| part.starts_with('-');
        if !inside.split(',').all(|part| plain(part) && !dashed(part)) {
            return false;
        }
        rest = &rest[close + 1..];
    }
    true
}

fn quoted(
    node: Node,
    source: &str,
    home: Option<&Path>,
    word: &mut Word,
    because: &mut impl FnMut(Reason),
) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "string_content" => {}
            "simple_expansion" => {
                if known_variable(&source[child.byte_range()], home).is_none() {
                    because(Reason::Variable);
                }
            }
            "command_substitution" => because(Reason::Substitution),
            _ => because(Reason::Variable),
        }
    }
    let text = &source[node.byte_range()];
    let text = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or(text);
    let home = home.map(|home| home.to_string_lossy().into_owned());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek().copied()) {
            ('\\', Some('"' | '\\' | '$' | '`')) => word.value.extend(chars.next()),
            ('$', _) if starts_with_home(&chars) => {
                word.value.push_str(home.as_deref().unwrap_or("$HOME"));
                chars.nth(3);
            }
            _ => word.value.push(c),
        }
    }
}

fn starts_with_home(chars: &std::iter::Peekable<std::str::Chars>) -> bool {
    let rest: String = chars.clone().take(5).collect();
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    rest.starts_with("HOME") && rest.chars().nth(4).is_none_or(ends)
}

/// Variables whose value we know, or that are only numbers.
fn known_variable(text: &str, home: Option<&Path>) -> Option<String> {
    match text {
        "$HOME" => home.map(|home| home.to_string_lossy().into_owned()),
        "$PWD" => Some(".".to_owned()),
        "$?" | "$$" | "$!" | "$#" => Some("0".to_owned()),
        _ => None,
    }
}
