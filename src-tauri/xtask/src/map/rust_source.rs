//! What a Rust file consists of: functions, test modules and tests, found in its text.
//!
//! Comments, strings and character literals are blanked first. After that, braces match and a
//! keyword is a keyword.

/// Lines from the first to the last, both counted from 0.
type Lines = std::ops::RangeInclusive<usize>;

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// From the line of `fn` to the line of the closing brace.
    pub lines: usize,
}

/// What was found in one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RustSource {
    pub lines: usize,
    /// Lines within `#[cfg(test)] mod … { … }`.
    pub test_lines: usize,
    /// How many functions have an attribute `#[test]` or `#[….::test]`.
    pub tests: usize,
    /// The outermost functions that are not in a test module.
    pub functions: Vec<Function>,
    /// Files that `#[cfg(test)] mod name;` refers to.
    pub test_modules: Vec<TestModule>,
}

/// A module in a file of its own that is compiled for tests only.
#[derive(Debug, PartialEq, Eq)]
pub struct TestModule {
    pub name: String,
    /// What `#[path = "…"]` says.
    pub path: Option<String>,
}

/// Reads one file.
pub fn read(text: &str) -> RustSource {
    let original: Vec<char> = text.chars().collect();
    let scan = Scan {
        code: blank(&original),
        original,
    };
    let mut found = RustSource {
        lines: text.lines().count(),
        ..RustSource::default()
    };
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < scan.code.len() {
        at = match scan.item_at(at) {
            Some(Item::Attribute { end, words }) => {
                found.tests += usize::from(is_test_attribute(&words));
                match is_test_only(&words)
                    .then(|| scan.test_module(end))
                    .flatten()
                {
                    Some(TestItem::Block { end: last }) => {
                        // What is inside is a test: only the number of tests is of interest.
                        found.tests += scan.tests_between(end, last);
                        blocks.push(scan.line(at)..=scan.line(last));
                        last + 1
                    }
                    Some(TestItem::File { end, module }) => {
                        found.test_modules.push(module);
                        end
                    }
                    None => end,
                }
            }
            Some(Item::Function { end, name }) => {
                found.tests += scan.tests_between(at, end);
                let lines = scan.line(end) - scan.line(at) + 1;
                found.functions.push(Function { name, lines });
                end + 1
            }
            None => at + 1,
        };
    }
    found.test_lines = blocks.iter().map(length).sum();
    found
}

fn length(lines: &Lines) -> usize {
    lines.end() - lines.start() + 1
}

/// `test`, `tokio::test(…)`, but not `cfg(test)`.
fn is_test_attribute(words: &str) -> bool {
    let path = words.split('(').next().unwrap_or_default().trim();
    path.rsplit("::").next() == Some("test")
}

/// `cfg(test)` and `cfg(all(test, …))`.
fn is_test_only(words: &str) -> bool {
    let words: String = words.chars().filter(|c| !c.is_whitespace()).collect();
    words == "cfg(test)" || words.starts_with("cfg(all(test,")
}

enum Item {
    Attribute { end: usize, words: String },
    Function { end: usize, name: String },
}

enum TestItem {
    Block { end: usize },
    File { end: usize, module: TestModule },
}

struct Scan {
    original: Vec<char>,
    /// The same length as the original, so that positions mean the same in both.
    code: Vec<char>,
}

impl Scan {
    fn item_at(&self, at: usize) -> Option<Item> {
        if self.code[at] == '#' {
            let end = self.attribute_end(at)?;
            let words = self.code[at..end].iter().collect::<String>();
            let words = words
                .trim_start_matches(['#', '!', '['])
                .trim_end_matches(']');
            return Some(Item::Attribute {
                end,
                words: words.trim().to_owned(),
            });
        }
        let (keyword, after) = self.word(at)?;
        if keyword != "fn" {
            return None;
        }
        // A type such as `fn(u8)` has no name.
        let (name, after) = self.word(self.skip_space(after))?;
        let body = self.body_after(after)?;
        let end = self.closing(body)?;
        Some(Item::Function { end, name })
    }

