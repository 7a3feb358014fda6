//! Decodes Chat Completions chunks.

use serde_json::{Map, Value, json};

use super::{
    calls::Calls,
    chunk::{Choice, Chunk, Delta, Text},
    think_tags::ThinkTagParser,
};
use crate::{
    decoder::{BlockKind, Blocks, parse, truncated},
    error::{ApiFailure, ProviderError},
    error_body::ErrorBody,
    event::{FinishReason, Metadata, StreamEvent, Usage},
    sse::{Frame, Progress},
};

#[derive(Default)]
pub(super) struct ChatDecoder {
    blocks: Blocks,
    calls: Calls,
    think_tags: ThinkTagParser,
    /// Signed reasoning details from a router, not yet attached to a block.
    details: Vec<Value>,
    response: String,
    usage: Usage,
    finish: Option<FinishReason>,
    has_choice: bool,
}

impl crate::decoder::FrameDecoder for ChatDecoder {
    fn decode_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError> {
        if frame.data.trim_ascii() == b"[DONE]" {
            if !self.has_choice {
                return Err(truncated());
            }
            let reason = self.finish.unwrap_or(FinishReason::Unknown);
            self.close(reason, out);
            return Ok(Progress::Done);
        }
        if frame.data.trim_ascii().is_empty() {
            return Ok(Progress::Open);
        }
        let chunk: Chunk<'_> = parse(frame.data)?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null())
            || chunk
                .object
                .as_ref()
                .is_some_and(|object| object.0 == "error")
            || frame.name == "error"
        {
            let value: Value = parse(frame.data)?;
            return Err(ErrorBody::from_value(&value).in_stream());
        }
        self.chunk(chunk, out)?;
        Ok(Progress::Open)
    }

    /// `[DONE]` is often missing; a finish reason is enough.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let reason = self.finish.ok_or_else(truncated)?;
        self.close(reason, out);
        Ok(())
    }
}

impl ChatDecoder {
    fn chunk(&mut self, chunk: Chunk<'_>, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.response.is_empty()
            && let Some(id) = chunk.id
        {
            self.response.push_str(&id.0);
        }
        let usage = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage));
        if let Some(usage) = usage {
            self.usage = usage.to_usage();
        }
        let choices = chunk.choices.unwrap_or_default();
        for choice in choices
            .into_iter()
            .filter(|choice| choice.index.unwrap_or(0) == 0)
        {
            self.has_choice = true;
            self.choice(choice, out)?;
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        if let Some(delta) = choice.delta {
            self.delta(delta, out);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish_reason(&reason)?);
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<StreamEvent>) {
        let mut reasoning = plain(delta.reasoning_content);
        if reasoning.is_empty() {
            reasoning = plain(delta.reasoning);
        }
        if let Some(details) = delta.reasoning_details {
            if reasoning.is_empty() {
                reasoning = details
                    .iter()
                    .filter_map(|d| d.get("text")?.as_str())
                    .collect();
            }
            for detail in details {
                merge_detail(&mut self.details, detail);
            }
        }
        self.blocks.delta(BlockKind::Reasoning, reasoning, out);
        match delta.content {
            Text::Parts(parts) => self.parts(parts, out),
            content => self.content(plain(content), out),
        }
        self.text(plain(delta.refusal), out);
        for call in delta.tool_calls.unwrap_or_default() {
            self.end_content(out);
            self.attach_details(out);
            self.blocks.close(out);
            self.calls.add(call, &self.response, out);
        }
    }

    /// Text that may contain thinking in tags.
    fn content(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if self.think_tags.is_past_thinking() {
            return self.text(text, out);
        }
        if !text.is_empty() {
            for (kind, piece) in self.think_tags.feed(text) {
                self.piece(kind, piece, out);
            }
        }
    }

    fn end_content(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some((kind, held)) = self.think_tags.finish() {
            self.piece(kind, held, out);
        }
    }

    fn piece(&mut self, kind: BlockKind, text: String, out: &mut Vec<StreamEvent>) {
        match kind {
            BlockKind::Text => self.text(text, out),
            BlockKind::Reasoning => self.blocks.delta(kind, text, out),
        }
    }

    fn text(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            self.attach_details(out);
            self.blocks.delta(BlockKind::Text, text, out);
        }
    }

    /// Mistral's reasoning models send thinking and text as a list of parts.
    fn parts(&mut self, parts: Vec<Value>, out: &mut Vec<StreamEvent>) {
        for part in parts {
            match &part["thinking"] {
                Value::Null => self.text(flatten(&part["text"]), out),
                thinking => {
                    let thinking = flatten(thinking);
                    self.blocks.delta(BlockKind::Reasoning, thinking, out);
                }
            }
        }
    }

    /// Attaches the collected details to the reasoning block, which ends here.
    fn attach_details(&mut self, out: &mut Vec<StreamEvent>) {
        if self.details.is_empty() {
            return;
        }
        let details = std::mem::take(&mut self.details);
        let mut metadata = Metadata::new();
        metadata.insert(
            "openrouter".to_owned(),
            json!({ "reasoning_details": details }),
        );
        self.blocks.annotate(BlockKind::Reasoning, metadata, out);
    }

    fn close(&mut self, reason: FinishReason, out: &mut Vec<StreamEvent>) {
        self.end_content(out);
        self.attach_details(out);
        self.blocks.close(out);
        // Some servers send "stop" after tool calls.
        let reason = match reason {
            FinishReason::Stop if !self.calls.is_empty() => FinishReason::ToolCalls,
            reason => reason,
        };
        self.calls.finish(&self.response, out);
        out.push(StreamEvent::FinishStep {
            reason,
            usage: self.usage,
        });
    }
}

fn plain(text: Text) -> String {
    match text {
        Text::None => String::new(),
        Text::Plain(text) => text,
        Text::Parts(parts) => parts.iter().map(flatten).collect(),
        Text::Json(value) => flatten(&value),
    }
}

/// All text in a part, at any depth.
fn flatten(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(flatten).collect(),
        Value::Object(map) => map.get("text").map(flatten).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Fragments of one detail have the same index; they are sent back joined.
fn merge_detail(details: &mut Vec<Value>, piece: Value) {
    let same = |a: &Value, b: &Value| a["type"] == b["type"] && a["index"] == b["index"];
    match (details.last_mut(), piece) {
        (Some(Value::Object(last)), Value::Object(piece))
            if same(&Value::Object(last.clone()), &Value::Object(piece.clone())) =>
        {
            extend_detail(last, piece);
        }
        (_, piece) => details.push(piece),
    }
}

fn extend_detail(last: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        let grows = matches!(key.as_str(), "text" | "summary" | "data");
        match (last.get_mut(&key), value) {
            (Some(Value::String(whole)), Value::String(more)) if grows => whole.push_str(&more),
            (_, Value::Null) => {}
            (_, value) => {
                last.insert(key, value);
            }
        }
    }
}

fn finish_reason(reason: &str) -> Result<FinishReason, ProviderError> {
    Ok(match reason {
        "stop" | "eos" | "end_turn" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "error" => FinishReason::Error,
        "insufficient_system_resource" => {
            let message = "The provider ran out of capacity while answering";
            return Err(ProviderError::Api(ApiFailure::refused_in_stream(message)));
        }
        _ => FinishReason::Unknown,
    })
}
