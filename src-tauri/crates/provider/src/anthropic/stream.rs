//! Decodes Messages API events.

use serde_json::{Map, Value, json};

use super::event::{ContentBlock, Delta, Event, RawUsage};
use crate::{
    decoder::{parse, truncated},
    error::ProviderError,
    error_body::ErrorBody,
    event::{BlockId, FinishReason, Metadata, StreamEvent},
    sse::{Frame, Progress},
};

#[derive(Default)]
pub(super) struct MessagesDecoder {
    usage: RawUsage,
    stop: Option<FinishReason>,
    open: Vec<(u64, Block)>,
}

enum Block {
    Text(BlockId),
    Reasoning {
        id: BlockId,
        metadata: Metadata,
    },
    Tool(Tool),
    /// A type newer than this program; its deltas are skipped.
    Unknown,
}

struct Tool {
    id: BlockId,
    name: String,
    input: String,
    /// Some compatible servers send the whole input at the start.
    initial_input: Option<Value>,
    run_by_provider: bool,
}

impl crate::decoder::FrameDecoder for MessagesDecoder {
    fn decode_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError> {
        let event: Event<'_> = parse(frame.data)?;
        match event.kind.as_ref() {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index, delta, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start_block(event.index, block, out);
                }
            }
            "content_block_stop" => self.stop_block(event.index, out),
            "message_start" => {
                self.usage
                    .update(event.message.and_then(|message| message.usage));
            }
            "message_delta" => {
                self.usage.update(event.usage);
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop = reason.as_deref().map(finish_reason).or(self.stop);
            }
            "message_stop" => {
                self.finish(self.stop.unwrap_or(FinishReason::Unknown), out);
                return Ok(Progress::Done);
            }
            "error" => {
                let value: Value = parse(frame.data)?;
                return Err(stream_error(&value));
            }
            _ => {}
        }
        Ok(Progress::Open)
    }

    /// Some servers end the body right after the stop reason, which is all that is needed.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let reason = self.stop.ok_or_else(truncated)?;
        self.finish(reason, out);
        Ok(())
    }
}

impl MessagesDecoder {
    fn start_block(&mut self, index: u64, block: ContentBlock<'_>, out: &mut Vec<StreamEvent>) {
        // If an index is used twice, its first block would stay open for ever.
        self.stop_block(index, out);
        let id = || BlockId::from(format!("block-{index}"));
        let opened = match block.kind.as_ref() {
            "text" => {
                let id = id();
                out.push(StreamEvent::TextStart {
                    id: id.clone(),
                    metadata: Metadata::new(),
                });
                Block::Text(id)
            }
            "thinking" | "redacted_thinking" => start_reasoning(id(), &block, out),
            "tool_use" | "server_tool_use" => start_tool(id(), &block, out),
            kind if kind.ends_with("_tool_result") => {
                emit_provider_result(&block, out);
                Block::Unknown
            }
            _ => Block::Unknown,
        };
        self.open.push((index, opened));
        let initial = Delta {
            text: block.text,
            thinking: block.thinking,
            signature: block.signature,
            partial_json: None,
            stop_reason: None,
        };
        self.delta(index, initial, out);
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, out: &mut Vec<StreamEvent>) {
        let Some((_, block)) = self.open.iter_mut().find(|(at, _)| *at == index) else {
            return;
        };
        match block {
            Block::Text(id) => {
                if let Some(text) = delta.text.filter(|text| !text.is_empty()) {
                    out.push(StreamEvent::TextDelta {
                        id: id.clone(),
                        text,
                    });
                }
            }
            Block::Reasoning { id, metadata } => {
                if let Some(text) = delta.thinking.filter(|text| !text.is_empty()) {
                    out.push(StreamEvent::ReasoningDelta {
                        id: id.clone(),
                        text,
                    });
                }
                if let Some(signature) = delta.signature.filter(|text| !text.is_empty()) {
                    append_signature(metadata, &signature);
                }
            }
            Block::Tool(tool) => {
                if let Some(text) = delta.partial_json.filter(|text| !text.is_empty()) {
                    tool.input.push_str(&text);
                    out.push(StreamEvent::ToolInputDelta {
                        id: tool.id.clone(),
                        text,
                    });
                }
            }
            Block::Unknown => {}
        }
    }

