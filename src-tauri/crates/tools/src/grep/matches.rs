//! The matching lines of one file.

use std::fs::File;

use grep::matcher::LineTerminator;
use grep::regex::{RegexMatcher, RegexMatcherBuilder};
use grep::searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::text;
use crate::tool::ToolFailure;

const MAX_LINE: usize = 2_000;
/// A file with a longer line is skipped, to limit memory.
const MAX_BUFFER: usize = 16 * 1024 * 1024;

pub(super) struct FileMatches {
    pub lines: Vec<MatchedLine>,
    /// There are more matches than requested.
    pub more: bool,
}

pub(super) struct MatchedLine {
    pub number: u64,
    pub text: String,
}

pub(super) struct Finder {
    pub(super) matcher: RegexMatcher,
    across_lines: bool,
    crlf: bool,
    limit: usize,
}

impl Finder {
    pub fn new(pattern: &str, limit: usize) -> Result<Self, ToolFailure> {
        let across_lines = pattern.contains("\\n") || pattern.contains('\n');
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true);
        // `$` matches before CRLF, too. Only enabled for patterns that need it, because it is
        // slower.
        let crlf = !across_lines && pattern.contains('$');
        if crlf {
            builder.crlf(true);
        } else if !across_lines {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(pattern).map_err(|error| {
            ToolFailure::failed(format!("The pattern is not a regular expression: {error}"))
        })?;
        Ok(Self {
            matcher,
            across_lines,
            crlf,
            limit,
        })
    }

    pub fn searcher(&self) -> Searcher {
        let ending = if self.crlf {
            LineTerminator::crlf()
        } else {
            LineTerminator::byte(b'\n')
        };
        SearcherBuilder::new()
            .line_terminator(ending)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_BUFFER))
            .line_number(true)
            .multi_line(self.across_lines)
            .build()
    }

    /// `None` for a file without a match, or one that cannot be read completely.
    pub fn search(&self, searcher: &mut Searcher, file: &File) -> Option<FileMatches> {
        let mut sink = Collector {
            found: FileMatches {
                lines: Vec::new(),
                more: false,
            },
            limit: self.limit,
        };
        let searched = searcher.search_file(&self.matcher, file, &mut sink);
        (searched.is_ok() && !sink.found.lines.is_empty()).then_some(sink.found)
    }
}

struct Collector {
    found: FileMatches,
    limit: usize,
}

impl Sink for Collector {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.found.lines.len() == self.limit {
            self.found.more = true;
            return Ok(false);
        }
        let first = matched.line_number().unwrap_or(0);
        for (index, line) in matched.lines().enumerate() {
            if self.found.lines.len() < self.limit {
                let line = String::from_utf8_lossy(line);
                let text = text::shortened(&text::visible(line.trim_end()), MAX_LINE);
                self.found.lines.push(MatchedLine {
                    number: first + index as u64,
                    text,
                });
            }
        }
        Ok(true)
    }
}
