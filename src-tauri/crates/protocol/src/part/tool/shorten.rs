//! A tool call without what only an opened card needs.
//!
//! A window shows hundreds of cards and the user opens few of them, so whole files, patches
//! and outputs are sent on request only.

use super::{FilePart, ToolPart, ToolState};
use crate::shorten::{MAX_BYTES, floor_char_boundary, shorten_map, shorten_to};

/// Bytes sent from the end of arguments that are still streaming in.
const RAW_END: usize = 1_024;

impl ToolPart {
    /// The same call with every long text cut.
    pub fn shortened(mut self) -> Self {
        // The model writes the name as well.
        shorten(&mut self.tool);
        match &mut self.state {
            ToolState::Pending(state) => {
                shorten_map(&mut state.input);
                shorten_middle(&mut state.raw);
            }
            ToolState::Running(state) => {
                shorten_map(&mut state.input);
                if let Some(metadata) = &mut state.metadata {
                    shorten_map(metadata);
                }
            }
            ToolState::Completed(state) => {
                shorten_map(&mut state.input);
                shorten_map(&mut state.metadata);
                shorten(&mut state.title);
                shorten(&mut state.output);
                let attached = state.attachments.iter_mut().flatten();
                attached.for_each(FilePart::shorten);
            }
            ToolState::Error(state) => {
                shorten_map(&mut state.input);
                if let Some(metadata) = &mut state.metadata {
                    shorten_map(metadata);
                }
                shorten(&mut state.error);
            }
        }
        self
    }
}

fn shorten(text: &mut String) {
    shorten_to(text, MAX_BYTES);
}

fn shorten_middle(text: &mut String) {
    if text.len() > MAX_BYTES + RAW_END {
        let head = floor_char_boundary(text, MAX_BYTES);
        let tail = floor_char_boundary(text, text.len() - RAW_END);
        text.replace_range(head..tail, " … ");
    }
}
