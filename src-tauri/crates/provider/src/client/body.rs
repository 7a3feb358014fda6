//! Reading an answer, with an eye on the clock.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use tokio::time::{Instant, timeout, timeout_at};

use super::Timeouts;
use crate::{
    error::{ApiFailure, ProviderError},
    event::StreamEvent,
    wire::Decoder,
};

/// How much of an error page is worth reading.
const ERROR_BODY: usize = 64 * 1024;

pub(super) struct Reader<E = reqwest::Error> {
    chunks: BoxStream<'static, Result<Bytes, E>>,
    decoder: Box<dyn Decoder>,
    /// When the next chunk is overdue, and how long that is to wait for it.
    deadline: (Instant, Duration),
    idle: Duration,
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
        }
    }

    /// The events of the next chunk; at the end of the body, the last of all.
    pub(super) async fn read(&mut self) -> Result<Vec<StreamEvent>, ProviderError> {
        let (overdue, limit) = self.deadline;
        let chunk = match timeout_at(overdue, self.chunks.next()).await {
            Ok(chunk) => chunk,
            Err(_) => return Err(silent(limit)),
        };
        let mut events = Vec::new();
        match chunk {
            Some(Ok(bytes)) => {
                self.deadline = (Instant::now() + self.idle, self.idle);
                self.decoder.feed(&bytes, &mut events);
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
