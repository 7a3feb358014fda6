//! The template of a command: text, placeholders for arguments, and embedded shell commands.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// Between `` !` `` and `` ` ``: replaced with the output of the command.
    Shell(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    pub fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, command, after)) = next_shell(rest) {
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Shell(command.to_owned()));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Template { pieces }
    }

    pub fn shell(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Shell(command) => Some(command.as_str()),
            Piece::Text(_) => None,
        })
    }

    pub fn takes_arguments(&self) -> bool {
        self.texts().any(|text| !placeholders(text).is_empty())
    }

    /// Replaces the placeholders with the arguments. Arguments are plain text: a backtick in
    /// them never becomes a command. The last numbered placeholder takes all remaining words.
    pub fn fill(&self, arguments: &str) -> Vec<Piece> {
        let words = words(arguments);
        let numbers = self.texts().flat_map(placeholders);
        let last = numbers
            .filter_map(|placeholder| placeholder.number)
            .max()
            .unwrap_or(0);
        let fill = |text: &str| fill(text, arguments, &words, last);
        let mut pieces: Vec<Piece> = self
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Piece::Text(fill(text)),
                Piece::Shell(text) => Piece::Shell(fill(text)),
            })
            .collect();
        if !self.takes_arguments() && !arguments.trim().is_empty() {
            pieces.push(Piece::Text(format!("\n\n{}", arguments.trim())));
        }
        pieces
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Shell(text) => text.as_str(),
        })
    }
}

fn next_shell(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find("!`")?;
    let inner = &text[open + 2..];
    let close = inner.find('`').filter(|close| *close > 0)?;
    Some((&text[..open], &inner[..close], &inner[close + 1..]))
}

/// `$1` has a number; `$ARGUMENTS` has none and stands for all arguments.
struct Placeholder {
    start: usize,
    end: usize,
    number: Option<usize>,
}

fn placeholders(text: &str) -> Vec<Placeholder> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('$') {
        let rest = &text[start + 1..];
        if rest.starts_with("ARGUMENTS") {
            let end = start + 1 + "ARGUMENTS".len();
            found.push(Placeholder {
                start,
                end,
                number: None,
            });
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().ok().filter(|number| *number > 0);
        if number.is_some() {
            let end = start + 1 + digits;
            found.push(Placeholder { start, end, number });
        }
    }
    found
}

fn fill(text: &str, all: &str, words: &[String], last: usize) -> String {
    let mut filled = String::new();
    let mut at = 0;
    for placeholder in placeholders(text) {
        filled.push_str(&text[at..placeholder.start]);
        match placeholder.number {
            None => filled.push_str(all.trim()),
            Some(number) if number == last => {
                filled.push_str(&words.get(number - 1..).unwrap_or_default().join(" "));
            }
            Some(number) => filled.push_str(words.get(number - 1).map_or("", String::as_str)),
        }
        at = placeholder.end;
    }
    filled.push_str(&text[at..]);
    filled
}

/// Splits at whitespace; quotes group words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => (quote, begun) = (Some(c), true),
            None if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            None => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, arguments: &str) -> String {
        let pieces = Template::parse(template).fill(arguments);
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Shell(text) => format!("<{text}>"),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn arguments_replace_their_placeholders() {
        let cases = [
            ("Do $ARGUMENTS now", "a b", "Do a b now"),
            ("$1 then $2", "a 'b c' d", "a then b c d"),
            ("$2 before $1", "a b", "b before a"),
            ("only $3", "a b", "only "),
            ("no place", "a b", "no place\n\na b"),
            ("no place", " ", "no place"),
            ("$5.00 and $0 and $x", "", ".00 and $0 and $x"),
            ("log: !`git log -$1` end", "3", "log: <git log -3> end"),
            ("say $ARGUMENTS", "!`rm -r x`", "say !`rm -r x`"),
            ("!`` !`open", "", "!`` !`open"),
        ];
        for (template, arguments, expected) in cases {
            assert_eq!(filled(template, arguments), expected, "{template:?}");
        }
    }
}
