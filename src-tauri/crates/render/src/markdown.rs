//! Markdown to sanitised HTML, one string per block; for whole texts and for streaming ones.
//!
//! Our own splitter reads the source line by line and splits it into top-level segments; each
//! segment is parsed by itself. Where a segment ends never depends on the text after it. So a
//! finished block is final, and any chunking of the source gives the same blocks. [`render`] is a
//! stream with a single chunk.
//!
//! Consequences:
//! - A setext underline belongs to the paragraph above it, which is still open then.
//! - A reference link (`[text][label]`) or footnote reference whose definition comes later is
//!   shown as source text and becomes a link in [`Stream::finish`]. This is the only change to a
//!   finished block. A definition in the same block wins, then the first one in the text.
//! - Footnotes stay where they are in the source, with their label.
//! - Long fences, lists and tables continue in further blocks with the class `continued` (a
//!   table repeats its header), so that no block is long.
//! - Raw HTML is shown as text, except `<br>`.

mod blocks;
mod code;
mod inline;
mod line;
mod math;
mod segment;
mod stream;
mod unfinished;
mod write;

pub use stream::Stream;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The project's root: paths below it are shown and linked relative to it.
    pub root: Option<String>,
}

/// Renders a whole text.
pub fn render(source: &str, options: &Options) -> Vec<String> {
    let mut blocks = blocks::Blocks::new(options.clone());
    blocks.feed(source);
    blocks.finish();
    blocks.into_html()
}

/// The text as it is, for one that could not be rendered.
pub fn plain(source: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut code = code::OpenCode::new(String::new());
    for line in source.split_inclusive('\n') {
        blocks.extend(code.line(line));
    }
    blocks.push(code.close());
    blocks
        .iter()
        .map(|block| crate::sanitize::clean(block))
        .collect()
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
