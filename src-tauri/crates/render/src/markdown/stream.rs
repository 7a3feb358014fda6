//! Renders Markdown that streams in.

use lathe_protocol::view::BlockUpdate;

use super::Options;
use super::blocks::Blocks;

/// Renders a growing text. The cost of a push depends on the new text and the open block only,
/// not on the length of the text.
pub struct Stream {
    blocks: Blocks,
    /// The number of finished blocks that were returned.
    finished: usize,
    /// The unfinished blocks that were returned after them.
    unfinished: Vec<String>,
}

impl Stream {
    pub fn new(options: Options) -> Self {
        Self {
            blocks: Blocks::new(options),
            finished: 0,
            unfinished: Vec::new(),
        }
    }

    /// Adds text and returns the blocks that have changed.
    pub fn push(&mut self, delta: &str) -> BlockUpdate {
        self.blocks.feed(delta);
        let unfinished = self.blocks.preview();
        let new: Vec<String> = self.blocks.html()[self.finished..]
            .iter()
            .chain(&unfinished)
            .cloned()
            .collect();
        let mut update = difference(&self.unfinished, &new);
        update.keep += self.finished;
        self.finished = self.blocks.html().len();
        self.unfinished = unfinished;
        update
    }

    /// Closes the open block at the end of the text.
    pub fn finish(mut self) -> BlockUpdate {
        let unchanged = self.blocks.finish().min(self.finished);
        if unchanged < self.finished {
            return BlockUpdate {
                keep: unchanged,
                blocks: self.blocks.html()[unchanged..].to_vec(),
            };
        }
        let mut update = difference(&self.unfinished, &self.blocks.html()[self.finished..]);
        update.keep += self.finished;
        update
    }
}

fn difference(before: &[String], after: &[String]) -> BlockUpdate {
    let keep = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    BlockUpdate {
        keep,
        blocks: after[keep..].to_vec(),
    }
}

#[cfg(test)]
mod tests;
