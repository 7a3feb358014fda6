//! One API call: turns the model's stream into stored parts.
//!
//! Tool calls are collected here and run only after the stream has ended well, so that a broken
//! stream can be requested again without running anything twice.

use std::collections::HashMap;
use std::time::Duration;

use futures::{Stream, StreamExt};
use lathe_protocol::{
    Extra, Map, MessageId, Millis, Part, PartId, PartTime, ReasoningPart, SessionId, TextPart,
    ToolPart, ToolState,
};
use lathe_provider::{FinishReason, Metadata, ProviderError, StreamEvent, Usage};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use lathe_records::Records;
use lathe_records::Result;

/// Streaming text is written at most this often; a crash loses no more than that.
const SAVE_EVERY: Duration = Duration::from_millis(100);
/// A text is written whole each time, so a longer one than this is written less often: the disk is
/// given no more than this every [`SAVE_EVERY`].
const SAVE_BYTES: usize = 256 * 1024;

/// How a stream ended.
#[derive(Debug, PartialEq)]
pub enum StreamEnd {
    Finished { reason: FinishReason, usage: Usage },
    Failed(ProviderError),
    Aborted,
}

/// A complete call of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub part: ToolPart,
    /// The arguments as the model wrote them.
    pub raw: String,
    /// The result, if the provider ran the call itself.
    pub answered: Option<Result<String, String>>,
}

pub struct Step<'a> {
    records: &'a Records,
    session_id: SessionId,
    message_id: MessageId,
    /// Parts of earlier attempts, removed as soon as this one has a part.
    replaced: Vec<Part>,
    open: HashMap<String, PartId>,
    pending: HashMap<String, ToolPart>,
    /// Parts and calls that changed since they were last written.
    unsaved: Vec<PartId>,
    unsaved_calls: Vec<String>,
    calls: Vec<Call>,
    /// The parts of this attempt.
    parts: Vec<Part>,
}

