//! Terminal output: colours become classes, other escape sequences are dropped.
//!
//! Carriage returns, backspaces and "erase line" take effect within a line, so that a progress
//! bar is shown in its last state. Cursor movements, titles, hyperlinks, clipboard writes and
//! private modes are removed.

use crate::{html, sanitize};

pub(crate) mod colour;
mod parse;

use colour::Style;
use parse::{Action, Parser};

/// A longer line is broken into several.
const MAX_LINE_CHARS: usize = 16 * 1024;

/// Renders an output as sanitised HTML, to be put inside a `pre`.
pub fn to_html(text: &str) -> String {
    sanitize::clean(&render_lines(text, line_to_html))
}

/// Removes all escape sequences.
pub fn strip(text: &str) -> String {
    render_lines(text, line_to_text)
}

fn render_lines(text: &str, render: fn(&Line) -> String) -> String {
    let mut screen = Screen::default();
    let mut out = String::with_capacity(text.len());
    for line in screen.write(text) {
        out.push_str(&render(&line));
        out.push('\n');
    }
    out.extend(screen.open_line().map(render));
    out
}

/// Every class that [`to_html`] may use.
pub fn classes() -> &'static [String] {
    &colour::CLASSES
}

type Line = Vec<(char, Style)>;

/// The line being written, and the state that carries over to the next one.
#[derive(Default)]
struct Screen {
    parser: Parser,
    style: Style,
    line: Line,
    column: usize,
}

impl Screen {
    /// Returns the lines that are complete. An escape sequence may be split between two calls.
    fn write(&mut self, text: &str) -> Vec<Line> {
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

    /// The last line, if it is not complete and not empty.
    fn open_line(&self) -> Option<&Line> {
        (!self.line.is_empty()).then_some(&self.line)
    }

    fn print(&mut self, c: char, done: &mut Vec<Line>) {
        if self.column >= MAX_LINE_CHARS {
            done.push(self.take_line());
        }
        match self.line.get_mut(self.column) {
            Some(cell) => *cell = (c, self.style),
            None => self.line.push((c, self.style)),
        }
        self.column += 1;
    }

    fn take_line(&mut self) -> Line {
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

/// The result is not sanitised yet.
fn line_to_html(line: &Line) -> String {
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

fn line_to_text(line: &Line) -> String {
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
