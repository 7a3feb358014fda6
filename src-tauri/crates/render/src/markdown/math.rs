//! Formulas in a text: `$…$` and `$$…$$`, and what models also write, `\(…\)` and `\[…\]`.

use std::borrow::Cow;
use std::ops::Range;

use crate::{html, math};

/// Appends a formula, or its source if it is not understood.
pub(super) fn push(out: &mut String, latex: &str, display: bool) {
    match math::render(latex, display) {
        Some(made) if display => {
            out.push_str("<span class=\"math-display\">");
            out.push_str(&made);
            out.push_str("</span>");
        }
        Some(made) => out.push_str(&made),
        None => {
            let mark = if display { "$$" } else { "$" };
            html::push_text(out, &format!("{mark}{latex}{mark}"));
        }
    }
}

/// Prices and variables of a shell are no formulas: `$5/$10`, `$HOME/bin:$PATH`.
pub(super) fn is_formula(source: &str, place: &Range<usize>) -> bool {
    let before = source[..place.start].chars().next_back();
    let after = source[place.end..].chars().next();
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '{');
    !joins(before) && !joins(after)
}

/// The source with the marks of LaTeX as dollars, outside of code.
pub(super) fn with_dollars(source: &str) -> Cow<'_, str> {
    let has_marks = source.contains("\\(") || source.contains("\\[");
    if !has_marks || source.contains("```") || source.contains("~~~") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['`', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = if rest.starts_with('`') {
            let code = code_span(rest);
            out.push_str(&rest[..code]);
            code
        } else {
            formula(rest, &mut out)
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The length of the code at the start; of its backticks only, if it is not closed.
fn code_span(text: &str) -> usize {
    let width = text.len() - text.trim_start_matches('`').len();
    let mut at = width;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        at = start + run;
        if run == width {
            return at;
        }
    }
    width
}

/// Appends the formula at the start with dollars, or the backslash and what it escapes as they are.
fn formula(text: &str, out: &mut String) -> usize {
    for (open, close, mark) in [("\\(", "\\)", "$"), ("\\[", "\\]", "$$")] {
        let Some(inner) = text.strip_prefix(open) else {
            continue;
        };
        let Some(end) = inner.find(close) else { break };
        let latex = &inner[..end];
        if latex.trim().is_empty() || latex.contains(['$', '`']) || latex.contains("\n\n") {
            break;
        }
        out.push_str(mark);
        out.push_str(latex.trim());
        out.push_str(mark);
        return open.len() + end + close.len();
    }
    let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
    out.push_str(&text[..length]);
    length
}
