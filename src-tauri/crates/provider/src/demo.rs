//! The built-in model: offline, scripted and honest about it.
//!
//! It is a function from a request to a list of events, so whatever it does in a session
//! is really done by the loop and the tools. It knows the request only: not the session,
//! not the disk.

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
pub use tour::SUGGESTED_PROMPT;

/// How fast the words come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DemoPace {
    /// With the pauses of somebody who writes.
    #[default]
    Realistic,
    Instant,
}

/// The built-in model with the little memory it needs to fail only once.
#[derive(Debug, Clone, Default)]
pub struct Demo {
    pace: DemoPace,
    stumbled: Arc<Mutex<HashSet<u64>>>,
}

impl Demo {
    pub fn new(pace: DemoPace) -> Self {
        Self {
            pace,
            stumbled: Arc::default(),
        }
    }

    /// One step, as [`crate::client::ModelClient::stream`] gives it.
    pub fn stream(
        &self,
        request: &ModelRequest,
        cancel: CancellationToken,
    ) -> impl Stream<Item = StreamEvent> + Send + 'static {
        let events: VecDeque<StreamEvent> = self.play(request).into();
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

    /// The same request again after a simulated failure is a retry, and goes well.
    fn play(&self, request: &ModelRequest) -> Vec<StreamEvent> {
        let events = script(request, false);
        let fails = matches!(events.last(), Some(StreamEvent::Error { .. }));
        if fails && !self.stumbled.lock().insert(fingerprint(request)) {
            return script(request, true);
        }
        events
    }
}

/// What the model does next, given everything said and done so far. `retried` tells that
/// this very request has failed before.
pub fn script(request: &ModelRequest, retried: bool) -> Vec<StreamEvent> {
    let words = script::Conversation::of(request);
    if let Some(events) = answer::chore(&words) {
        return events;
    }
    if words.wants_tour() {
        return tour::next(&words, retried);
    }
    answer::free(&words)
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