impl<'a> Step<'a> {
    pub fn new(
        records: &'a Records,
        session_id: SessionId,
        message_id: MessageId,
        replaced: Vec<Part>,
    ) -> Self {
        Step {
            records,
            session_id,
            message_id,
            replaced,
            open: HashMap::new(),
            pending: HashMap::new(),
            unsaved: Vec::new(),
            unsaved_calls: Vec::new(),
            calls: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Reads the stream to its end, or until it is aborted.
    pub async fn consume(
        &mut self,
        stream: impl Stream<Item = StreamEvent>,
        cancel: &CancellationToken,
    ) -> Result<StreamEnd> {
        let mut stream = std::pin::pin!(stream);
        let mut tick = tokio::time::interval(SAVE_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut finished = None;
        let end = loop {
            let event = tokio::select! {
                biased;
                () = cancel.cancelled() => break StreamEnd::Aborted,
                _ = tick.tick() => {
                    let bytes = self.save().await?;
                    tick.reset_after(pause_after(bytes));
                    continue;
                }
                event = stream.next() => event,
            };
            match event {
                Some(StreamEvent::FinishStep { reason, usage }) => finished = Some((reason, usage)),
                Some(StreamEvent::Error {
                    error: ProviderError::Aborted,
                }) => break StreamEnd::Aborted,
                Some(StreamEvent::Error { error }) => break StreamEnd::Failed(error),
                Some(event) => self.apply(event).await?,
                None => break stream_end(finished),
            }
        };
        self.close_all().await?;
        Ok(end)
    }

    pub fn into_calls(self) -> Vec<Call> {
        self.calls
    }

    /// The parts that the message has, of this attempt and of earlier ones.
    pub fn into_parts(self) -> Vec<Part> {
        let mut parts = self.replaced;
        parts.extend(self.parts);
        parts
    }

    async fn apply(&mut self, event: StreamEvent) -> Result<()> {
        match event {
            StreamEvent::TextStart { id, metadata } => self.open_text(&id, metadata).await,
            StreamEvent::ReasoningStart { id, metadata } => {
                self.open_reasoning(&id, metadata).await
            }
            StreamEvent::TextDelta { id, text } | StreamEvent::ReasoningDelta { id, text } => {
                self.append(&id, &text);
                Ok(())
            }
            StreamEvent::TextEnd { id, metadata } | StreamEvent::ReasoningEnd { id, metadata } => {
                self.close(&id, metadata).await
            }
            StreamEvent::ToolInputStart { id, name } => self.open_call(&id, &name).await,
            StreamEvent::ToolInputDelta { id, text } => {
                self.receive(&id, &text);
                Ok(())
            }
            StreamEvent::ToolCall {
                id,
                name,
                input,
                metadata,
            } => self.finish_call(&id, &name, input, metadata).await,
            StreamEvent::ToolResult { id, output, .. } => {
                let text = output
                    .as_str()
                    .map_or_else(|| output.to_string(), str::to_owned);
                self.set_result(&id, Ok(text));
                Ok(())
            }
            StreamEvent::ToolError { id, message, .. } => {
                self.set_result(&id, Err(message));
                Ok(())
            }
            // The caller has opened the step; its end is read by `consume`.
            StreamEvent::Start
            | StreamEvent::StartStep
            | StreamEvent::ToolInputEnd { .. }
            | StreamEvent::FinishStep { .. }
            | StreamEvent::Error { .. }
            | StreamEvent::Finish => Ok(()),
        }
    }

    async fn open_text(&mut self, block: &str, metadata: Metadata) -> Result<()> {
        let (id, now) = self.new_part();
        let part = Part::Text(TextPart {
            id: id.clone(),
            session_id: self.session_id.clone(),
            message_id: self.message_id.clone(),
            text: String::new(),
            synthetic: None,
            ignored: None,
            time: Some(started(now)),
            metadata: non_empty(metadata),
            extra: Extra::default(),
        });
        self.open_block(block, id, part).await
    }

    async fn open_reasoning(&mut self, block: &str, metadata: Metadata) -> Result<()> {
        let (id, now) = self.new_part();
        let part = Part::Reasoning(ReasoningPart {
            id: id.clone(),
            session_id: self.session_id.clone(),
            message_id: self.message_id.clone(),
            text: String::new(),
            metadata: non_empty(metadata),
            time: started(now),
            extra: Extra::default(),
        });
        self.open_block(block, id, part).await
    }

    async fn open_block(&mut self, block: &str, id: PartId, part: Part) -> Result<()> {
        self.replace_earlier().await?;
        self.records.open_stream(part.clone()).await?;
        self.open.insert(block.to_owned(), id);
        self.track(part);
        Ok(())
    }

    fn append(&mut self, block: &str, text: &str) {
        if let Some(id) = self.open.get(block) {
            self.records.append(id, text);
            if !self.unsaved.contains(id) {
                self.unsaved.push(id.clone());
            }
        }
    }

    /// Trims the text at its end, and removes a part without text.
    async fn close(&mut self, block: &str, metadata: Metadata) -> Result<()> {
        let Some(id) = self.open.remove(block) else {
            return Ok(());
        };
        self.unsaved.retain(|unsaved| *unsaved != id);
        let Some(mut part) = self.records.streaming(&id) else {
            return Ok(());
        };
        let now = self.records.now();
        let empty = match &mut part {
            Part::Text(part) => {
                part.text.truncate(part.text.trim_end().len());
                part.time.get_or_insert_default().end = Some(now);
                merge(&mut part.metadata, metadata);
                part.text.is_empty()
            }
            Part::Reasoning(part) => {
                part.text.truncate(part.text.trim_end().len());
                part.time.end = Some(now);
                merge(&mut part.metadata, metadata);
                // Encrypted reasoning has no text but must be sent back to its provider.
                part.text.is_empty() && part.metadata.is_none()
            }
            _ => false,
        };
        if empty {
            self.parts.retain(|part| *part.id() != id);
            return self.records.remove_part(&part).await;
        }
        self.track(part.clone());
        self.records.put_part(part).await
    }

    /// Remembers the newest version of a part.
    fn track(&mut self, part: Part) {
        match self.parts.iter_mut().find(|known| known.id() == part.id()) {
            Some(known) => *known = part,
            None => self.parts.push(part),
        }
    }

    async fn open_call(&mut self, call: &str, name: &str) -> Result<()> {
        self.replace_earlier().await?;
        let (id, _) = self.new_part();
        let part = ToolPart::pending(
            id,
            self.session_id.clone(),
            self.message_id.clone(),
            call,
            name,
        );
        self.records.put_part(Part::Tool(part.clone())).await?;
        self.track(Part::Tool(part.clone()));
        self.pending.insert(call.to_owned(), part);
        Ok(())
    }

    fn receive(&mut self, call: &str, text: &str) {
        let Some(part) = self.pending.get_mut(call) else {
            return;
        };
        // A pending part always takes more of its arguments.
        let _ = part.receive(text);
        if !self.unsaved_calls.iter().any(|unsaved| unsaved == call) {
            self.unsaved_calls.push(call.to_owned());
        }
    }

    async fn finish_call(
        &mut self,
        call: &str,
        name: &str,
        raw: String,
        metadata: Metadata,
    ) -> Result<()> {
        if !self.pending.contains_key(call) {
            self.open_call(call, name).await?;
            self.receive(call, &raw);
        }
        let Some(mut part) = self.pending.remove(call) else {
            return Ok(());
        };
        self.unsaved_calls.retain(|unsaved| unsaved != call);
        merge(&mut part.metadata, metadata);
        self.records.put_part(Part::Tool(part.clone())).await?;
        self.track(Part::Tool(part.clone()));
        self.calls.push(Call {
            part,
            raw,
            answered: None,
        });
        Ok(())
    }

    fn set_result(&mut self, call: &str, result: Result<String, String>) {
        if let Some(one) = self.calls.iter_mut().find(|one| one.part.call_id == call) {
            one.answered = Some(result);
        }
    }

    /// Returns how many bytes of streaming text and of arguments were written.
    async fn save(&mut self) -> Result<usize> {
        let mut bytes = 0;
        for id in std::mem::take(&mut self.unsaved) {
            bytes += self.records.save_stream(&id).await?;
        }
        for call in std::mem::take(&mut self.unsaved_calls) {
            if let Some(part) = self.pending.get(&call).cloned() {
                if let ToolState::Pending(pending) = part.state() {
                    bytes += pending.raw.len();
                }
                self.track(Part::Tool(part.clone()));
                self.records.put_part(Part::Tool(part)).await?;
            }
        }
        Ok(bytes)
    }

    /// However the stream ended, no text stays open. Calls whose arguments are incomplete are
    /// settled by the turn.
    async fn close_all(&mut self) -> Result<()> {
        let open: Vec<_> = self.open.keys().cloned().collect();
        for block in open {
            self.close(&block, Metadata::new()).await?;
        }
        self.save().await.map(drop)
    }

    async fn replace_earlier(&mut self) -> Result<()> {
        for part in std::mem::take(&mut self.replaced) {
            self.records.remove_part(&part).await?;
        }
        Ok(())
    }

    fn new_part(&self) -> (PartId, Millis) {
        let now = self.records.now();
        (self.records.ids().part(now), now)
    }
}

fn pause_after(bytes: usize) -> Duration {
    let times = bytes.div_ceil(SAVE_BYTES).max(1);
    SAVE_EVERY.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
}

/// A stream that ends without saying so has not ended well.
fn stream_end(finished: Option<(FinishReason, Usage)>) -> StreamEnd {
    match finished {
        Some((reason, usage)) => StreamEnd::Finished { reason, usage },
        None => StreamEnd::Failed(ProviderError::Api(lathe_provider::ApiFailure::truncated())),
    }
}

fn started(now: Millis) -> PartTime {
    PartTime {
        start: now,
        end: None,
        extra: Extra::default(),
    }
}

fn non_empty(metadata: Metadata) -> Option<Map> {
    (!metadata.is_empty()).then_some(metadata)
}

fn merge(into: &mut Option<Map>, metadata: Metadata) {
    if !metadata.is_empty() {
        into.get_or_insert_default().extend(metadata);
    }
}

#[cfg(test)]
mod tests;
