//! Finds the text that oldString means, from the strictest strategy to the most lenient.
//!
//! A strategy is used only if it matches exactly once (or all matches are wanted).

mod strategies;

use std::ops::Range;

use super::adapt;
use super::lines::Lines;

/// The strategies, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Exact,
    LinesTrimmed,
    BlockAnchored,
    WhitespaceFolded,
    IndentationShifted,
    EscapesUndone,
    BoundaryTrimmed,
    ContextLines,
}

impl Strategy {
    const ORDER: [Self; 8] = [
        Self::Exact,
        Self::LinesTrimmed,
        Self::BlockAnchored,
        Self::WhitespaceFolded,
        Self::IndentationShifted,
        Self::EscapesUndone,
        Self::BoundaryTrimmed,
        Self::ContextLines,
    ];

    /// How the matched text differs from oldString.
    pub fn difference(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LinesTrimmed => Some("with other blanks at the ends of its lines"),
            Self::BlockAnchored => Some("by its first and last line, with like lines in between"),
            Self::WhitespaceFolded => Some("with other blanks between its words"),
            Self::IndentationShifted => Some("with another indentation"),
            Self::EscapesUndone => Some("after its backslash escapes were undone"),
            Self::BoundaryTrimmed => Some("without the blanks around it"),
            Self::ContextLines => Some("by its first and last line and half of those in between"),
        }
    }

    fn find_ranges(self, text: &Lines, old: &Lines) -> Vec<Range<usize>> {
        match self {
            Self::Exact => strategies::exact(text.text, old.text),
            Self::LinesTrimmed => strategies::lines_trimmed(text, old),
            Self::BlockAnchored => strategies::block_anchored(text, old),
            Self::WhitespaceFolded => strategies::whitespace_folded(text.text, old.text),
            Self::IndentationShifted => strategies::indentation_shifted(text, old),
            Self::EscapesUndone => strategies::escapes_undone(text.text, old.text),
            Self::BoundaryTrimmed => strategies::boundary_trimmed(text.text, old.text),
            Self::ContextLines => strategies::context_lines(text, old),
        }
    }

    fn adapt(self, region: &str, old: &str, new: &str) -> String {
        match self {
            Self::Exact => new.to_owned(),
            Self::EscapesUndone => adapt::unescaped(new),
            Self::BoundaryTrimmed => adapt::without_boundary(old, new),
            Self::WhitespaceFolded => {
                let new = adapt::without_blank_lines(old, new);
                adapt::same_end(region, old, adapt::indented(region, old, &new))
            }
            Self::LinesTrimmed
            | Self::BlockAnchored
            | Self::IndentationShifted
            | Self::ContextLines => {
                let new = adapt::indented(region, old, new);
                adapt::same_end(region, old, new)
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub range: Range<usize>,
    pub text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub strategy: Strategy,
    /// In the order of the text, without overlaps.
    pub replacements: Vec<Replacement>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoMatch {
    Nowhere,
    Several(usize),
    TooLong { lines: usize },
}

pub(super) fn find(text: &str, old: &str, new: &str, all: bool) -> Result<Accepted, NoMatch> {
    let (text_lines, old_lines) = (Lines::new(text), Lines::new(old));
    let mut several = None;
    for strategy in Strategy::ORDER {
        // Whitespace alone would match anywhere with a lenient strategy.
        if strategy != Strategy::Exact && old.trim().is_empty() {
            break;
        }
        let ranges = strategy.find_ranges(&text_lines, &old_lines);
        match ranges.len() {
            0 => continue,
            1 => {}
            _ if all => {}
            // Several exact matches: a lenient strategy cannot tell which one is meant.
            count if strategy == Strategy::Exact => return Err(NoMatch::Several(count)),
            count => {
                several.get_or_insert(count);
                continue;
            }
        }
        if strategy != Strategy::Exact {
            refuse_long(text, old, &ranges)?;
        }
        let replacements = without_overlaps(ranges)
            .into_iter()
            .map(|range| Replacement {
                text: strategy.adapt(&text[range.clone()], old, new),
                range,
            })
            .collect();
        return Ok(Accepted {
            strategy,
            replacements,
        });
    }
    Err(several.map_or(NoMatch::Nowhere, NoMatch::Several))
}

/// Drops matches that overlap an earlier one.
fn without_overlaps(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    ranges
        .into_iter()
        .filter(|range| {
            let free = range.start >= end;
            if free {
                end = range.end;
            }
            free
        })
        .collect()
}

/// Refuses a match much longer than oldString: text that the model did not quote would be lost.
fn refuse_long(text: &str, old: &str, ranges: &[Range<usize>]) -> Result<(), NoMatch> {
    let visible_chars = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let (old_chars, old_lines) = (
        visible_chars(old),
        old.lines().filter(|l| !l.trim().is_empty()).count(),
    );
    for range in ranges {
        let region = &text[range.clone()];
        let lines = region.lines().filter(|l| !l.trim().is_empty()).count();
        if visible_chars(region) > old_chars * 2 + 40 || lines > old_lines + (old_lines / 2).max(3)
        {
            return Err(NoMatch::TooLong {
                lines: region.lines().count(),
            });
        }
    }
    Ok(())
}
