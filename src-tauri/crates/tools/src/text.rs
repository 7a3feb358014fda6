//! Cleans up text from a file or a program for a model, a card or a dialog.

use lathe_protocol::text::is_deceptive;

/// At most `max` characters, with an ellipsis if something was left out.
pub fn shortened(line: &str, max: usize) -> String {
    match line.char_indices().nth(max) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// A name for one line of text. Names with control or direction characters are written as JSON
/// strings: they cannot mislead a reader, and the model can send them back.
pub fn quoted(name: &str) -> String {
    if !name.chars().any(is_deceptive) {
        return name.to_owned();
    }
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if is_deceptive(c) => escape(c, &mut text),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The text with every control and direction character written as an escape; line breaks and
/// tabs stay. For titles and dialogs.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_deceptive(c) => escape(c, &mut out),
            c => out.push(c),
        }
    }
    out
}

fn escape(c: char, out: &mut String) {
    out.push_str(&format!("\\u{:04x}", u32::from(c)));
}

/// The output of a program as text: without escape sequences and control characters; of a line
/// that was overwritten with carriage returns, only the last state.
pub fn plain(output: &str) -> String {
    terminal(output, false)
}

/// The same, but with colours, for display.
pub fn coloured(output: &str) -> String {
    terminal(output, true)
}

fn terminal(output: &str, colours: bool) -> String {
    let mut out = String::with_capacity(output.len());
    let mut line_start = 0;
    // Where the characters of this line start that a backspace can remove. Colours are none.
    let mut cells: Vec<usize> = Vec::new();
    let mut chars = output.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' | '\u{9b}' => {
                if let Some(colour) = sequence(c, &mut chars)
                    && colours
                {
                    out.push_str(&colour);
                }
            }
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' if chars.peek().is_some() => {
                out.truncate(line_start);
                cells.clear();
            }
            '\n' => {
                out.push('\n');
                line_start = out.len();
                cells.clear();
            }
            '\u{8}' => {
                if let Some(last) = cells.pop() {
                    out.remove(last);
                }
            }
            c if c == '\t' || !is_deceptive(c) => {
                cells.push(out.len());
                out.push(c);
            }
            _ => {}
        }
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Consumes one escape sequence; returns it if it only sets colours.
fn sequence(first: char, chars: &mut Chars) -> Option<String> {
    let kind = if first == '\u{9b}' {
        '['
    } else {
        chars.next()?
    };
    match kind {
        '[' => control_sequence(chars),
        ']' | 'P' | 'X' | '^' | '_' => {
            skip_string(chars);
            None
        }
        // Intermediate bytes, then one final byte.
        ' '..='/' => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
            None
        }
        _ => None,
    }
}

fn control_sequence(chars: &mut Chars) -> Option<String> {
    let mut parameters = String::new();
    while let Some(c) = chars.next_if(|c| matches!(c, ' '..='?')) {
        parameters.push(c);
    }
    let last = chars.next_if(|c| matches!(c, '@'..='~'))?;
    let colour = last == 'm'
        && parameters
            .chars()
            .all(|c| matches!(c, '0'..='9' | ';' | ':'));
    colour.then(|| format!("\u{1b}[{parameters}m"))
}

/// OSC, DCS and similar sequences end with BEL or ST. An unfinished one ends with its line, so
/// that a stray byte cannot swallow the rest of the output.
fn skip_string(chars: &mut Chars) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if(|c| *c == '\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_colours_survive_in_what_is_displayed() {
        let output = "\u{1b}[31mred\u{1b}[0m \u{1b}[2Jcleared \u{1b}]0;title\u{7}\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\ \u{202e}evil\u{202c}\u{7}";
        assert_eq!(coloured(output), "\u{1b}[31mred\u{1b}[0m cleared link evil");
        assert_eq!(plain(output), "red cleared link evil");
    }

    #[test]
    fn a_progress_line_is_left_in_its_last_state() {
        assert_eq!(plain("10%\r50%\r100%\r\ndone\r\n"), "100%\ndone\n");
        assert_eq!(plain("abc\u{8}\u{8}x"), "ax");
        // A backspace removes a character, never a part of a colour.
        assert_eq!(coloured("ab\u{1b}[31m\u{8}c"), "a\u{1b}[31mc");
        assert_eq!(coloured("\u{1b}[m\u{8}a"), "\u{1b}[ma");
    }

    #[test]
    fn an_unfinished_sequence_does_not_swallow_the_next_line() {
        assert_eq!(plain("a\u{1b}]0;never ends\nb"), "a\nb");
        assert_eq!(plain("a\u{1b}[31"), "a");
        assert_eq!(plain("a\u{1b}"), "a");
    }

    #[test]
    fn deceptive_names_are_written_as_json() {
        assert_eq!(quoted("a b ü.txt"), "a b ü.txt");
        let name = "a\n\"b\"\u{202e}\u{1b}[31m";
        assert_eq!(serde_json::from_str::<String>(&quoted(name)).unwrap(), name);
        assert_eq!(visible("rm\u{1b}[8m x\n"), "rm\\u001b[8m x\n");
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äöü…");
    }

    proptest! {
        #[test]
        fn no_control_character_but_breaks_and_tabs_gets_through(output in "(\\PC|[\u{0}-\u{9f}]|\u{1b}\\[|\u{1b}\\]){0,60}") {
            prop_assert!(plain(&output).chars().all(|c| matches!(c, '\n' | '\t') || !is_deceptive(c)));
            prop_assert_eq!(plain(&coloured(&output)), plain(&output));
        }
    }
}
