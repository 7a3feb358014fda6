//! Which block a line starts at the top level, by the rules of CommonMark.

/// A line without its line break, and its indentation in columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub text: &'a str,
    pub rest: &'a str,
    pub indent: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockStart {
    Blank,
    Indented,
    Fence(Fence),
    Heading,
    Rule,
    Quote,
    Item(Item),
    Footnote,
    Text,
}

/// The opening of a code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    pub mark: char,
    pub len: usize,
    pub indent: usize,
    pub lang: String,
}

/// The opening of a list item. `offset` is the column where its content starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub mark: char,
    pub number: Option<u64>,
    pub offset: usize,
    pub empty: bool,
}

impl<'a> Line<'a> {
    pub fn new(text: &'a str) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let rest = text.trim_start_matches([' ', '\t']);
        let indent = columns(&text[..text.len() - rest.len()]);
        Self { text, rest, indent }
    }

    pub fn start(&self) -> BlockStart {
        match self.rest.chars().next() {
            None => BlockStart::Blank,
            Some(_) if self.indent >= 4 => BlockStart::Indented,
            Some('`' | '~') => self.fence().map_or(BlockStart::Text, BlockStart::Fence),
            Some('#') if self.is_heading() => BlockStart::Heading,
            Some('>') => BlockStart::Quote,
            Some('*' | '-' | '_') if self.is_rule() => BlockStart::Rule,
            Some('*' | '-' | '+' | '0'..='9') => {
                self.item().map_or(BlockStart::Text, BlockStart::Item)
            }
            Some('[') if self.is_footnote() => BlockStart::Footnote,
            Some(_) => BlockStart::Text,
        }
    }

    /// Whether this is a line of `=` or `-`, which makes a heading of the paragraph above it.
    pub fn is_underline(&self) -> bool {
        let marks = self.rest.trim_end();
        self.indent < 4
            && !marks.is_empty()
            && (marks.bytes().all(|b| b == b'=') || marks.bytes().all(|b| b == b'-'))
    }

    /// Whether this line closes `fence`.
    pub fn closes(&self, fence: &Fence) -> bool {
        let marks = self.rest.trim_end();
        self.indent < 4 && marks.len() >= fence.len && marks.chars().all(|c| c == fence.mark)
    }

    /// The line without the indentation of its fence.
    pub fn dedented(&self, indent: usize) -> &'a str {
        let spaces = self
            .text
            .bytes()
            .take(indent)
            .take_while(|b| *b == b' ')
            .count();
        &self.text[spaces..]
    }

    /// The number of cells, if this is the delimiter row of a table, such as `|---|:-:|`.
    pub fn delimiter_cells(&self) -> Option<usize> {
        let row = self.rest.trim_end();
        let fits = row.contains('-') && row.bytes().all(|b| b"|:- \t".contains(&b));
        (self.indent < 4 && fits && (row.contains('|') || row.contains(':'))).then(|| cells(row))
    }

    /// The number of cells, if this can be the header of a table.
    pub fn header_cells(&self) -> Option<usize> {
        self.rest.contains('|').then(|| cells(self.rest.trim_end()))
    }

    fn fence(&self) -> Option<Fence> {
        let mark = self.rest.chars().next()?;
        let info = self.rest.trim_start_matches(mark);
        let len = self.rest.len() - info.len();
        if len < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let lang = info.split_whitespace().next().unwrap_or_default();
        let lang = lang
            .trim_start_matches('{')
            .trim_end_matches('}')
            .trim_start_matches('.');
        Some(Fence {
            mark,
            len,
            indent: self.indent,
            lang: lang.to_owned(),
        })
    }

    fn is_heading(&self) -> bool {
        let after = self.rest.trim_start_matches('#');
        self.rest.len() - after.len() <= 6 && (after.is_empty() || after.starts_with([' ', '\t']))
    }

    fn is_rule(&self) -> bool {
        let mut marks = self.rest.chars().filter(|c| !matches!(c, ' ' | '\t'));
        let Some(first) = marks.next() else {
            return false;
        };
        let mut count = 1;
        for mark in marks {
            if mark != first {
                return false;
            }
            count += 1;
        }
        count >= 3
    }

    fn is_footnote(&self) -> bool {
        self.rest
            .strip_prefix("[^")
            .and_then(|rest| rest.split_once("]:"))
            .is_some_and(|(label, _)| !label.is_empty() && !label.contains([' ', ']', '[']))
    }

    fn item(&self) -> Option<Item> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let mark = self.rest[digits..].chars().next()?;
        let number = match (digits, mark) {
            (0, '*' | '-' | '+') => None,
            (1..=9, '.' | ')') => Some(self.rest[..digits].parse().ok()?),
            _ => return None,
        };
        let after = &self.rest[digits + 1..];
        let content = after.trim_start_matches([' ', '\t']);
        if content.len() == after.len() && !after.is_empty() {
            return None;
        }
        let gap = match columns(&after[..after.len() - content.len()]) {
            gap @ 1..=4 if !content.is_empty() => gap,
            _ => 1,
        };
        let offset = self.indent + digits + 1 + gap;
        Some(Item {
            mark,
            number,
            offset,
            empty: content.is_empty(),
        })
    }
}

fn columns(white: &str) -> usize {
    white.bytes().fold(0, |column, b| {
        if b == b'\t' {
            column / 4 * 4 + 4
        } else {
            column + 1
        }
    })
}

fn cells(row: &str) -> usize {
    let inner = row.strip_prefix('|').unwrap_or(row);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut escaped = false;
    1 + inner
        .bytes()
        .filter(|b| {
            let splits = *b == b'|' && !escaped;
            escaped = *b == b'\\' && !escaped;
            splits
        })
        .count()
}
