//! Markdown while it is being written.

use lathe_protocol::view::BlockUpdate;

use super::Options;
use super::blocks::Blocks;

/// Renders a growing text. Each push costs what the new text and the open block cost, however
/// long the text has become.
pub struct Stream {
    blocks: Blocks,
    /// How many finished blocks the reader has, and the unfinished ones behind them.
    finished: usize,
    tail: Vec<String>,
}

impl Stream {
    pub fn new(options: Options) -> Self {
        Self {
            blocks: Blocks::new(options),
            finished: 0,
            tail: Vec::new(),
        }
    }

    /// Adds text and says what to draw anew.
    pub fn push(&mut self, delta: &str) -> BlockUpdate {
        self.blocks.feed(delta);
        let tail = self.blocks.preview();
        let fresh: Vec<String> = self.blocks.html()[self.finished..]
            .iter()
            .chain(&tail)
            .cloned()
            .collect();
        let mut update = change(&self.tail, &fresh);
        update.keep += self.finished;
        self.finished = self.blocks.html().len();
        self.tail = tail;
        update
    }

    /// The text is complete: closes what is open.
    pub fn finish(mut self) -> BlockUpdate {
        let unchanged = self.blocks.finish().min(self.finished);
        if unchanged < self.finished {
            return BlockUpdate {
                keep: unchanged,
                blocks: self.blocks.html()[unchanged..].to_vec(),
            };
        }
        let mut update = change(&self.tail, &self.blocks.html()[self.finished..]);
        update.keep += self.finished;
        update
    }
}

fn change(before: &[String], after: &[String]) -> BlockUpdate {
    let keep = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    BlockUpdate {
        keep,
        blocks: after[keep..].to_vec(),
    }
}
