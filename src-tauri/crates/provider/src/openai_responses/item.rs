//! One output item under way: a message, reasoning or a function call.
//!
//! Items are known by their place in the output, not by their id: servers behind this API
//! have been seen to give one item several ids.

use serde_json::{Map, Value, json};

use super::event::{Piece, RawItem};
use crate::event::{BlockId, Metadata, StreamEvent};

pub(super) enum Item {
    Message(Pieces),
    Reasoning(Pieces),
    Call(Call),
    /// Something we never asked for, or newer than this program.
    Other,
}

/// Blocks of text or reasoning that open and close one after the other.
pub(super) struct Pieces {
    id: String,
    reasoning: bool,
    open: Option<(u64, BlockId)>,
    said: bool,
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

    /// Text of a message, of a summary or of raw reasoning.
    pub fn words(&mut self, piece: u64, text: String, out: &mut Vec<StreamEvent>) {
        if let Self::Message(pieces) | Self::Reasoning(pieces) = self {
            pieces.delta(piece, text, out);
        }
    }

    pub fn arguments(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if let Self::Call(call) = self {
            call.delta(text, out);
        }
    }

    /// With the whole item where its end was announced, without where the stream ended.
    pub fn close(self, raw: Option<RawItem>, out: &mut Vec<StreamEvent>) {
        let raw = raw.unwrap_or_default();
        match self {
            Self::Message(mut pieces) => {
                pieces.catch_up(raw.content, out);
                let facts = [("itemId", raw.id.0), ("phase", raw.phase.0)];
                pieces.close(facts, out);
            }
            Self::Reasoning(mut pieces) => {
                let (summary, content) = (raw.summary, raw.content);
                pieces.catch_up(if summary.is_empty() { content } else { summary }, out);
                let id = if raw.id.0.is_empty() {
                    pieces.id.clone()
                } else {
                    raw.id.0
                };
                let sealed = !raw.encrypted_content.0.is_empty();
                if sealed && pieces.open.is_none() {
                    pieces.start(0, out);
                }
                let seal = raw.encrypted_content.0;
                let facts = [("itemId", id), ("reasoningEncryptedContent", seal)];
                pieces.close(facts, out);
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
            said: false,
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
        self.said = true;
        out.push(if self.reasoning {
            StreamEvent::ReasoningDelta { id, text }
        } else {
            StreamEvent::TextDelta { id, text }
        });
    }

    /// Some servers send no deltas, only the whole.
    fn catch_up(&mut self, whole: Vec<Piece>, out: &mut Vec<StreamEvent>) {
        if self.said {
            return;
        }
        for (piece, words) in (0..).zip(whole) {
            self.delta(piece, words.words(), out);
        }
    }

    fn close<const N: usize>(&mut self, facts: [(&str, String); N], out: &mut Vec<StreamEvent>) {
        let Some((_, id)) = self.open.take() else {
            return;
        };
        let metadata = openai(facts);
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

    fn close(mut self, whole: String, out: &mut Vec<StreamEvent>) {
        if self.arguments.is_empty() {
            self.delta(whole, out);
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
            metadata: openai([("itemId", self.item_id)]),
        });
    }
}

fn openai<const N: usize>(facts: [(&str, String); N]) -> Metadata {
    let facts: Map<String, Value> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), Value::String(value)))
        .collect();
    let mut metadata = Metadata::new();
    if !facts.is_empty() {
        metadata.insert("openai".to_owned(), json!(facts));
    }
    metadata
}
