//! Reads a response with timeouts.

use std::sync::OnceLock;
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

/// How much of an error body is read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// A fast response is read for this long, followed by a pause of the same length.
const INTERVAL: Duration = Duration::from_millis(2);
/// A response with this many chunks within an interval is fast. Models are slower; caches,
/// proxies and delayed responses are not.
const FAST_CHUNKS: u32 = 8;

/// Called with the bytes of an answer before they are decoded, so that tests can let a codec fail.
pub static BEFORE_DECODING: OnceLock<fn(&[u8])> = OnceLock::new();

pub(super) struct ResponseReader<E = reqwest::Error> {
    chunks: BoxStream<'static, Result<Bytes, E>>,
    decoder: Box<dyn Decoder>,
    /// The deadline for the next chunk, and the timeout it comes from.
    deadline: (Instant, Duration),
    idle: Duration,
    throttle: Throttle,
}

/// Pauses between reads of a fast response. A system call for every small chunk would cost more
/// than decoding it; after a pause, one read returns what has arrived meanwhile.
struct Throttle {
    since: Instant,
    chunks: u32,
    is_fast: bool,
}

impl Throttle {
    fn new() -> Self {
        Throttle {
            since: Instant::now(),
            chunks: 0,
            is_fast: false,
        }
    }

    fn count_chunk(&mut self, now: Instant) {
        self.chunks += 1;
        let elapsed = now - self.since;
        if elapsed >= INTERVAL {
            *self = Throttle {
                since: now,
                chunks: 0,
                is_fast: self.chunks >= FAST_CHUNKS && elapsed < INTERVAL * 2,
            };
        }
    }

    async fn pause_if_fast(&mut self) {
        if self.is_fast {
            sleep(INTERVAL).await;
            *self = Throttle::new();
        }
    }
}

impl<E: std::error::Error + 'static> ResponseReader<E> {
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
            throttle: Throttle::new(),
        }
    }

    /// The events of the next chunk, or the final events at the end of the body.
    pub(super) async fn read(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        self.throttle.pause_if_fast().await;
        let (deadline, limit) = self.deadline;
        let chunk = match timeout_at(deadline, self.chunks.next()).await {
            Ok(chunk) => chunk,
            Err(_) => return Err(timeout_error(limit)),
        };
        let mut events = Vec::new();
        match chunk {
            Some(Ok(bytes)) => {
                let now = Instant::now();
                self.deadline = (now + self.idle, self.idle);
                if let Some(announce) = BEFORE_DECODING.get() {
                    announce(&bytes);
                }
                self.decoder.feed(&bytes, &mut events);
                self.throttle.count_chunk(now);
            }
            Some(Err(error)) => return Err(connection_error(&error)),
            None => self.decoder.end(&mut events),
        }
        Ok(events)
    }
}

pub(super) fn timeout_error(limit: Duration) -> ProviderError {
    let seconds = limit.as_secs_f64();
    let message = format!("The model has been silent for {seconds} s");
    ProviderError::Api(ApiFailure::timeout(message))
}

fn connection_error(error: &(dyn std::error::Error + 'static)) -> ProviderError {
    let message = format!("The connection broke: {}", super::root_cause(error));
    ProviderError::Api(ApiFailure::connection(message))
}

/// The beginning of an error body, as far as it can be read in time.
pub(super) async fn read_error_body<E>(
    mut chunks: BoxStream<'static, Result<Bytes, E>>,
    idle: Duration,
) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BODY {
        let Ok(Some(Ok(chunk))) = timeout(idle, chunks.next()).await else {
            break;
        };
        body.extend_from_slice(&chunk);
    }
    body.truncate(MAX_ERROR_BODY);
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::FailureCause, openai_chat::OpenaiChat, wire::Wire};
    use futures::stream;
    use std::io;

    const CHUNK: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

    fn reader(chunks: BoxStream<'static, io::Result<Bytes>>) -> ResponseReader<io::Error> {
        let timeouts = Timeouts::default();
        let first_byte = Instant::now() + timeouts.first_byte;
        ResponseReader::new(chunks, OpenaiChat.decoder(), first_byte, timeouts)
    }

    fn cause(error: &ProviderError) -> (FailureCause, bool) {
        match error {
            ProviderError::Api(failure) => (failure.cause, failure.is_retryable),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_first_byte_within_sixty_seconds_is_a_timeout() {
        let start = Instant::now();
        let error = reader(stream::pending().boxed()).read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Timeout, false));
        assert_eq!(start.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn no_further_chunk_within_ninety_seconds_is_a_timeout() {
        let first = stream::iter([Ok(Bytes::from_static(CHUNK))]);
        let mut reader = reader(first.chain(stream::pending()).boxed());
        assert_eq!(reader.read().await.unwrap().len(), 2);
        let start = Instant::now();
        let error = reader.read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Timeout, false));
        assert_eq!(start.elapsed().as_secs(), 90);
    }

    /// The time to read a hundred chunks that arrive at this interval.
    async fn time_for_a_hundred(interval: Duration) -> Duration {
        let chunks = stream::repeat(()).then(move |()| async move {
            tokio::time::advance(interval).await;
            Ok(Bytes::from_static(CHUNK))
        });
        let mut reader = reader(chunks.boxed());
        let start = Instant::now();
        for _ in 0..100 {
            reader.read().await.unwrap();
        }
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_at_the_speed_of_a_model_is_read_without_pauses() {
        let interval = Duration::from_millis(1);
        assert_eq!(time_for_a_hundred(interval).await, interval * 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_response_is_read_with_pauses() {
        let interval = Duration::from_micros(100);
        let total = time_for_a_hundred(interval).await;
        // Four pauses, each rounded up to the clock's next millisecond.
        let pauses = total - interval * 100;
        assert!(
            pauses >= INTERVAL * 4 && pauses <= INTERVAL * 6,
            "{pauses:?}"
        );
    }

    #[tokio::test]
    async fn a_reset_while_reading_is_retryable() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let mut reader = reader(stream::iter([Err(reset)]).boxed());
        let error = reader.read().await.unwrap_err();
        assert_eq!(cause(&error), (FailureCause::Connection, true));
    }

    #[tokio::test]
    async fn a_body_without_its_terminal_event_is_an_error() {
        let mut reader = reader(stream::iter([Ok(Bytes::from_static(CHUNK))]).boxed());
        reader.read().await.unwrap();
        let events = reader.read().await.unwrap();
        let [StreamEvent::Error { error }] = events.as_slice() else {
            panic!("{events:?}");
        };
        assert_eq!(cause(error), (FailureCause::Truncated, true));
    }
}
