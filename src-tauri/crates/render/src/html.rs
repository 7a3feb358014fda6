//! Escapes text for HTML. All other modules use these functions to write text and attributes.

use crate::escape::{self, Run};

/// The class of a hidden character, which is shown as its code.
pub(crate) const HIDDEN_CLASS: &str = "hidden-char";

/// Appends `text`, with every hidden character in a span of its own.
pub(crate) fn push_text(out: &mut String, text: &str) {
    for run in escape::runs(text) {
        match run {
            Run::Visible(text) => push_escaped(out, text),
            Run::Hidden(_, c) => {
                push_open_span(out, HIDDEN_CLASS);
                push_escaped(out, &escape::replacement(c));
                out.push_str("</span>");
            }
        }
    }
}

/// Appends ` name="value"`.
pub(crate) fn push_attribute(out: &mut String, name: &'static str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value);
    out.push('"');
}

/// Appends `text` in a span, or without one if it has no class.
pub(crate) fn push_span(out: &mut String, class: Option<&'static str>, text: &str) {
    match class {
        Some(class) => {
            push_open_span(out, class);
            push_text(out, text);
            out.push_str("</span>");
        }
        None => push_text(out, text),
    }
}

fn push_open_span(out: &mut String, class: &'static str) {
    out.push_str("<span class=\"");
    out.push_str(class);
    out.push_str("\">");
}

fn push_escaped(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(entity);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}
