//! Reading an answer, with an eye on the clock.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::Timeouts;
use crate::{
    error::{ApiFailure, ProviderError},
    event::StreamEvent,
    wire::Decoder,
};

/// How much of an error page is worth reading.
const ERROR_BODY: usize = 64 * 1024;

/// A fast answer is read for so long, then left alone for as long.
const STRIDE: Duration = Duration::from_millis(2);
/// So many chunks within a stride make an answer fast. Models are slower; what is fast are
/// caches, proxies and answers that were held up.
const FAST: u32 = 8;

pub(super) struct Reader<E = reqwest::Error> {
    chunks: BoxStream<'static, Result<Bytes, E>>,
    decoder: Box<dyn Decoder>,
    /// When the next chunk is overdue, and how long that is to wait for it.
    deadline: (Instant, Duration),
    idle: Duration,
    pace: Pace,
}

/// Asking the system for every chunk as it comes costs more than all we do with it. What
/// gathers while we look away comes at once.
struct Pace {
    since: Instant,
    chunks: u32,
    is_fast: bool,
}

impl Pace {
    fn new() -> Self {
        Pace {
            since: Instant::now(),
            chunks: 0,
            is_fast: false,
        }
    }

    fn count(&mut self, now: Instant) {
        self.chunks += 1;
        let took = now - self.since;
        if took >= STRIDE {
            *self = Pace {
                since: now,
                chunks: 0,
                is_fast: self.chunks >= FAST && took < STRIDE * 2,
            };
        }
    }

    async fn rest(&mut self) {
        if self.is_fast {
            sleep(STRIDE).await;
            *self = Pace::new();
        }
    }
}

impl<E: std::error::Error + 'static> Reader<E> {
    pub(super) fn new(
        chunks: BoxStream<'static, Result<Bytes, E>>,
        decoder: Box<dyn Decoder>,
        first_byte: Instant,
        timeouts: Timeouts,
    ) -> Self {
        Self {
            chunks,
            decoder,
            deadline: (first_byte, timeouts.first_byte),
            idle: timeouts.idle,
            pace: Pace::new(),
        }
    }

    /// The events of the next chunk; at the end of the body, the last of all.
    pub(super) async fn read(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        self.pace.rest().await;
        let (overdue, limit) = self.deadline;
        let chunk = match timeout_at(overdue, self.chunks.next()).await {
            Ok(chunk) => chunk,
            Err(_) => return Err(silent(limit)),
        };
        let mut events = Vec::new();
        match chunk {
            Some(Ok(bytes)) => {
                let now = Instant::now();
                self.deadline = (now + self.idle, self.idle);
                self.decoder.feed(&bytes, &mut events);
                self.pace.count(now);
            }
            Some(Err(error)) => return Err(broken(&error)),
            None => self.decoder.end(&mut events),
        }
        Ok(events)
    }
}

pub(super) fn silent(limit: Duration) -> ProviderError {
    let seconds = limit.as_secs_f64();
    let message = format!("The model has been silent for {seconds} s");
    ProviderError::Api(ApiFailure::timeout(message))
}

fn broken(error: &(dyn std::error::Error + 'static)) -> ProviderError {
    let message = format!("The connection broke: {}", super::root_cause(error));
    ProviderError::Api(ApiFailure::connection(message))
}

/// The beginning of an error page; what cannot be read of it in time is not missed.
pub(super) async fn read_start<E>(
    mut chunks: BoxStream<'static, Result<Bytes, E>>,
    idle: Duration,
) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < ERROR_BODY {
        let Ok(Some(Ok(chunk))) = timeout(idle, chunks.next()).await else {
            break;
        };
        body.extend_from_slice(&chunk);
    }
    body.truncate(ERROR_BODY);
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::FailureCause, openai_chat::OpenaiChat, wire::Wire};
    use futures::stream;
    use std::io;

    const CHUNK: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

    fn reader(chunks: BoxStream<'static, io::Result<Bytes>>) -> Reader<io::Error> {
        let timeouts = Timeouts::default();
        let first_byte = Instant::now() + timeouts.first_byte;
        Reader::new(chunks, OpenaiChat.decoder(), first_byte, timeouts)
    }

    fn cause(error: &ProviderError) -> (FailureCause, bool) {
        match error {
            ProviderError::Api(failure) => (failure.cause, failure.is_retryable),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_before_the_first_byte_ends_after_sixty_seconds() {
        let began = Instant::now();
        let error = reader(stream::pending().boxed()).read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Timeout, false));
        assert_eq!(began.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_after_a_chunk_ends_after_ninety_seconds() {
        let first = stream::iter([Ok(Bytes::from_static(CHUNK))]);
        let mut reader = reader(first.chain(stream::pending()).boxed());
        assert_eq!(reader.read().await.unwrap().len(), 2);
        let began = Instant::now();
        let error = reader.read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Timeout, false));
        assert_eq!(began.elapsed().as_secs(), 90);
    }

    /// How long it takes to read a hundred chunks that come so far apart.
    async fn time_for_a_hundred(apart: Duration) -> Duration {
        let chunks = stream::repeat(()).then(move |()| async move {
            tokio::time::advance(apart).await;
            Ok(Bytes::from_static(CHUNK))
        });
        let mut reader = reader(chunks.boxed());
        let began = Instant::now();
        for _ in 0..100 {
            reader.read().await.unwrap();
        }
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_at_a_models_pace_is_never_left_alone() {
        let apart = Duration::from_millis(1);
        assert_eq!(time_for_a_hundred(apart).await, apart * 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_answer_is_read_in_strides() {
        let apart = Duration::from_micros(100);
        let took = time_for_a_hundred(apart).await;
        // Four times it is left alone, until the clock's next millisecond at most.
        let rests = took - apart * 100;
        assert!(rests >= STRIDE * 4 && rests <= STRIDE * 6, "{rests:?}");
    }

    #[tokio::test]
    async fn a_reset_under_way_may_be_tried_again() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let mut reader = reader(stream::iter([Err(reset)]).boxed());
        let error = reader.read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Connection, true));
    }

    #[tokio::test]
    async fn a_body_that_just_ends_is_an_error() {
        let mut reader = reader(stream::iter([Ok(Bytes::from_static(CHUNK))]).boxed());
        reader.read().await.unwrap();
        let events = reader.read().await.unwrap();
        let [StreamEvent::Error { error }] = events.as_slice() else {
            panic!("{events:?}");
        };
        assert_eq!(cause(error), (FailureCause::Truncated, true));
    }
}
