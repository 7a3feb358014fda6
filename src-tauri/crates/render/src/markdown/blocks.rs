//! The list of finished blocks, and the text after them that is still open.

use std::collections::{HashMap, HashSet};

use super::code::{NestedCode, OpenCode};
use super::line::Line;
use super::segment::{Prose, SplitEvent, Splitter};
use super::{Options, unfinished, write};
use crate::sanitize;

/// A longer line is processed in fragments.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// The link and footnote definitions found so far.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub links: HashMap<String, String>,
    pub footnotes: HashSet<String>,
}

/// Labels are compared without regard to case and to the amount of white space.
pub(super) fn normalize_label(label: &str) -> String {
    label
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

pub(super) struct Blocks {
    options: Options,
    html: Vec<String>,
    definitions: Definitions,
    /// Finished blocks with labels that are not defined yet.
    unresolved: Vec<Unresolved>,
    splitter: Splitter,
    code: Option<OpenCode>,
    nested: NestedCode,
    /// The last line, which is not complete.
    line: String,
    /// `line` is not the start of its line, because that was too long.
    is_fragment: bool,
    /// The last text ended with a carriage return, which may be half of a line break.
    after_return: bool,
}

struct Unresolved {
    index: usize,
    prose: Prose,
    labels: Vec<String>,
}

impl Blocks {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            html: Vec::new(),
            definitions: Definitions::default(),
            unresolved: Vec::new(),
            splitter: Splitter::default(),
            code: None,
            nested: NestedCode::default(),
            line: String::new(),
            is_fragment: false,
            after_return: false,
        }
    }

    /// The finished blocks.
    pub fn html(&self) -> &[String] {
        &self.html
    }

    pub fn into_html(self) -> Vec<String> {
        self.html
    }

    pub fn feed(&mut self, text: &str) {
        for c in text.chars() {
            let after_return = std::mem::replace(&mut self.after_return, c == '\r');
            match c {
                '\n' if after_return => {}
                '\n' | '\r' => self.end_line(),
                '\0' => self.push_char('\u{fffd}'),
                c => self.push_char(c),
            }
        }
    }

    /// Closes everything and resolves references to later definitions. Returns the number of
    /// blocks before the first one that has changed.
    pub fn finish(&mut self) -> usize {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.splitter.line(&line, self.is_fragment, &mut events);
        }
        self.splitter.finish(&mut events);
        let before = self.html.len();
        self.apply(events);
        self.resolve().min(before)
    }

    /// Renders the open text as it should look now. All of it may still change.
    pub fn preview(&mut self) -> Vec<String> {
        if let Some(code) = &self.code {
            return code
                .preview(self.open_code_line())
                .iter()
                .map(|b| sanitize::clean(b))
                .collect();
        }
        let mut splitter = self.splitter.clone();
        let mut events = Vec::new();
        let line = if self.is_fragment {
            &self.line
        } else {
            unfinished::hide_marker(&self.line)
        };
        if !line.is_empty() {
            splitter.line(line, self.is_fragment, &mut events);
        }
        splitter.finish(&mut events);
        let last = events.len().saturating_sub(1);
        events
            .into_iter()
            .enumerate()
            .filter_map(|(at, event)| self.preview_event(event, at == last))
            .collect()
    }

    fn preview_event(&mut self, event: SplitEvent, last: bool) -> Option<String> {
        let SplitEvent::Prose(mut prose) = event else {
            return None;
        };
        if last {
            prose.source = unfinished::complete(&prose.source, self.options.root.as_deref());
        }
        let written = write::write(&prose, &self.options, &self.definitions, &mut self.nested);
        (!written.markup.is_empty()).then(|| sanitize::clean(&written.markup))
    }

    /// The open line of a fence; empty while it may still become the closing fence.
    fn open_code_line(&self) -> &str {
        let line = Line::new(&self.line);
        let Some(fence) = self.splitter.fence() else {
            return "";
        };
        if self.is_fragment {
            return line.text;
        }
        let closing = line.indent < 4 && line.rest.trim_end().chars().all(|c| c == fence.mark);
        if closing {
            ""
        } else {
            line.dedented(fence.indent)
        }
    }

    fn push_char(&mut self, c: char) {
        if self.line.len() >= MAX_LINE_BYTES {
            self.pass_line();
            self.is_fragment = true;
        }
        self.line.push(c);
    }

    fn end_line(&mut self) {
        self.line.push('\n');
        self.pass_line();
        self.is_fragment = false;
    }

    fn pass_line(&mut self) {
        let mut events = Vec::new();
        let mut line = std::mem::take(&mut self.line);
        self.splitter.line(&line, self.is_fragment, &mut events);
        line.clear();
        self.line = line;
        self.apply(events);
    }

    fn apply(&mut self, events: Vec<SplitEvent>) {
        for event in events {
            match event {
                SplitEvent::Prose(prose) => self.close_prose(prose),
                SplitEvent::FenceOpen(fence) => self.code = Some(OpenCode::new(fence.lang)),
                SplitEvent::CodeLine(line) => {
                    let full = self.code.as_mut().and_then(|code| code.line(&line));
                    self.html.extend(full.map(|block| sanitize::clean(&block)));
                }
                SplitEvent::FenceClose => {
                    let block = self.code.take().map(OpenCode::close);
                    self.html.extend(block.map(|block| sanitize::clean(&block)));
                }
            }
        }
    }

    fn close_prose(&mut self, prose: Prose) {
        let written = write::write(&prose, &self.options, &self.definitions, &mut self.nested);
        self.nested.clear();
        for (label, target) in written.links {
            self.definitions.links.entry(label).or_insert(target);
        }
        self.definitions.footnotes.extend(written.footnotes);
        if written.markup.is_empty() {
            return;
        }
        if !written.missing.is_empty() {
            let index = self.html.len();
            self.unresolved.push(Unresolved {
                index,
                prose,
                labels: written.missing,
            });
        }
        self.html.push(sanitize::clean(&written.markup));
    }

    /// Returns the index of the first block that has changed, or the number of blocks.
    fn resolve(&mut self) -> usize {
        let mut first = self.html.len();
        for block in std::mem::take(&mut self.unresolved) {
            let is_defined = |label: &String| {
                let Definitions { links, footnotes } = &self.definitions;
                links.contains_key(label) || footnotes.contains(label)
            };
            if block.labels.iter().any(is_defined) {
                let written = write::write(
                    &block.prose,
                    &self.options,
                    &self.definitions,
                    &mut self.nested,
                );
                self.html[block.index] = sanitize::clean(&written.markup);
                first = first.min(block.index);
            }
        }
        first
    }
}
