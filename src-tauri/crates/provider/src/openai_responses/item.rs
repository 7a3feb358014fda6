//! One output item being streamed: a message, reasoning or a function call.
//!
//! Items are identified by their position in the output, not by their id: some compatible
//! servers give one item several ids.

use super::{
    FAMILY,
    event::{Piece, RawItem},
};
use crate::event::{BlockId, Metadata, StreamEvent, family_metadata};

pub(super) enum Item {
    Message(Pieces),
    Reasoning(Pieces),
    Call(Call),
    /// A type that was not requested, or is newer than this program.
    Other,
}

/// Blocks of text or reasoning that open and close one after the other.
pub(super) struct Pieces {
    id: String,
    reasoning: bool,
    open: Option<(u64, BlockId)>,
    has_text: bool,
}

pub(super) struct Call {
    id: BlockId,
    item_id: String,
    name: String,
    arguments: String,
}

impl Item {
    pub fn open(index: u64, raw: &RawItem, out: &mut Vec<StreamEvent>) -> Self {
        let id = match raw.id.0.as_str() {
            "" => format!("item-{index}"),
            id => id.to_owned(),
        };
        match raw.kind.0.as_str() {
            "message" => Self::Message(Pieces::new(id, false)),
            "reasoning" => Self::Reasoning(Pieces::new(id, true)),
            "function_call" => Self::Call(Call::open(id, raw, out)),
            _ => Self::Other,
        }
    }

    pub fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }

    /// Adds text of a message, of a summary or of raw reasoning.
    pub fn text(&mut self, piece: u64, text: String, out: &mut Vec<StreamEvent>) {
        if let Self::Message(pieces) | Self::Reasoning(pieces) = self {
            pieces.delta(piece, text, out);
        }
    }

    pub fn arguments(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if let Self::Call(call) = self {
            call.delta(text, out);
        }
    }

    /// `raw` is the complete item, if the server sent it before the stream ended.
    pub fn close(self, raw: Option<RawItem>, out: &mut Vec<StreamEvent>) {
        let raw = raw.unwrap_or_default();
        match self {
            Self::Message(mut pieces) => {
                pieces.add_missing(raw.content, out);
                let entries = [("itemId", raw.id.0), ("phase", raw.phase.0)];
                pieces.close(entries, out);
            }
            Self::Reasoning(mut pieces) => {
                let (summary, content) = (raw.summary, raw.content);
                pieces.add_missing(if summary.is_empty() { content } else { summary }, out);
                let id = if raw.id.0.is_empty() {
                    pieces.id.clone()
                } else {
                    raw.id.0
                };
                let encrypted = raw.encrypted_content.0;
                if !encrypted.is_empty() && pieces.open.is_none() {
                    pieces.start(0, out);
                }
                let entries = [("itemId", id), ("reasoningEncryptedContent", encrypted)];
                pieces.close(entries, out);
            }
            Self::Call(call) => call.close(raw.arguments.0, out),
            Self::Other => {}
        }
    }
}

impl Pieces {
    fn new(id: String, reasoning: bool) -> Self {
        Self {
            id,
            reasoning,
            open: None,
            has_text: false,
        }
    }

    fn start(&mut self, piece: u64, out: &mut Vec<StreamEvent>) -> BlockId {
        let id = BlockId::from(format!("{}:{piece}", self.id));
        let metadata = Metadata::new();
        out.push(if self.reasoning {
            let id = id.clone();
            StreamEvent::ReasoningStart { id, metadata }
        } else {
            let id = id.clone();
            StreamEvent::TextStart { id, metadata }
        });
        self.open = Some((piece, id.clone()));
        id
    }

    fn delta(&mut self, piece: u64, text: String, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        let id = match &self.open {
            Some((open, id)) if *open == piece => id.clone(),
            _ => {
                self.close([("itemId", self.id.clone())], out);
                self.start(piece, out)
            }
        };
        self.has_text = true;
        out.push(if self.reasoning {
            StreamEvent::ReasoningDelta { id, text }
        } else {
            StreamEvent::TextDelta { id, text }
        });
    }

    /// For servers that send no deltas, only the complete item.
    fn add_missing(&mut self, complete: Vec<Piece>, out: &mut Vec<StreamEvent>) {
        if self.has_text {
            return;
        }
        for (index, piece) in (0..).zip(complete) {
            self.delta(index, piece.into_text(), out);
        }
    }

    fn close<const N: usize>(&mut self, entries: [(&str, String); N], out: &mut Vec<StreamEvent>) {
        let Some((_, id)) = self.open.take() else {
            return;
        };
        let metadata = family_metadata(FAMILY, entries);
        out.push(if self.reasoning {
            StreamEvent::ReasoningEnd { id, metadata }
        } else {
            StreamEvent::TextEnd { id, metadata }
        });
    }
}

impl Call {
    fn open(item_id: String, raw: &RawItem, out: &mut Vec<StreamEvent>) -> Self {
        let id = match raw.call_id.0.as_str() {
            "" => item_id.as_str(),
            id => id,
        };
        let call = Self {
            id: BlockId::from(id),
            item_id,
            name: raw.name.0.clone(),
            arguments: String::new(),
        };
        out.push(StreamEvent::ToolInputStart {
            id: call.id.clone(),
            name: call.name.clone(),
        });
        call
    }

    fn delta(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        self.arguments.push_str(&text);
        let id = self.id.clone();
        out.push(StreamEvent::ToolInputDelta { id, text });
    }

    fn close(mut self, complete: String, out: &mut Vec<StreamEvent>) {
        if self.arguments.is_empty() {
            self.delta(complete, out);
        }
        out.push(StreamEvent::ToolInputEnd {
            id: self.id.clone(),
        });
        let input = match self.arguments.is_empty() {
            true => "{}".to_owned(),
            false => self.arguments,
        };
        out.push(StreamEvent::ToolCall {
            id: self.id,
            name: self.name,
            input,
            metadata: family_metadata(FAMILY, [("itemId", self.item_id)]),
        });
    }
}
