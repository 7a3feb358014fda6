//! Finds the place that oldString means, from the strictest reading to the most lenient.
//!
//! A reading counts only if it fits exactly one place (or all are wanted). Knows text only.

mod readings;

use std::ops::Range;

use super::adapt;
use super::lines::Lines;

/// The readings, in the order in which they are tried.
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

    /// In what respect the text found is not the text given.
    pub fn departure(self) -> Option<&'static str> {
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

    fn places(self, text: &Lines, old: &Lines) -> Vec<Range<usize>> {
        match self {
            Self::Exact => readings::exact(text.text, old.text),
            Self::LinesTrimmed => readings::lines_trimmed(text, old),
            Self::BlockAnchored => readings::block_anchored(text, old),
            Self::WhitespaceFolded => readings::whitespace_folded(text.text, old.text),
            Self::IndentationShifted => readings::indentation_shifted(text, old),
            Self::EscapesUndone => readings::escapes_undone(text.text, old.text),
            Self::BoundaryTrimmed => readings::boundary_trimmed(text.text, old.text),
            Self::ContextLines => readings::context_lines(text, old),
        }
    }

    fn adapted(self, region: &str, old: &str, new: &str) -> String {
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
    /// In the order of the text, none overlapping another.
    pub replacements: Vec<Replacement>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoMatch {
    Nowhere,
    Several(usize),
    TooLong { lines: usize },
}

pub(super) fn find(text: &str, old: &str, new: &str, all: bool) -> Result<Accepted, NoMatch> {
    let (text_lines, old_lines) = (Lines::of(text), Lines::of(old));
    let mut several = None;
    for strategy in Strategy::ORDER {
        // Blanks alone, read leniently, would fit anywhere.
        if strategy != Strategy::Exact && old.trim().is_empty() {
            break;
        }
        let places = strategy.places(&text_lines, &old_lines);
        match places.len() {
            0 => continue,
            1 => {}
            _ if all => {}
            // Word for word in several places: no lenient reading can know better which.
            count if strategy == Strategy::Exact => return Err(NoMatch::Several(count)),
            count => {
                several.get_or_insert(count);
                continue;
            }
        }
        if strategy != Strategy::Exact {
            refuse_long(text, old, &places)?;
        }
        let replacements = apart(places)
            .into_iter()
            .map(|range| Replacement {
                text: strategy.adapted(&text[range.clone()], old, new),
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

/// Leaves out what overlaps an earlier place.
fn apart(places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    places
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

/// What the model did not quote it has not seen: it must not go unseen.
fn refuse_long(text: &str, old: &str, places: &[Range<usize>]) -> Result<(), NoMatch> {
    let ink = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let (old_ink, old_lines) = (
        ink(old),
        old.lines().filter(|l| !l.trim().is_empty()).count(),
    );
    for range in places {
        let region = &text[range.clone()];
        let lines = region.lines().filter(|l| !l.trim().is_empty()).count();
        if ink(region) > old_ink * 2 + 40 || lines > old_lines + (old_lines / 2).max(3) {
            return Err(NoMatch::TooLong {
                lines: region.lines().count(),
            });
        }
    }
    Ok(())
}
