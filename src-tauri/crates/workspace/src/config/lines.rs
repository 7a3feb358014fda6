//! Finds the line of a setting, so that a person can go to it.

/// The line of a key such as `agent.build.model` in a JSON file with comments, from 1. If the key
/// is not there, the line of the table that should have it.
pub fn line_of(text: &str, key: &str) -> Option<u32> {
    let mut best: Option<(usize, u32)> = None;
    for (path, line) in Keys::new(text) {
        let is_above = key == path
            || key
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.starts_with(['.', '[']));
        if is_above && best.is_none_or(|(length, _)| length < path.len()) {
            best = Some((path.len(), line));
        }
    }
    best.map(|(_, line)| line)
}

/// The line of a key in the settings at the top of a Markdown file. Only its first name counts.
pub fn line_in_front_matter(text: &str, key: &str) -> Option<u32> {
    let name = key.split(['.', '[']).next().unwrap_or(key);
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let at = text.lines().position(is_key)?;
    u32::try_from(at + 1).ok()
}

/// A table or a list around the current place, with its path.
enum Level {
    Table { path: String, key: Option<String> },
    List { path: String, index: usize },
}

impl Level {
    /// The path of the value that comes next.
    fn next(&self) -> String {
        match self {
            Level::Table { path, key } => {
                let key = key.as_deref().unwrap_or_default();
                match path.as_str() {
                    "" => key.to_owned(),
                    path => format!("{path}.{key}"),
                }
            }
            Level::List { path, index } => format!("{path}[{index}]"),
        }
    }
}

/// Every key with its path and line, in order. Mistakes in the file only make it end early.
struct Keys<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: u32,
    levels: Vec<Level>,
}

impl<'a> Keys<'a> {
    fn new(text: &'a str) -> Self {
        Keys {
            rest: text.chars().peekable(),
            line: 1,
            levels: Vec::new(),
        }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.line += u32::from(c == '\n');
        Some(c)
    }

    /// The rest of a string whose opening quote was read.
    fn string(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.bump() {
            match c {
                '"' => break,
                '\\' => text.extend(self.bump()),
                c => text.push(c),
            }
        }
        text
    }

    fn comment(&mut self) {
        match self.rest.peek() {
            Some('/') => while self.bump().is_some_and(|c| c != '\n') {},
            Some('*') => {
                let mut before = self.bump();
                while let Some(c) = self.bump() {
                    if before == Some('*') && c == '/' {
                        break;
                    }
                    before = Some(c);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, is_table: bool) {
        let path = self.levels.last().map(Level::next).unwrap_or_default();
        self.levels.push(match is_table {
            true => Level::Table { path, key: None },
            false => Level::List { path, index: 0 },
        });
    }
}

impl Iterator for Keys<'_> {
    type Item = (String, u32);

    fn next(&mut self) -> Option<(String, u32)> {
        loop {
            match self.bump()? {
                '/' => self.comment(),
                '{' => self.open(true),
                '[' => self.open(false),
                '}' | ']' => {
                    self.levels.pop();
                }
                ',' => match self.levels.last_mut() {
                    Some(Level::Table { key, .. }) => *key = None,
                    Some(Level::List { index, .. }) => *index += 1,
                    None => {}
                },
                '"' => {
                    let line = self.line;
                    let text = self.string();
                    if let Some(level) = self.levels.last_mut() {
                        match level {
                            Level::Table { key, .. } if key.is_none() => *key = Some(text),
                            Level::List { .. } => {}
                            Level::Table { .. } => continue,
                        }
                        return Some((level.next(), line));
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
  // "agent": a comment
  "agent": { "build": { "steps": 3 },
    "review": {
      "model": "a/b", /* "color": "x",
      */ "color": "red"
    } },
  "mcp": { "my.server": {
      "command": ["one",
        "two"] } }
}"#;

    #[test]
    fn a_key_is_found_in_its_table_and_not_in_comments_or_values() {
        let lines = [
            "agent",
            "agent.build.steps",
            "agent.review.model",
            "agent.review.color",
            "mcp.my.server.command",
            "mcp.my.server.command[1]",
        ];
        assert_eq!(
            lines.map(|key| line_of(CONFIG, key)),
            [3, 3, 5, 6, 9, 10].map(Some)
        );
    }

    #[test]
    fn a_key_that_is_missing_has_the_line_of_its_table() {
        assert_eq!(line_of(CONFIG, "agent.review.mode"), Some(4));
        assert_eq!(line_of(CONFIG, "snapshot"), None);
    }

    #[test]
    fn a_file_that_ends_in_the_middle_still_has_lines() {
        for end in 0..CONFIG.len() {
            let _ = line_of(&CONFIG[..end], "mcp.my.server.command[1]");
        }
        assert_eq!(line_of("{\"a\": {\n\"b", "a.b"), Some(2));
    }

    #[test]
    fn a_key_at_the_top_of_a_markdown_file_has_a_line() {
        let text = "---\ndescription: a model: b\nmodel : x\n---\nbody";
        assert_eq!(line_in_front_matter(text, "model"), Some(3));
        assert_eq!(line_in_front_matter(text, "permission.edit"), None);
    }
}
