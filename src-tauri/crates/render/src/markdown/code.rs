//! A code fence while it grows: finished lines are coloured once and never again.

use crate::highlight::{self, Highlighter};
use crate::html;

/// A long fence goes on in a new block after this many lines.
const CHUNK_LINES: usize = 50;

pub(super) struct OpenCode {
    lang: String,
    highlighter: Highlighter,
    /// The coloured lines of the open block.
    markup: String,
    lines: usize,
    continued: bool,
}

impl OpenCode {
    pub fn new(lang: String) -> Self {
        let highlighter = Highlighter::new(&lang);
        Self {
            lang,
            highlighter,
            markup: String::new(),
            lines: 0,
            continued: false,
        }
    }

    /// Adds a line, given with its line break. Returns a block that is full.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let full = (self.lines == CHUNK_LINES).then(|| self.cut());
        highlight::push_line(&mut self.markup, line, &self.highlighter.line(line));
        self.lines += 1;
        full
    }

    /// The blocks as they would be if `partial` were all of the next line.
    pub fn preview(&self, partial: &str) -> Vec<String> {
        let mut highlighter = self.highlighter.clone();
        let mut line = String::new();
        if !partial.is_empty() {
            highlight::push_line(&mut line, partial, &highlighter.line(partial));
        }
        if self.lines == CHUNK_LINES && !line.is_empty() {
            return vec![self.block(&self.markup), block(&self.lang, true, &line)];
        }
        vec![self.block(&format!("{}{line}", self.markup))]
    }

    /// The last block.
    pub fn close(self) -> String {
        self.block(&self.markup)
    }

    fn cut(&mut self) -> String {
        let full = self.block(&self.markup);
        self.markup.clear();
        self.lines = 0;
        self.continued = true;
        full
    }

    fn block(&self, markup: &str) -> String {
        block(&self.lang, self.continued, markup)
    }
}

/// A block of code from markup that is already escaped.
pub(super) fn block(lang: &str, continued: bool, markup: &str) -> String {
    let class = if continued { "code continued" } else { "code" };
    let mut out = String::with_capacity(markup.len() + 64);
    out.push_str("<pre");
    html::push_attribute(&mut out, "class", class);
    if !lang.is_empty() {
        html::push_attribute(&mut out, "data-lang", lang);
    }
    out.push_str("><code>");
    out.push_str(markup);
    out.push_str("</code></pre>");
    out
}

/// The coloured lines of the code blocks inside an open list or quote, kept from push to push.
#[derive(Default)]
pub(super) struct NestedCode {
    kept: Vec<Kept>,
    next: usize,
}

struct Kept {
    lang: String,
    /// The lines that are complete, and their markup.
    code: String,
    markup: String,
    highlighter: Highlighter,
}

impl NestedCode {
    /// The segment is read again from its start.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The markup of the next block of the segment.
    pub fn markup(&mut self, lang: &str, code: &str) -> String {
        let at = self.next;
        self.next += 1;
        let grown = |kept: &Kept| kept.lang == lang && code.starts_with(&kept.code);
        if !self.kept.get(at).is_some_and(grown) {
            self.kept.truncate(at);
            self.kept.push(Kept::new(lang));
        }
        self.kept
            .get_mut(at)
            .map(|kept| kept.markup(code))
            .unwrap_or_default()
    }
}

impl Kept {
    fn new(lang: &str) -> Self {
        let (code, markup) = (String::new(), String::new());
        Self {
            lang: lang.to_owned(),
            code,
            markup,
            highlighter: Highlighter::new(lang),
        }
    }

    fn markup(&mut self, code: &str) -> String {
        for line in code[self.code.len()..].split_inclusive('\n') {
            if !line.ends_with('\n') {
                let mut out = self.markup.clone();
                highlight::push_line(&mut out, line, &self.highlighter.clone().line(line));
                return out;
            }
            highlight::push_line(&mut self.markup, line, &self.highlighter.line(line));
            self.code.push_str(line);
        }
        self.markup.clone()
    }
}