    /// The module that follows a `#[cfg(test)]`, with more attributes and `pub` between.
    fn test_module(&self, from: usize) -> Option<TestItem> {
        let mut path = None;
        let mut at = self.skip_space(from);
        while *self.code.get(at)? == '#' {
            let end = self.attribute_end(at)?;
            let words: String = self.original[at..end].iter().collect();
            if words.starts_with("#[path") {
                path = words.split('"').nth(1).map(str::to_owned);
            }
            at = self.skip_space(end);
        }
        let (mut keyword, mut after) = self.word(at)?;
        if keyword == "pub" {
            at = self.skip_space(after);
            if self.code.get(at) == Some(&'(') {
                at = self.skip_space(self.closing(at)? + 1);
            }
            (keyword, after) = self.word(at)?;
        }
        if keyword != "mod" {
            return None;
        }
        let (name, after) = self.word(self.skip_space(after))?;
        let next = self.skip_space(after);
        match self.code.get(next)? {
            '{' => Some(TestItem::Block {
                end: self.closing(next)?,
            }),
            ';' => Some(TestItem::File {
                end: next + 1,
                module: TestModule { name, path },
            }),
            _ => None,
        }
    }

    fn tests_between(&self, from: usize, to: usize) -> usize {
        let mut at = from;
        let mut tests = 0;
        while at < to {
            match (self.code[at] == '#').then(|| self.item_at(at)).flatten() {
                Some(Item::Attribute { end, words }) => {
                    tests += usize::from(is_test_attribute(&words));
                    at = end;
                }
                _ => at += 1,
            }
        }
        tests
    }

    /// The position after `#[…]` or `#![…]`.
    fn attribute_end(&self, at: usize) -> Option<usize> {
        let mut open = at + 1;
        if self.code.get(open) == Some(&'!') {
            open += 1;
        }
        (self.code.get(open) == Some(&'[')).then_some(())?;
        Some(self.closing(open)? + 1)
    }

    /// The brace that opens a function's body. A declaration without a body has none.
    fn body_after(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            match self.code.get(at)? {
                '{' => return Some(at),
                ';' => return None,
                '(' | '[' => at = self.closing(at)? + 1,
                _ => at += 1,
            }
        }
    }

    /// The position of the bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, c) in self.code.iter().enumerate().skip(open) {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The word that begins here, and where it ends.
    fn word(&self, at: usize) -> Option<(String, usize)> {
        let starts = at == 0 || !is_word(self.code[at - 1]);
        let rest = self.code.get(at..)?;
        let length = rest.iter().take_while(|c| is_word(**c)).count();
        (starts && length > 0).then(|| (rest[..length].iter().collect(), at + length))
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = self.code.iter().skip(at);
        at + rest.take_while(|c| c.is_whitespace()).count()
    }

    fn line(&self, at: usize) -> usize {
        self.code[..at].iter().filter(|c| **c == '\n').count()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with spaces in place of comments, strings and character literals.
fn blank(text: &[char]) -> Vec<char> {
    let mut code = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        match skipped(text, at) {
            Some(end) => {
                for c in &mut code[at..end] {
                    if *c != '\n' {
                        *c = ' ';
                    }
                }
                at = end;
            }
            // A word is passed as a whole: the `r` in `for"x"` opens no raw string.
            None if is_word(text[at]) => {
                at += text[at..].iter().take_while(|c| is_word(**c)).count();
            }
            None => at += 1,
        }
    }
    code
}

/// Where the comment, string or character literal that begins here ends.
fn skipped(text: &[char], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let end = match rest {
        ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => comment(rest),
        ['"', ..] => string(rest, 1),
        ['b' | 'c', '"', ..] => string(rest, 2),
        ['r', '"' | '#', ..] => raw_string(rest, 1)?,
        ['b' | 'c', 'r', '"' | '#', ..] => raw_string(rest, 2)?,
        ['\'', '\\', _, ..] => 3 + rest[3..].iter().position(|c| *c == '\'')? + 1,
        ['\'', _, '\'', ..] => 3,
        _ => return None,
    };
    Some(at + end)
}

/// Block comments nest.
fn comment(text: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

fn string(text: &[char], body: usize) -> usize {
    let mut at = body;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// None for a raw identifier such as `r#gen`.
fn raw_string(text: &[char], prefix: usize) -> Option<usize> {
    let hashes = text[prefix..].iter().take_while(|c| **c == '#').count();
    let body = prefix + hashes + 1;
    (text.get(body - 1) == Some(&'"')).then_some(())?;
    let ends = (body..text.len()).find(|at| {
        text[*at] == '"'
            && text[at + 1..]
                .iter()
                .take(hashes)
                .filter(|c| **c == '#')
                .count()
                == hashes
    });
    Some(ends.map_or(text.len(), |end| end + 1 + hashes))
}

#[cfg(test)]
mod tests;
