//! Markdown to sanitised HTML, one string per block, whole or while it is being written.
//!
//! A splitter of our own reads the source line by line and cuts it into segments at the top
//! level; each segment is parsed by itself. A segment is closed by what has come before, never
//! by what may follow, so a finished block is final and any chunking of the source gives the
//! same blocks. [`render`] is the same machine fed in one go.
//!
//! Choices that follow from it:
//! - A setext underline belongs to the paragraph above it, which is still open then.
//! - A reference link (`[text][label]`) or footnote mark whose definition comes later is drawn
//!   as it is written and becomes a link in [`Stream::finish`]. This is the only change a
//!   finished block ever sees. A definition in the same block wins, then the first of the text.
//! - Footnotes stay where they are written, under the label they are written with.
//! - Long fences, lists and tables go on in further blocks with the class `continued`
//!   (a table repeats its header), so that no block is ever long.
//! - Raw HTML is text, except `<br>`.

mod blocks;
mod code;
mod inline;
mod line;
mod segment;
mod stream;
mod tail;
mod write;

pub use stream::Stream;

/// What the renderer knows of its surroundings.
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

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
