//! Terminal output: colours become classes, everything else a terminal would obey is dropped.
//!
//! Carriage returns, backspaces and "erase line" are followed within a line, so that a
//! progress bar ends as its last state. Cursor moves, titles, hyperlinks, clipboard writes and
//! private modes have no effect here and leave no trace.

use lathe_protocol::view::BlockUpdate;

use crate::{html, sanitize};

pub(crate) mod colour;
mod parse;

use colour::Style;
use parse::{Action, Parser};

/// A line longer than this is broken: output without line ends must not grow for ever.
const MAX_LINE_CHARS: usize = 16 * 1024;

/// A whole output as sanitised HTML, to be put inside a `pre`.
pub fn to_html(text: &str) -> String {
    sanitize::clean(&whole(text, markup))
}

/// A whole output without any escape, as a model should read it.
pub fn strip(text: &str) -> String {
    whole(text, plain)
}

fn whole(text: &str, draw: fn(&Cells) -> String) -> String {
    let mut screen = Screen::default();
    let mut out = String::with_capacity(text.len());
    for line in screen.write(text) {
        out.push_str(&draw(&line));
        out.push('\n');
    }
    out.extend(screen.rest().as_ref().map(draw));
    out
}

/// Every class that [`to_html`] may use, for the style sheet.
pub fn classes() -> &'static [String] {
    &colour::CLASSES
}

/// Output while it is being written. Each block of an update is one line.
#[derive(Default)]
pub struct AnsiStream {
    screen: Screen,
    finished: usize,
}

impl AnsiStream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds output and says which lines to draw anew. An escape may be split anywhere.
    pub fn push(&mut self, text: &str) -> BlockUpdate {
        let keep = self.finished;
        let done = self.screen.write(text);
        self.finished += done.len();
        let lines = done
            .iter()
            .chain(self.screen.rest().as_ref())
            .map(html)
            .collect();
        BlockUpdate {
            keep,
            blocks: lines,
        }
    }
}

type Cells = Vec<(char, Style)>;

/// The line being written and the state that outlives it.
#[derive(Default)]
struct Screen {
    parser: Parser,
    style: Style,
    line: Cells,
    column: usize,
}

impl Screen {
    /// Returns the lines that are finished.
    fn write(&mut self, text: &str) -> Vec<Cells> {
        let mut done = Vec::new();
        for c in text.chars() {
            match self.parser.next(c) {
                Action::None => {}
                Action::Print(c) => self.print(c, &mut done),
                Action::LineFeed => done.push(self.take_line()),
                Action::Return => self.column = 0,
                Action::Backspace => self.column = self.column.saturating_sub(1),
                Action::Style(codes) => self.style.apply(&codes),
                Action::EraseLine(mode) => self.erase(mode),
            }
        }
        done
    }

    /// The line that is not finished, if there is anything on it.
    fn rest(&self) -> Option<Cells> {
        (!self.line.is_empty()).then(|| self.line.clone())
    }

    fn print(&mut self, c: char, done: &mut Vec<Cells>) {
        if self.column >= MAX_LINE_CHARS {
            done.push(self.take_line());
        }
        match self.line.get_mut(self.column) {
            Some(cell) => *cell = (c, self.style),
            None => self.line.push((c, self.style)),
        }
        self.column += 1;
    }

    fn take_line(&mut self) -> Cells {
        self.column = 0;
        std::mem::take(&mut self.line)
    }

    fn erase(&mut self, mode: u16) {
        match mode {
            0 => self.line.truncate(self.column),
            1 => self
                .line
                .iter_mut()
                .take(self.column)
                .for_each(|cell| *cell = (' ', Style::default())),
            _ => {
                self.line.truncate(self.column);
                self.line
                    .iter_mut()
                    .for_each(|cell| *cell = (' ', Style::default()));
            }
        }
    }
}

fn html(line: &Cells) -> String {
    sanitize::clean(&markup(line))
}

fn markup(line: &Cells) -> String {
    let mut out = String::with_capacity(line.len() * 2);
    for run in line.chunk_by(|a, b| a.1 == b.1) {
        let text: String = run.iter().map(|(c, _)| *c).collect();
        let classes = run
            .first()
            .map(|(_, style)| style.classes())
            .unwrap_or_default();
        if classes.is_empty() {
            html::push_text(&mut out, &text);
        } else {
            out.push_str("<span");
            html::push_attribute(&mut out, "class", &classes);
            out.push('>');
            html::push_text(&mut out, &text);
            out.push_str("</span>");
        }
    }
    out
}

fn plain(line: &Cells) -> String {
    let text: String = line.iter().map(|(c, _)| *c).collect();
    let erased = line
        .last()
        .is_some_and(|(c, style)| *c == ' ' && *style == Style::default());
    if erased {
        text.trim_end().to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
