//! Accepts connections: as many as there is room for, and none that only takes it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::Limits;
use crate::context::Shared;

const HEADER_BYTES: usize = 64 * 1024;
/// After this the connections that are left are dropped.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(50);

/// What a connection and its requests know of each other.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    is_admitted: Arc<AtomicBool>,
    /// Ends it at once.
    pub end: CancellationToken,
}

impl Connection {
    /// One of its requests was let in.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }
}

pub async fn accept(
    listener: TcpListener,
    service: Router,
    shared: &Arc<Shared>,
    stop: impl Future<Output = ()>,
) {
    let most = shared.limits.connections.min(most_open_files() / 2);
    let room = Arc::new(Semaphore::new(most));
    let open = TaskTracker::new();
    let closing = shared.closing.clone();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Usually too many open files: some will be closed.
                tracing::warn!(%error, "a connection was not accepted");
                sleep(PAUSE_AFTER_FAULT).await;
                continue;
            }
        };
        let Ok(permit) = room.clone().try_acquire_owned() else {
            tracing::warn!("too many connections: one was refused");
            continue;
        };
        let (service, closing, limits) = (service.clone(), closing.clone(), shared.limits.clone());
        open.spawn(async move {
            let _permit = permit;
            let own = Connection::default();
            let end = own.end.clone();
            let stream = ImpatientStream::new(stream, &limits, own.clone());
            let stream = TokioIo::new(stream);
            let mut builder = Builder::new(TokioExecutor::new());
            builder
                .http1()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.request)
                .max_buf_size(HEADER_BYTES);
            builder
                .http2()
                .timer(TokioTimer::new())
                .max_header_list_size(HEADER_BYTES as u32)
                .max_concurrent_streams(100)
                .keep_alive_interval(limits.heartbeat)
                .keep_alive_timeout(limits.unread);
            let service = service.map_request(move |mut request: Request<_>| {
                request.extensions_mut().insert(own.clone());
                request
            });
            let service = TowerToHyperService::new(service);
            let connection = builder.serve_connection_with_upgrades(stream, service);
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = end.cancelled() => {
                    tracing::debug!("an answer was not read: its connection is closed");
                    return;
                }
                () = closing.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    closing.cancel();
    open.close();
    let _ = tokio::time::timeout(CLOSE_LIMIT, open.wait()).await;
}

/// How many files this process may have open. Its connections must leave the store enough.
#[cfg(unix)]
fn most_open_files() -> usize {
    use rustix::process::{Resource, getrlimit};
    let most = getrlimit(Resource::Nofile).current;
    most.and_then(|most| most.try_into().ok())
        .unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
fn most_open_files() -> usize {
    usize::MAX
}

/// A stream that ends with an error when the other side does not read for too long, or has sent
/// no request with the password in the time that there is for one.
struct ImpatientStream {
    stream: TcpStream,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    connection: Connection,
    /// None once it is admitted.
    stranger: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    fn new(stream: TcpStream, limits: &Limits, connection: Connection) -> Self {
        ImpatientStream {
            stream,
            limit: limits.unread,
            waiting: None,
            connection,
            stranger: Some(Box::pin(sleep(limits.request))),
        }
    }

    fn has_been_a_stranger_too_long(&mut self, cx: &mut Context<'_>) -> bool {
        if self.connection.is_admitted() {
            self.stranger = None;
        }
        let stranger = self.stranger.as_mut();
        stranger.is_some_and(|limit| limit.as_mut().poll(cx).is_ready())
    }

    /// Passes a result on, or the error if it has been pending for too long.
    fn timed<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let limit = self.limit;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + limit)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.has_been_a_stranger_too_long(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(cx);
        self.timed(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
