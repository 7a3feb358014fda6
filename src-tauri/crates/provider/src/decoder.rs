//! Shared parts of the wires' decoders: server-sent events in, blocks that open and close in
//! order, and lenient parsing of token counts.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{
    error::{ApiFailure, FailureCause, ProviderError},
    event::{BlockId, Metadata, StreamEvent},
    sse::{Frame, Progress, SseParser},
    wire::Decoder,
};

/// The part of a decoder that differs by wire.
pub(crate) trait FrameDecoder: Send {
    /// Returns `Done` after `finish-step`; an error ends the stream with that error.
    fn decode_frame(
        &mut self,
        frame: Frame<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Progress, ProviderError>;

    /// The body ended before `Done`: finish if everything needed has arrived, else fail.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;
}

/// A decoder over server-sent events.
pub(crate) struct SseDecoder<T> {
    sse: SseParser,
    inner: T,
    done: bool,
}

impl<T: FrameDecoder> SseDecoder<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self {
            sse: SseParser::default(),
            inner,
            done: false,
        }
    }

    fn fail(&mut self, error: ProviderError, out: &mut Vec<StreamEvent>) {
        if !self.done {
            self.done = true;
            out.push(StreamEvent::Error { error });
        }
    }
}

impl<T: FrameDecoder> Decoder for SseDecoder<T> {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) {
        if self.done {
            return;
        }
        let Self { sse, inner, done } = self;
        let fed = sse.feed(bytes, |frame| decode_or_fail(inner, done, frame, out));
        if let Err(too_long) = fed {
            self.fail(malformed(too_long.to_string()), out);
        }
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) {
        if self.done {
            return;
        }
        let Self { sse, inner, done } = self;
        let fed = sse.end(|frame| decode_or_fail(inner, done, frame, out));
        if let Err(too_long) = fed {
            return self.fail(malformed(too_long.to_string()), out);
        }
        if self.done {
            return;
        }
        match self.inner.end(out) {
            Ok(()) => self.done = true,
            Err(error) => self.fail(error, out),
        }
    }
}

fn decode_or_fail<T: FrameDecoder>(
    inner: &mut T,
    done: &mut bool,
    frame: Frame<'_>,
    out: &mut Vec<StreamEvent>,
) -> Progress {
    let progress = inner.decode_frame(frame, out).unwrap_or_else(|error| {
        // A frame cut off by the end of the body is truncated, not malformed.
        let error = if frame.cut && is_malformed(&error) {
            truncated()
        } else {
            error
        };
        out.push(StreamEvent::Error { error });
        Progress::Done
    });
    *done = progress == Progress::Done;
    progress
}

fn is_malformed(error: &ProviderError) -> bool {
    matches!(error, ProviderError::Api(failure) if failure.cause == FailureCause::Malformed)
}

pub(crate) fn truncated() -> ProviderError {
    ProviderError::Api(ApiFailure::truncated())
}

pub(crate) fn malformed(message: impl Into<String>) -> ProviderError {
    ProviderError::Api(ApiFailure::malformed(message))
}

/// Parses the JSON of a frame; the error quotes the beginning of invalid data.
pub(crate) fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(data).map_err(|error| {
        let head: String = String::from_utf8_lossy(&data[..data.len().min(240)])
            .chars()
            .take(120)
            .collect();
        malformed(format!(
            "The model's server sent something unreadable ({error}): {head}"
        ))
    })
}

/// A token count. Any JSON value is accepted: missing, null, negative and NaN count as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let whole = value.as_u64();
        let rounded = || {
            let float = value.as_f64()?;
            (float.is_finite() && float > 0.0).then_some(float as u64)
        };
        Ok(Self(whole.or_else(rounded).unwrap_or(0)))
    }
}

/// Opens and closes blocks for wires that send only deltas of text and reasoning.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    opened: usize,
    open: Option<OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    id: BlockId,
    kind: BlockKind,
    metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Text,
    Reasoning,
}

impl Blocks {
    /// Empty text opens no block: servers send it along with roles, tool calls and the finish.
    pub(crate) fn delta(&mut self, kind: BlockKind, text: String, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        let id = self.open(kind, out);
        out.push(match kind {
            BlockKind::Text => StreamEvent::TextDelta { id, text },
            BlockKind::Reasoning => StreamEvent::ReasoningDelta { id, text },
        });
    }

    /// Adds metadata to the end of the block. Opens the block if needed, because a signature
    /// may arrive for reasoning whose text is withheld.
    pub(crate) fn annotate(
        &mut self,
        kind: BlockKind,
        metadata: Metadata,
        out: &mut Vec<StreamEvent>,
    ) {
        self.open(kind, out);
        if let Some(open) = &mut self.open {
            open.metadata.extend(metadata);
        }
    }

    pub(crate) fn close(&mut self, out: &mut Vec<StreamEvent>) {
        let Some(OpenBlock { id, kind, metadata }) = self.open.take() else {
            return;
        };
        out.push(match kind {
            BlockKind::Text => StreamEvent::TextEnd { id, metadata },
            BlockKind::Reasoning => StreamEvent::ReasoningEnd { id, metadata },
        });
    }

    fn open(&mut self, kind: BlockKind, out: &mut Vec<StreamEvent>) -> BlockId {
        if let Some(open) = &self.open
            && open.kind == kind
        {
            return open.id.clone();
        }
        self.close(out);
        let id = BlockId::from(format!("block-{}", self.opened));
        self.opened += 1;
        out.push(match kind {
            BlockKind::Text => StreamEvent::TextStart {
                id: id.clone(),
                metadata: Metadata::new(),
            },
            BlockKind::Reasoning => StreamEvent::ReasoningStart {
                id: id.clone(),
                metadata: Metadata::new(),
            },
        });
        self.open = Some(OpenBlock {
            id: id.clone(),
            kind,
            metadata: Metadata::new(),
        });
        id
    }
}
