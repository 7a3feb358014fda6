//! A code fence while it streams in: every complete line is highlighted only once.

use crate::highlight::{self, Highlighter};
use crate::html;

/// After this many lines a fence continues in a new block.
const CHUNK_LINES: usize = 50;
/// The same for bytes: a long line comes in fragments, which may be longer than all other lines.
const CHUNK_BYTES: usize = 16 * 1024;

pub(super) struct OpenCode {
    lang: String,
    highlighter: Highlighter,
    /// The coloured lines of the open block.
    markup: String,
    lines: usize,
    bytes: usize,
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
            bytes: 0,
            continued: false,
        }
    }

    /// Adds a line, given with its line break. Returns the block before it, if that is full.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let full = self.is_full().then(|| self.cut());
        highlight::push_line(&mut self.markup, line, &self.highlighter.line(line));
        self.lines += 1;
        self.bytes += line.len();
        full
    }

    fn is_full(&self) -> bool {
        self.lines == CHUNK_LINES || self.bytes >= CHUNK_BYTES
    }

    /// The blocks with `partial` as the next line.
    pub fn preview(&self, partial: &str) -> Vec<String> {
        let mut highlighter = self.highlighter.clone();
        let mut line = String::new();
        if !partial.is_empty() {
            highlight::push_line(&mut line, partial, &highlighter.line(partial));
        }
        if self.is_full() && !line.is_empty() {
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
        self.bytes = 0;
        self.continued = true;
        full
    }

    fn block(&self, markup: &str) -> String {
        block(&self.lang, self.continued, markup)
    }
}

/// Wraps escaped HTML into a block of code.
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

/// A cache of the code blocks inside an open list or quote, which is rendered again with every
/// push.
#[derive(Default)]
pub(super) struct NestedCode {
    blocks: Vec<CachedBlock>,
    next: usize,
}

struct CachedBlock {
    lang: String,
    /// The complete lines, and their HTML.
    code: String,
    markup: String,
    highlighter: Highlighter,
}

impl NestedCode {
    /// Call this before a segment is rendered again.
    pub fn rewind(&mut self) {
        self.next = 0;
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The HTML of the next code block of the segment.
    pub fn markup(&mut self, lang: &str, code: &str) -> String {
        let at = self.next;
        self.next += 1;
        let matches = |block: &CachedBlock| block.lang == lang && code.starts_with(&block.code);
        if !self.blocks.get(at).is_some_and(matches) {
            self.blocks.truncate(at);
            self.blocks.push(CachedBlock::new(lang));
        }
        self.blocks
            .get_mut(at)
            .map(|block| block.markup(code))
            .unwrap_or_default()
    }
}

impl CachedBlock {
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