    fn stop_block(&mut self, index: u64, out: &mut Vec<StreamEvent>) {
        if let Some(at) = self.open.iter().position(|(open, _)| *open == index) {
            let (_, block) = self.open.remove(at);
            block.close(out);
        }
    }

    fn finish(&mut self, reason: FinishReason, out: &mut Vec<StreamEvent>) {
        for (_, block) in self.open.drain(..) {
            block.close(out);
        }
        out.push(StreamEvent::FinishStep {
            reason,
            usage: self.usage.to_usage(),
        });
    }
}

/// The result of a tool that the provider ran itself.
fn emit_provider_result(block: &ContentBlock<'_>, out: &mut Vec<StreamEvent>) {
    out.push(StreamEvent::ToolResult {
        id: block.tool_use_id.clone().unwrap_or_default().into(),
        name: block.kind.trim_end_matches("_tool_result").to_owned(),
        output: block.content.clone().unwrap_or_default(),
    });
}

fn start_reasoning(id: BlockId, block: &ContentBlock<'_>, out: &mut Vec<StreamEvent>) -> Block {
    let metadata = match &block.data {
        Some(data) => anthropic_metadata("redactedData", data),
        None => Metadata::new(),
    };
    out.push(StreamEvent::ReasoningStart {
        id: id.clone(),
        metadata: metadata.clone(),
    });
    Block::Reasoning { id, metadata }
}

fn start_tool(fallback: BlockId, block: &ContentBlock<'_>, out: &mut Vec<StreamEvent>) -> Block {
    let id = block.id.as_deref().map_or(fallback, BlockId::from);
    let name = block.name.clone().unwrap_or_default();
    out.push(StreamEvent::ToolInputStart {
        id: id.clone(),
        name: name.clone(),
    });
    Block::Tool(Tool {
        id,
        name,
        input: String::new(),
        initial_input: block.input.clone(),
        run_by_provider: block.kind == "server_tool_use",
    })
}

impl Block {
    fn close(self, out: &mut Vec<StreamEvent>) {
        match self {
            Self::Text(id) => out.push(StreamEvent::TextEnd {
                id,
                metadata: Metadata::new(),
            }),
            Self::Reasoning { id, metadata } => {
                out.push(StreamEvent::ReasoningEnd { id, metadata });
            }
            Self::Tool(tool) => tool.close(out),
            Self::Unknown => {}
        }
    }
}

impl Tool {
    fn close(self, out: &mut Vec<StreamEvent>) {
        out.push(StreamEvent::ToolInputEnd {
            id: self.id.clone(),
        });
        if self.run_by_provider {
            return;
        }
        let input = match (self.input.is_empty(), self.initial_input) {
            (false, _) => self.input,
            (true, Some(input)) => input.to_string(),
            (true, None) => "{}".to_owned(),
        };
        out.push(StreamEvent::ToolCall {
            id: self.id,
            name: self.name,
            input,
            metadata: Metadata::new(),
        });
    }
}

fn anthropic_metadata(key: &str, value: &str) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert("anthropic".to_owned(), json!({ key: value }));
    metadata
}

/// A signature may arrive in pieces.
fn append_signature(metadata: &mut Metadata, piece: &str) {
    let entry = metadata
        .entry("anthropic")
        .or_insert_with(|| Value::Object(Map::new()));
    let earlier = entry.get("signature").and_then(Value::as_str);
    let whole = format!("{}{piece}", earlier.unwrap_or_default());
    *entry = json!({ "signature": whole });
}

fn stream_error(event: &Value) -> ProviderError {
    // Without the event's own `type`: it is always "error".
    let error = event.get("error").unwrap_or(event);
    ErrorBody::from_value(error).in_stream()
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "refusal" => FinishReason::ContentFilter,
        // `pause_turn` occurs only with tools that the provider runs, which we never request.
        _ => FinishReason::Unknown,
    }
}
