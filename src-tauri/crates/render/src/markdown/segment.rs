//! Splits a growing Markdown text into top-level segments, line by line.
//!
//! This implements the rules of CommonMark that decide where a top-level block ends; the content
//! of a segment is left to the parser. A decision never looks ahead.

use super::line::{BlockStart, Fence, Item, Line};

/// The maximum size of any segment. A picture in the text may take half of it.
const MAX_BYTES: usize = 64 * 1024;
/// The limits after which a list or a table continues in a new segment.
const LIST_ITEMS: usize = 25;
const LIST_BYTES: usize = 8 * 1024;
const TABLE_ROWS: usize = 100;
const TABLE_CELLS: usize = 1_000;

/// A segment of Markdown that is parsed by itself; anything but a code fence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prose {
    pub source: String,
    /// Continues the list or table of the previous segment.
    pub continued: bool,
    /// The number of the first item of a continued list.
    pub number: Option<u64>,
}

/// What the splitter reports for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SplitEvent {
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
    /// `lazy`: its last line is a paragraph, which the next line may continue without a `>`.
    Quote {
        lazy: bool,
    },
    Indented,
    Footnote {
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

/// What a line means for the open segment.
enum Effect {
    /// The line belongs to the segment.
    Continues,
    /// The segment ends before the line.
    Ends,
    /// The line belongs to the segment and ends it.
    EndsAfter,
    /// The segment ends before the line, and the line continues it in a new segment.
    Splits(Prose, Shape),
}

impl Splitter {
    /// Takes one line, with its line break if it has one. A fragment is the rest of a line that
    /// was too long; it cannot start a block.
    pub fn line(&mut self, text: &str, is_fragment: bool, events: &mut Vec<SplitEvent>) {
        let line = Line::new(text);
        match &mut self.open {
            Open::Fence(fence) if !is_fragment && line.closes(fence) => {
                events.push(SplitEvent::FenceClose);
                self.open = Open::Nothing;
            }
            Open::Fence(fence) => {
                let code = if is_fragment {
                    line.text
                } else {
                    line.dedented(fence.indent)
                };
                let end = if text.ends_with('\n') { "\n" } else { "" };
                events.push(SplitEvent::CodeLine(format!("{code}{end}")));
            }
            Open::Prose(prose, _) if is_fragment && prose.source.len() < MAX_BYTES => {
                prose.source.push_str(text);
            }
            Open::Prose(..) => self.prose_line(text, line, is_fragment, events),
            Open::Nothing => self.begin(text, line, is_fragment, events),
        }
    }

    /// Closes the open segment at the end of the text.
    pub fn finish(&mut self, events: &mut Vec<SplitEvent>) {
        match std::mem::take(&mut self.open) {
            Open::Nothing => {}
            Open::Fence(_) => events.push(SplitEvent::FenceClose),
            Open::Prose(prose, _) => events.push(SplitEvent::Prose(prose)),
        }
    }

    /// The fence that is open.
    pub fn fence(&self) -> Option<&Fence> {
        match &self.open {
            Open::Fence(fence) => Some(fence),
            _ => None,
        }
    }

    fn prose_line(
        &mut self,
        text: &str,
        line: Line<'_>,
        is_fragment: bool,
        events: &mut Vec<SplitEvent>,
    ) {
        let Open::Prose(mut prose, mut shape) = std::mem::take(&mut self.open) else {
            return;
        };
        let effect = if prose.source.len() + text.len() > MAX_BYTES {
            Effect::Ends
        } else {
            shape.continue_with(line, &prose)
        };
        match effect {
            Effect::Continues => {
                prose.source.push_str(text);
                self.open = Open::Prose(prose, shape);
            }
            Effect::EndsAfter => {
                prose.source.push_str(text);
                events.push(SplitEvent::Prose(prose));
            }
            Effect::Ends => {
                events.push(SplitEvent::Prose(prose));
                self.begin(text, line, is_fragment, events);
            }
            Effect::Splits(mut next, shape) => {
                events.push(SplitEvent::Prose(prose));
                next.source.push_str(text);
                self.open = Open::Prose(next, shape);
            }
        }
    }

    fn begin(
        &mut self,
        text: &str,
        line: Line<'_>,
        is_fragment: bool,
        events: &mut Vec<SplitEvent>,
    ) {
        let prose = Prose {
            source: text.to_owned(),
            ..Prose::default()
        };
        let start = if is_fragment {
            BlockStart::Text
        } else {
            line.start()
        };
        let shape = match start {
            BlockStart::Blank => return,
            BlockStart::Heading | BlockStart::Rule => return events.push(SplitEvent::Prose(prose)),
            BlockStart::Fence(fence) => {
                events.push(SplitEvent::FenceOpen(fence.clone()));
                self.open = Open::Fence(fence);
                return;
            }
            BlockStart::Indented => Shape::Indented,
            BlockStart::Quote => Shape::quote(line),
            BlockStart::Footnote => Shape::Footnote { blank: false },
            BlockStart::Item(item) => Shape::list(&item),
            BlockStart::Text => Shape::Paragraph { first: true },
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
        let lazy = matches!(
            Line::new(inner).start(),
            BlockStart::Text | BlockStart::Item(_)
        );
        Self::Quote { lazy }
    }

    fn continue_with(&mut self, line: Line<'_>, prose: &Prose) -> Effect {
        let start = line.start();
        match self {
            Self::Paragraph { first } => {
                let second = std::mem::take(first);
                if second && is_table(&prose.source, line) {
                    let header = format!("{}{}\n", prose.source, line.text);
                    *self = Self::Table { header, rows: 0 };
                    return Effect::Continues;
                }
                if line.is_underline() {
                    Effect::EndsAfter
                } else {
                    continue_paragraph(&start)
                }
            }
            Self::Quote { lazy: open } => match start {
                BlockStart::Quote => {
                    *self = Self::quote(line);
                    Effect::Continues
                }
                BlockStart::Text | BlockStart::Indented if *open => Effect::Continues,
                _ => Effect::Ends,
            },
            Self::Indented => match start {
                BlockStart::Blank | BlockStart::Indented => Effect::Continues,
                _ => Effect::Ends,
            },
            Self::Footnote { blank } => in_container(blank, &start, line.indent >= 4),
            Self::Table { header, rows } => table_row(header, rows, &start),
            Self::List { .. } => self.continue_list(line, &start, prose),
        }
    }

    fn continue_list(&mut self, line: Line<'_>, start: &BlockStart, prose: &Prose) -> Effect {
        let Self::List {
            mark,
            offset,
            number,
            items,
            blank,
        } = self
        else {
            return Effect::Ends;
        };
        if line.indent >= *offset && *start != BlockStart::Blank {
            *blank = false;
            return Effect::Continues;
        }
        match start {
            BlockStart::Item(item) if item.mark == *mark => {
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
                    return Effect::Splits(next, shape);
                }
                *offset = item.offset;
                *items += 1;
                // An empty item cannot be continued without indentation.
                *blank = item.empty;
                Effect::Continues
            }
            BlockStart::Item(_) => Effect::Ends,
            start => in_container(blank, start, false),
        }
    }
}

/// A line in a list or a footnote, which a blank line does not end.
fn in_container(blank: &mut bool, start: &BlockStart, indented: bool) -> Effect {
    if *start == BlockStart::Blank {
        *blank = true;
        return Effect::Continues;
    }
    let after_blank = std::mem::take(blank);
    match (indented, after_blank) {
        (true, _) => Effect::Continues,
        (false, true) => Effect::Ends,
        (false, false) => continue_paragraph(start),
    }
}

/// Whether a line continues the paragraph above it.
fn continue_paragraph(start: &BlockStart) -> Effect {
    match start {
        BlockStart::Text | BlockStart::Indented => Effect::Continues,
        // CommonMark: a list interrupts a paragraph only if it starts at 1 and is not empty.
        BlockStart::Item(item) if item.empty || item.number.is_some_and(|number| number != 1) => {
            Effect::Continues
        }
        _ => Effect::Ends,
    }
}

fn is_table(header: &str, delimiter: Line<'_>) -> bool {
    let cells = Line::new(header).header_cells();
    cells.is_some() && cells == delimiter.delimiter_cells()
}

fn table_row(header: &str, rows: &mut usize, start: &BlockStart) -> Effect {
    if !matches!(start, BlockStart::Text | BlockStart::Indented) {
        return Effect::Ends;
    }
    let columns = header
        .lines()
        .next()
        .and_then(|line| Line::new(line).header_cells());
    let most = TABLE_ROWS
        .min(TABLE_CELLS / columns.unwrap_or(1).max(1))
        .max(1);
    if *rows < most {
        *rows += 1;
        return Effect::Continues;
    }
    let next = Prose {
        source: header.to_owned(),
        continued: true,
        number: None,
    };
    Effect::Splits(
        next,
        Shape::Table {
            header: header.to_owned(),
            rows: 1,
        },
    )
}
