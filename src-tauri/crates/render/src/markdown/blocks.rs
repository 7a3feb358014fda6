//! The growing list of finished blocks, and what is still open behind them.

use std::collections::{HashMap, HashSet};

use super::code::{NestedCode, OpenCode};
use super::line::Line;
use super::segment::{Prose, Splitter, Step};
use super::{Options, tail, write};
use crate::sanitize;

/// A line longer than this is taken in pieces.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// The definitions that links and footnote marks elsewhere in the text point to.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub links: HashMap<String, String>,
    pub notes: HashSet<String>,
}

/// How labels compare: without regard to case and to the width of white space.
pub(super) fn normal_label(label: &str) -> String {
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
    /// Finished blocks that mention labels nobody has defined yet.
    waiting: Vec<Waiting>,
    splitter: Splitter,
    code: Option<OpenCode>,
    nested: NestedCode,
    /// The line being written.
    line: String,
    torn: bool,
    /// The last text ended with a carriage return that may be half of a line break.
    after_return: bool,
}

struct Waiting {
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
            waiting: Vec::new(),
            splitter: Splitter::default(),
            code: None,
            nested: NestedCode::default(),
            line: String::new(),
            torn: false,
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

    /// Closes everything and resolves the references that had to wait.
    /// Returns how many blocks at the front have not changed.
    pub fn finish(&mut self) -> usize {
        let mut steps = Vec::new();
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.splitter.line(&line, self.torn, &mut steps);
        }
        self.splitter.finish(&mut steps);
        let before = self.html.len();
        self.apply(steps);
        self.resolve().min(before)
    }

    /// The open end as it should look now. Nothing in it is final.
    pub fn preview(&mut self) -> Vec<String> {
        if let Some(code) = &self.code {
            return code
                .preview(self.open_code_line())
                .iter()
                .map(|b| sanitize::clean(b))
                .collect();
        }
        let mut splitter = self.splitter.clone();
        let mut steps = Vec::new();
        let line = if self.torn {
            &self.line
        } else {
            tail::without_marker(&self.line)
        };
        if !line.is_empty() {
            splitter.line(line, self.torn, &mut steps);
        }
        splitter.finish(&mut steps);
        let last = steps.len().saturating_sub(1);
        steps
            .into_iter()
            .enumerate()
            .filter_map(|(at, step)| self.preview_step(step, at == last))
            .collect()
    }

    fn preview_step(&mut self, step: Step, last: bool) -> Option<String> {
        let Step::Prose(mut prose) = step else {
            return None;
        };
        if last {
            prose.source = tail::mended(&prose.source, self.options.root.as_deref());
        }
        let written = write::write(&prose, &self.options, &self.definitions, &mut self.nested);
        (!written.markup.is_empty()).then(|| sanitize::clean(&written.markup))
    }

    /// The open line of a fence; nothing while it may still turn out to close it.
    fn open_code_line(&self) -> &str {
        let line = Line::new(&self.line);
        let Some(fence) = self.splitter.fence() else {
            return "";
        };
        if self.torn {
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
            self.torn = true;
        }
        self.line.push(c);
    }

    fn end_line(&mut self) {
        self.line.push('\n');
        self.pass_line();
        self.torn = false;
    }

    fn pass_line(&mut self) {
        let mut steps = Vec::new();
        let mut line = std::mem::take(&mut self.line);
        self.splitter.line(&line, self.torn, &mut steps);
        line.clear();
        self.line = line;
        self.apply(steps);
    }

    fn apply(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Prose(prose) => self.close_prose(prose),
                Step::FenceOpen(fence) => self.code = Some(OpenCode::new(fence.lang)),
                Step::CodeLine(line) => {
                    let full = self.code.as_mut().and_then(|code| code.line(&line));
                    self.html.extend(full.map(|block| sanitize::clean(&block)));
                }
                Step::FenceClose => {
                    let block = self.code.take().map(OpenCode::close);
                    self.html.extend(block.map(|block| sanitize::clean(&block)));
                }
            }
        }
    }

    fn close_prose(&mut self, prose: Prose) {
        let written = write::write(&prose, &self.options, &self.definitions, &mut self.nested);
        self.nested.forget();
        for (label, target) in written.links {
            self.definitions.links.entry(label).or_insert(target);
        }
        self.definitions.notes.extend(written.notes);
        if written.markup.is_empty() {
            return;
        }
        if !written.missing.is_empty() {
            let index = self.html.len();
            self.waiting.push(Waiting {
                index,
                prose,
                labels: written.missing,
            });
        }
        self.html.push(sanitize::clean(&written.markup));
    }

    /// Returns the first block that has changed, or the number of blocks.
    fn resolve(&mut self) -> usize {
        let mut first = self.html.len();
        for waiting in std::mem::take(&mut self.waiting) {
            let known = |label: &String| {
                self.definitions.links.contains_key(label) || self.definitions.notes.contains(label)
            };
            if waiting.labels.iter().any(known) {
                let written = write::write(
                    &waiting.prose,
                    &self.options,
                    &self.definitions,
                    &mut self.nested,
                );
                self.html[waiting.index] = sanitize::clean(&written.markup);
                first = first.min(waiting.index);
            }
        }
        first
    }
}
