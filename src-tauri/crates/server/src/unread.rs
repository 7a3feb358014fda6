//! Answers over HTTP/2 that nobody reads.
//!
//! There, a client that answers pings may leave one stream unread while the connection lives, so the
//! limit of the connection's own stream does not see it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// What is handed on at once. The next piece is asked for when the client has read this one.
const MOST_BYTES: usize = 16 * 1024;

/// Cancels `connection` when a piece of the answer is left unread for too long.
pub fn limited(response: Response, limit: Duration, connection: CancellationToken) -> Response {
    let unread = Arc::new(Mutex::new(None::<Instant>));
    let since = unread.clone();
    let watch = tokio::spawn(async move {
        loop {
            sleep(limit).await;
            if since.lock().is_some_and(|since| since.elapsed() >= limit) {
                return connection.cancel();
            }
        }
    });
    response.map(|body| {
        Body::new(Watched {
            body,
            rest: Bytes::new(),
            unread,
            _watch: AbortOnDropHandle::new(watch),
        })
    })
}

struct Watched {
    body: Body,
    rest: Bytes,
    /// Since when a piece has been handed on, and the next one has not been asked for.
    unread: Arc<Mutex<Option<Instant>>>,
    _watch: AbortOnDropHandle<()>,
}

impl Watched {
    fn next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = bytes,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let piece = self.rest.split_to(self.rest.len().min(MOST_BYTES));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let next = self.next(cx);
        *self.unread.lock() = next.is_ready().then(Instant::now);
        next
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
