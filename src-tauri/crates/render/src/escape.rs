//! Replaces invisible characters (control and format characters) by visible escapes.
//!
//! A dialog that asks for permission must show exactly what will run. So a character that is
//! invisible, or that reorders its neighbours, is shown as its code.

/// Escapes hidden characters, except line breaks and tabs.
pub fn visible(text: &str) -> String {
    escape_hidden(text, |c| c == '\n' || c == '\t')
}

/// Escapes hidden characters, line breaks and tabs, for text on one line (a file name, a title).
pub fn visible_line(text: &str) -> String {
    escape_hidden(text, |_| false)
}

/// Whether the character `c` after `previous` is invisible.
///
/// Joiners and variation selectors count as hidden, except in emoji and in scripts that need
/// them.
pub fn is_hidden(previous: Option<char>, c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200c}' => !previous.is_some_and(joins_letters),
        '\u{200d}' => !previous.is_some_and(|p| joins_letters(p) || is_pictograph(p)),
        '\u{fe00}'..='\u{fe0f}' => !previous.is_some_and(takes_variation),
        c if (c as u32) < 0xa0 => c.is_control(),
        c => is_format(c),
    }
}

/// What is shown instead of a hidden character: a picture such as `␛` for an ASCII control
/// character, else its code such as `\u{202e}`.
pub fn replacement(c: char) -> String {
    let code = c as u32;
    let picture = match code {
        0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some(picture) => picture.to_string(),
        None => format!("\\u{{{code:x}}}"),
    }
}

/// Splits `text` into runs of visible text and single hidden characters.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut rest = text;
    let mut previous = None;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if is_hidden(previous, first) {
            previous = Some(first);
            let (run, tail) = rest.split_at(first.len_utf8());
            rest = tail;
            return Some(Run::Hidden(run, first));
        }
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                let hidden = is_hidden(previous, *c);
                if !hidden {
                    previous = Some(*c);
                }
                hidden
            })
            .map_or(rest.len(), |(at, _)| at);
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some(Run::Visible(run))
    })
}

/// A piece of text, as [`runs`] splits it. Both variants have the exact source text.
pub(crate) enum Run<'a> {
    Visible(&'a str),
    Hidden(&'a str, char),
}

fn escape_hidden(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = None;
    for c in text.chars() {
        if keep(c) || !(is_hidden(previous, c) || matches!(c, '\n' | '\t')) {
            out.push(c);
        } else {
            out.push_str(&replacement(c));
        }
        previous = Some(c);
    }
    out
}

fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Arabic, Syriac and the Indic scripts need joiners for spelling.
fn joins_letters(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1780}'..='\u{17b3}')
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn takes_variation(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}' | '\u{2010}'..='\u{2049}' | '\u{2100}'..='\u{21ff}')
        || (is_pictograph(c) && c != '\u{fe0f}')
        || matches!(c, '\u{3000}'..='\u{9fff}')
}

#[cfg(test)]
mod tests;
