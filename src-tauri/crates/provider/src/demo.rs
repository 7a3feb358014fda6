//! The built-in model: offline and scripted.
//!
//! It is a function from a request to a list of events, so the tool calls in a session really
//! run. This module must not know more than the request: no session and no disk.

mod answer;
mod sample;
mod script;
mod tour;

use std::{
    collections::{HashSet, VecDeque, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use futures::Stream;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{error::ProviderError, event::StreamEvent, request::ModelRequest};

pub use sample::SAMPLE_PROJECT;

/// How fast the text is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DemoPace {
    /// With pauses like those of a real model.
    #[default]
    Realistic,
    Instant,
}

/// The built-in model. It remembers which requests it has failed on purpose, to fail only once.
#[derive(Debug, Clone, Default)]
pub struct Demo {
    pace: DemoPace,
    failed: Arc<Mutex<HashSet<u64>>>,
}

impl Demo {
    pub fn new(pace: DemoPace) -> Self {
        Self {
            pace,
            failed: Arc::default(),
        }
    }

    /// The events of one step, like [`crate::client::ModelClient::stream`].
    pub fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> impl Stream<Item = StreamEvent> + Send + 'static {
        let events: VecDeque<StreamEvent> = self.respond(request).into();
        let pace = self.pace;
        futures::stream::unfold((events, cancel), move |(mut events, cancel)| async move {
            let event = events.pop_front()?;
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    let error = ProviderError::Aborted;
                    Some((StreamEvent::Error { error }, (VecDeque::new(), cancel)))
                }
                () = tokio::time::sleep(pause_before(&event, pace)) => Some((event, (events, cancel))),
            }
        })
    }

    /// The same request after a simulated failure is a retry, and succeeds.
    fn respond(&self, request: &ModelRequest) -> Vec<StreamEvent> {
        let events = script(request, false);
        let fails = matches!(events.last(), Some(StreamEvent::Error { .. }));
        if fails && !self.failed.lock().insert(fingerprint(request)) {
            return script(request, true);
        }
        events
    }
}

/// The model's next step. `retried` means that the same request has failed before.
pub fn script(request: &ModelRequest, retried: bool) -> Vec<StreamEvent> {
    let history = script::History::new(request);
    if let Some(events) = answer::background_task(&history) {
        return events;
    }
    if history.wants_tour() {
        return tour::next(&history, retried);
    }
    answer::free_prompt(&history)
}

fn fingerprint(request: &ModelRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&request.messages)
        .unwrap_or_default()
        .hash(&mut hasher);
    hasher.finish()
}

fn pause_before(event: &StreamEvent, pace: DemoPace) -> Duration {
    let milliseconds = match event {
        _ if pace == DemoPace::Instant => 0,
        StreamEvent::ReasoningStart { .. } => 350,
        StreamEvent::TextStart { .. } | StreamEvent::ToolInputStart { .. } => 180,
        StreamEvent::ReasoningDelta { text, .. } => 12 + 3 * text.len().min(12),
        StreamEvent::TextDelta { text, .. } => 16 + 4 * text.len().min(12),
        StreamEvent::ToolInputDelta { .. } => 25,
        _ => 0,
    };
    Duration::from_millis(milliseconds as u64)
}
