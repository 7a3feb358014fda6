//! The one place where text becomes markup.

use crate::escape::{self, Run};

/// The class of a character that is drawn as its code.
pub(crate) const HIDDEN_CLASS: &str = "hidden-char";

/// Appends `text` so that a browser reads back exactly what a person should see.
pub(crate) fn push_text(out: &mut String, text: &str) {
    for run in escape::runs(text) {
        match run {
            Run::Seen(text) => push_escaped(out, text),
            Run::Hidden(_, c) => {
                push_open_span(out, HIDDEN_CLASS);
                push_escaped(out, &escape::name(c));
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

/// Appends `text` in a span, or bare without a class.
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
