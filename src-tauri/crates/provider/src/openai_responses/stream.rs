//! Responses events as neutral ones.

use serde_json::Value;

use super::{
    error::in_stream,
    event::{Event, RawItem, RawResponse},
    item::Item,
};
use crate::{
    error::ProviderError,
    event::{FinishReason, StreamEvent, Usage},
    sse::{Frame, Progress},
    stream::{parse, truncated},
};

#[derive(Default)]
pub(super) struct Frames {
    open: Vec<(u64, Item)>,
    /// Places in the output that are done with.
    closed: Vec<u64>,
    called: bool,
}

impl crate::stream::Frames for Frames {
    fn frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError> {
        let data = frame.data.trim_ascii();
        if data.is_empty() {
            return Ok(Progress::Open);
        }
        // Sent by servers that think of the older API; the terminal event came before it.
        if data == b"[DONE]" {
            return Err(truncated());
        }
        let event: Event<'_> = parse(data)?;
        let index = event.output_index.0;
        match event.kind.as_ref() {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.words(index, "message", event.content_index.0, event.delta.0, out);
            }
            "response.reasoning_summary_text.delta" => {
                self.words(
                    index,
                    "reasoning",
                    event.summary_index.0,
                    event.delta.0,
                    out,
                );
            }
            "response.reasoning_text.delta" => {
                self.words(
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

impl Frames {
    fn item(&mut self, index: u64) -> Option<&mut Item> {
        let found = self.open.iter_mut().find(|(at, _)| *at == index);
        found.map(|(_, item)| item)
    }

    fn add(&mut self, index: u64, raw: &RawItem, out: &mut Vec<StreamEvent>) {
        // A place used twice would leave its first item open for ever.
        self.settle(index, None, out);
        let item = Item::open(index, raw, out);
        self.called |= item.is_call();
        self.open.push((index, item));
    }

    /// A delta may come for an item that was never announced.
    fn words(
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
            item.words(piece, text, out);
        }
    }

    fn close(&mut self, index: u64, raw: RawItem, out: &mut Vec<StreamEvent>) {
        if self.item(index).is_none() {
            self.add(index, &raw, out);
        }
        self.settle(index, Some(raw), out);
    }

    fn settle(&mut self, index: u64, raw: Option<RawItem>, out: &mut Vec<StreamEvent>) {
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
        // The whole output comes again at the end; take what was not streamed.
        for (index, raw) in (0..).zip(response.output.unwrap_or_default()) {
            if !self.closed.contains(&index) {
                self.close(index, raw, out);
            }
        }
        for (_, item) in std::mem::take(&mut self.open) {
            item.close(None, out);
        }
        let reason = match reason {
            FinishReason::Stop if self.called => FinishReason::ToolCalls,
            reason => reason,
        };
        let usage = response
            .usage
            .map_or_else(Usage::default, |raw| raw.neutral());
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
