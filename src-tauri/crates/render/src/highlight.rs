//! Syntax highlighting, as class names.
//!
//! syntect with bat's grammars was chosen over tree-sitter-highlight because its state after a
//! line is a small value that can be kept and cloned. So a code fence that is still streaming in
//! costs one line at a time, where tree-sitter would need a grammar crate per language and the
//! whole text for every parse. syntect is slower; the limits below bound the worst case. Speed is
//! measured in `benches/render.rs`.

use std::ops::Range;
use std::sync::LazyLock;

use lathe_protocol::view::Span;
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use crate::escape::{self, Run};
use crate::html;

mod scopes;

pub use scopes::CLASSES;

/// Longer texts are shown without colours from here on, because highlighting takes too long.
pub const MAX_LINES: usize = 2_000;
pub const MAX_BYTES: usize = 200 * 1024;
const MAX_LINE_BYTES: usize = 2_000;

/// Splits `code` into lines without line breaks, and each line into coloured spans.
pub fn lines(code: &str, path_or_lang: &str) -> Vec<Vec<Span>> {
    let mut highlighter = Highlighter::new(path_or_lang);
    code.split_inclusive('\n')
        .map(|line| spans(line, &highlighter.line(line)))
        .collect()
}

/// Appends a line as HTML, which is not sanitised yet.
pub(crate) fn push_line(out: &mut String, line: &str, pieces: &[Piece]) {
    for (range, class) in pieces {
        html::push_span(out, *class, &line[range.clone()]);
    }
}

/// A byte range of a line and its class. The pieces of a line cover it without gaps.
pub(crate) type Piece = (Range<usize>, Option<&'static str>);

/// Colours one line after the other. A clone continues from the same line.
#[derive(Clone)]
pub(crate) struct Highlighter {
    /// `None` for an unknown language, and beyond the limits.
    state: Option<(ParseState, ScopeStack)>,
    lines: usize,
    bytes: usize,
}

impl Highlighter {
    pub(crate) fn new(path_or_lang: &str) -> Self {
        let state =
            find_syntax(path_or_lang).map(|syntax| (ParseState::new(syntax), ScopeStack::new()));
        Self {
            state,
            lines: 0,
            bytes: 0,
        }
    }

    /// Colours the next line, which is given with its line break.
    pub(crate) fn line(&mut self, line: &str) -> Vec<Piece> {
        self.lines += 1;
        self.bytes += line.len();
        if self.lines > MAX_LINES || self.bytes > MAX_BYTES {
            self.state = None;
        }
        let plain = || vec![(0..line.len(), None)];
        if line.len() > MAX_LINE_BYTES {
            return plain();
        }
        let Some((state, stack)) = &mut self.state else {
            return plain();
        };
        let Ok(operations) = state.parse_line(line, &SYNTAXES) else {
            return plain();
        };

        let mut pieces = Vec::new();
        let mut from = 0;
        for (at, operation) in operations {
            push_piece(&mut pieces, from..at, stack);
            from = at;
            // An error is a bug of the grammar and affects only the colours.
            let _ = stack.apply(&operation);
        }
        push_piece(&mut pieces, from..line.len(), stack);
        pieces
    }
}

fn push_piece(pieces: &mut Vec<Piece>, range: Range<usize>, stack: &ScopeStack) {
    if range.is_empty() {
        return;
    }
    let class = scopes::class_of(stack.as_slice());
    match pieces.last_mut() {
        Some((last, same)) if *same == class => last.end = range.end,
        _ => pieces.push((range, class)),
    }
}

/// Splits a line into spans, without its line break.
pub(crate) fn spans(line: &str, pieces: &[Piece]) -> Vec<Span> {
    let end = line.strip_suffix('\n').unwrap_or(line).len();
    let mut out = Vec::with_capacity(pieces.len());
    for (range, class) in pieces {
        push_spans(
            &mut out,
            &line[range.start.min(end)..range.end.min(end)],
            *class,
            false,
        );
    }
    out
}

/// Appends spans for `text`; each hidden character gets a span of its own.
pub(crate) fn push_spans(out: &mut Vec<Span>, text: &str, class: Option<&str>, mark: bool) {
    for run in escape::runs(text) {
        let (text, shown) = match run {
            Run::Visible(text) => (text, None),
            Run::Hidden(text, c) => (text, Some(escape::replacement(c))),
        };
        let class = class.map(str::to_owned);
        out.push(Span {
            text: text.to_owned(),
            class,
            mark,
            shown,
        });
    }
}

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Finds a grammar by language name, extension or file name.
fn find_syntax(path_or_lang: &str) -> Option<&'static SyntaxReference> {
    let name = path_or_lang
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path_or_lang)
        .trim();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    [Some(name), extension]
        .into_iter()
        .flatten()
        .filter(|token| !token.is_empty())
        .find_map(|token| SYNTAXES.find_syntax_by_token(alias(token)))
}

/// Maps names that models use to names that the grammars have.
fn alias(token: &str) -> &str {
    const ALIASES: [(&str, &str); 16] = [
        ("console", "sh"),
        ("shell", "sh"),
        ("shellsession", "sh"),
        ("shell-session", "sh"),
        ("jsonc", "json"),
        ("json5", "json"),
        ("jsonl", "json"),
        ("mts", "ts"),
        ("cts", "ts"),
        ("jsx", "js"),
        ("golang", "go"),
        ("objc", "m"),
        ("csharp", "cs"),
        ("docker", "dockerfile"),
        ("make", "makefile"),
        ("plaintext", "txt"),
    ];
    ALIASES
        .iter()
        .find(|(known, _)| token.eq_ignore_ascii_case(known))
        .map_or(token, |(_, name)| name)
}

#[cfg(test)]
mod tests;
