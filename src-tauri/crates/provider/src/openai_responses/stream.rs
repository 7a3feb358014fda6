//! Decodes Responses events.

use serde_json::Value;

use super::{
    error::in_stream,
    event::{Event, RawItem, RawResponse},
    item::Item,
};
use crate::{
    decoder::{parse, truncated},
    error::ProviderError,
    event::{FinishReason, StreamEvent, Usage},
    sse::{Frame, Progress},
};

#[derive(Default)]
pub(super) struct ResponsesDecoder {
    open: Vec<(u64, Item)>,
    /// Positions in the output whose items are complete.
    closed: Vec<u64>,
    has_call: bool,
}

impl crate::decoder::FrameDecoder for ResponsesDecoder {
    fn decode_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError> {
        let data = frame.data.trim_ascii();
        if data.is_empty() {
            return Ok(Progress::Open);
        }
        // Sent by servers that mix in the Chat Completions API, whose terminal event it is.
        if data == b"[DONE]" {
            return Err(truncated());
        }
        let event: Event<'_> = parse(data)?;
        let index = event.output_index.0;
        match event.kind.as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text(index, "message", event.content_index.0, event.delta.0, out);
            }
            "response.reasoning_summary_text.delta" => {
                self.text(
                    index,
                    "reasoning",
                    event.summary_index.0,
                    event.delta.0,
                    out,
                );
            }
            "response.reasoning_text.delta" => {
                self.text(
                    index,
                    "reasoning",
                    event.content_index.0,
                    event.delta.0,
                    out,
                );
            }
            "response.function_call_arguments.delta" => {
                if let Some(item) = self.item(index) {
                    item.arguments(event.delta.0, out);
                }
            }
            "response.output_item.added" => {
                self.add(index, &event.item.unwrap_or_default(), out);
            }
            "response.output_item.done" => {
                self.close(index, event.item.unwrap_or_default(), out);
            }
            "response.completed" | "response.done" => {
                self.finish(event.response, FinishReason::Stop, out);
                return Ok(Progress::Done);
            }
            "response.incomplete" => {
                let reason = incomplete_reason(event.response.as_ref());
                self.finish(event.response, reason, out);
                return Ok(Progress::Done);
            }
            "response.failed" | "error" => return Err(in_stream(data)?),
            "" if frame.name == "error" || looks_like_error(data) => return Err(in_stream(data)?),
            _ => {}
        }
        Ok(Progress::Open)
    }

    fn end(&mut self, _: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        Err(truncated())
    }
}

impl ResponsesDecoder {
    fn item(&mut self, index: u64) -> Option<&mut Item> {
        let found = self.open.iter_mut().find(|(at, _)| *at == index);
        found.map(|(_, item)| item)
    }

    fn add(&mut self, index: u64, raw: &RawItem, out: &mut Vec<StreamEvent>) {
        // If a position is used twice, its first item would stay open for ever.
        self.close_open(index, None, out);
        let item = Item::open(index, raw, out);
        self.has_call |= item.is_call();
        self.open.push((index, item));
    }

    /// A delta may arrive for an item that was never announced.
    fn text(
        &mut self,
        index: u64,
        kind: &str,
        piece: u64,
        text: String,
        out: &mut Vec<StreamEvent>,
    ) {
        if self.item(index).is_none() {
            let mut raw = RawItem::default();
            raw.kind.0 = kind.to_owned();
            self.add(index, &raw, out);
        }
        if let Some(item) = self.item(index) {
            item.text(piece, text, out);
        }
    }

    fn close(&mut self, index: u64, raw: RawItem, out: &mut Vec<StreamEvent>) {
        if self.item(index).is_none() {
            self.add(index, &raw, out);
        }
        self.close_open(index, Some(raw), out);
    }

    fn close_open(&mut self, index: u64, raw: Option<RawItem>, out: &mut Vec<StreamEvent>) {
        if let Some(at) = self.open.iter().position(|(open, _)| *open == index) {
            let (_, item) = self.open.remove(at);
            item.close(raw, out);
            self.closed.push(index);
        }
    }

    fn finish(
        &mut self,
        response: Option<RawResponse>,
        reason: FinishReason,
        out: &mut Vec<StreamEvent>,
    ) {
        let response = response.unwrap_or_default();
        // The last event repeats the whole output; emit what was not streamed.
        for (index, raw) in (0..).zip(response.output.unwrap_or_default()) {
            if !self.closed.contains(&index) {
                self.close(index, raw, out);
            }
        }
        for (_, item) in std::mem::take(&mut self.open) {
            item.close(None, out);
        }
        let reason = match reason {
            FinishReason::Stop if self.has_call => FinishReason::ToolCalls,
            reason => reason,
        };
        let usage = response
            .usage
            .map_or_else(Usage::default, |raw| raw.to_usage());
        out.push(StreamEvent::FinishStep { reason, usage });
    }
}

fn incomplete_reason(response: Option<&RawResponse>) -> FinishReason {
    let details = response.and_then(|response| response.incomplete_details.as_ref());
    match details.map_or("", |details| details.reason.0.as_str()) {
        "max_output_tokens" | "max_tokens" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Unknown,
    }
}

fn looks_like_error(data: &[u8]) -> bool {
    let value: Result<Value, _> = serde_json::from_slice(data);
    value.is_ok_and(|value| value.get("error").is_some_and(|error| !error.is_null()))
}
