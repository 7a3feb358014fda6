//! Cuts a growing Markdown text into top-level segments, line by line.
//!
//! The rules are CommonMark's as far as they decide where a top-level block ends; what a
//! segment means is left to the parser. A decision never looks ahead.

use super::line::{Fence, Item, Line, Start};

/// No segment grows past this, whatever it is made of.
const MAX_BYTES: usize = 64 * 1024;
/// Where a list goes on in a new segment.
const LIST_ITEMS: usize = 25;
const LIST_BYTES: usize = 8 * 1024;
const TABLE_ROWS: usize = 100;

/// A closed or open stretch of Markdown to be parsed by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prose {
    pub source: String,
    /// Goes on with the list or table of the segment before.
    pub continued: bool,
    /// The number of the first item of a list that goes on.
    pub number: Option<u64>,
}

/// What a line has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Prose(Prose),
    FenceOpen(Fence),
    CodeLine(String),
    FenceClose,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Splitter {
    open: Open,
}

#[derive(Debug, Clone, Default)]
enum Open {
    #[default]
    Nothing,
    Fence(Fence),
    Prose(Prose, Shape),
}

#[derive(Debug, Clone)]
enum Shape {
    Paragraph {
        first: bool,
    },
    /// `lazy`: its last line is a paragraph that the next line may go on with.
    Quote {
        lazy: bool,
    },
    Indented,
    Note {
        blank: bool,
    },
    List {
        mark: char,
        offset: usize,
        number: Option<u64>,
        items: usize,
        blank: bool,
    },
    Table {
        header: String,
        rows: usize,
    },
}

enum Verdict {
    Goes,
    Ends,
    /// This line is the last of the segment.
    Last,
    /// The segment ends and goes on in another one with this shape.
    Continues(Prose, Shape),
}

impl Splitter {
    /// Takes one line, with its line break if it has one. `torn` lines are pieces of a line too
    /// long to be held; only the first piece may start anything.
    pub fn line(&mut self, text: &str, torn: bool, steps: &mut Vec<Step>) {
        let line = Line::new(text);
        match &mut self.open {
            Open::Fence(fence) if !torn && line.closes(fence) => {
                steps.push(Step::FenceClose);
                self.open = Open::Nothing;
            }
            Open::Fence(fence) => {
                let code = if torn {
                    line.text
                } else {
                    line.dedented(fence.indent)
                };
                let end = if text.ends_with('\n') { "\n" } else { "" };
                steps.push(Step::CodeLine(format!("{code}{end}")));
            }
            Open::Prose(prose, _) if torn && prose.source.len() < MAX_BYTES => {
                prose.source.push_str(text);
            }
            Open::Prose(..) => self.prose_line(text, line, torn, steps),
            Open::Nothing => self.begin(text, line, torn, steps),
        }
    }

    /// Closes what is open: the text has ended.
    pub fn finish(&mut self, steps: &mut Vec<Step>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Fence(_) => steps.push(Step::FenceClose),
            Open::Prose(prose, _) => steps.push(Step::Prose(prose)),
        }
    }

    /// The fence that is open.
    pub fn fence(&self) -> Option<&Fence> {
        match &self.open {
            Open::Fence(fence) => Some(fence),
            _ => None,
        }
    }

    fn prose_line(&mut self, text: &str, line: Line<'_>, torn: bool, steps: &mut Vec<Step>) {
        let Open::Prose(mut prose, mut shape) = std::mem::take(&mut self.open) else {
            return;
        };
        let verdict = if prose.source.len() + text.len() > MAX_BYTES {
            Verdict::Ends
        } else {
            shape.judge(line, &prose)
        };
        match verdict {
            Verdict::Goes => {
                prose.source.push_str(text);
                self.open = Open::Prose(prose, shape);
            }
            Verdict::Last => {
                prose.source.push_str(text);
                steps.push(Step::Prose(prose));
            }
            Verdict::Ends => {
                steps.push(Step::Prose(prose));
                self.begin(text, line, torn, steps);
            }
            Verdict::Continues(mut next, shape) => {
                steps.push(Step::Prose(prose));
                next.source.push_str(text);
                self.open = Open::Prose(next, shape);
            }
        }
    }

    fn begin(&mut self, text: &str, line: Line<'_>, torn: bool, steps: &mut Vec<Step>) {
        let prose = Prose {
            source: text.to_owned(),
            ..Prose::default()
        };
        let start = if torn { Start::Text } else { line.start() };
        let shape = match start {
            Start::Blank => return,
            Start::Heading | Start::Rule => return steps.push(Step::Prose(prose)),
            Start::Fence(fence) => {
                steps.push(Step::FenceOpen(fence.clone()));
                self.open = Open::Fence(fence);
                return;
            }
            Start::Indented => Shape::Indented,
            Start::Quote => Shape::quote(line),
            Start::Note => Shape::Note { blank: false },
            Start::Item(item) => Shape::list(&item),
            Start::Text => Shape::Paragraph { first: true },
        };
        self.open = Open::Prose(prose, shape);
    }
}

impl Shape {
    fn list(item: &Item) -> Self {
        let Item {
            mark,
            number,
            offset,
            empty,
        } = *item;
        Self::List {
            mark,
            offset,
            number,
            items: 1,
            blank: empty,
        }
    }

    fn quote(line: Line<'_>) -> Self {
        let inner = line.rest.trim_start_matches(['>', ' ', '\t']);
        let lazy = matches!(Line::new(inner).start(), Start::Text | Start::Item(_));
        Self::Quote { lazy }
    }

    fn judge(&mut self, line: Line<'_>, prose: &Prose) -> Verdict {
        let start = line.start();
        match self {
            Self::Paragraph { first } => {
                let second = std::mem::take(first);
                if second && is_table(&prose.source, line) {
                    let header = format!("{}{}\n", prose.source, line.text);
                    *self = Self::Table { header, rows: 0 };
                    return Verdict::Goes;
                }
                if line.is_underline() {
                    Verdict::Last
                } else {
                    lazy(&start)
                }
            }
            Self::Quote { lazy: open } => match start {
                Start::Quote => {
                    *self = Self::quote(line);
                    Verdict::Goes
                }
                Start::Text | Start::Indented if *open => Verdict::Goes,
                _ => Verdict::Ends,
            },
            Self::Indented => match start {
                Start::Blank | Start::Indented => Verdict::Goes,
                _ => Verdict::Ends,
            },
            Self::Note { blank } => within(blank, &start, line.indent >= 4),
            Self::Table { header, rows } => table_row(header, rows, &start),
            Self::List { .. } => self.judge_list(line, &start, prose),
        }
    }

    fn judge_list(&mut self, line: Line<'_>, start: &Start, prose: &Prose) -> Verdict {
        let Self::List {
            mark,
            offset,
            number,
            items,
            blank,
        } = self
        else {
            return Verdict::Ends;
        };
        if line.indent >= *offset && *start != Start::Blank {
            *blank = false;
            return Verdict::Goes;
        }
        match start {
            Start::Item(item) if item.mark == *mark => {
                if *items >= LIST_ITEMS || prose.source.len() >= LIST_BYTES {
                    let number = number.map(|number| number + *items as u64);
                    let next = Prose {
                        continued: true,
                        number,
                        source: String::new(),
                    };
                    let shape = Self::list(&Item {
                        number,
                        ..item.clone()
                    });
                    return Verdict::Continues(next, shape);
                }
                *offset = item.offset;
                *items += 1;
                // Nothing goes on with an item that has not begun.
                *blank = item.empty;
                Verdict::Goes
            }
            Start::Item(_) => Verdict::Ends,
            start => within(blank, start, false),
        }
    }
}

/// A line in a container that a blank line does not end.
fn within(blank: &mut bool, start: &Start, indented: bool) -> Verdict {
    if *start == Start::Blank {
        *blank = true;
        return Verdict::Goes;
    }
    let after_blank = std::mem::take(blank);
    match (indented, after_blank) {
        (true, _) => Verdict::Goes,
        (false, true) => Verdict::Ends,
        (false, false) => lazy(start),
    }
}

/// Whether a line goes on with the paragraph above it.
fn lazy(start: &Start) -> Verdict {
    match start {
        Start::Text | Start::Indented => Verdict::Goes,
        // CommonMark: only a list that starts at 1 and says something interrupts a paragraph.
        Start::Item(item) if item.empty || item.number.is_some_and(|number| number != 1) => {
            Verdict::Goes
        }
        _ => Verdict::Ends,
    }
}

fn is_table(header: &str, delimiter: Line<'_>) -> bool {
    let cells = Line::new(header).header_cells();
    cells.is_some() && cells == delimiter.delimiter_cells()
}

fn table_row(header: &str, rows: &mut usize, start: &Start) -> Verdict {
    if !matches!(start, Start::Text | Start::Indented) {
        return Verdict::Ends;
    }
    if *rows < TABLE_ROWS {
        *rows += 1;
        return Verdict::Goes;
    }
    let next = Prose {
        source: header.to_owned(),
        continued: true,
        number: None,
    };
    Verdict::Continues(
        next,
        Shape::Table {
            header: header.to_owned(),
            rows: 1,
        },
    )
}
