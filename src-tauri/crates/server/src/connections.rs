//! Accepts connections: as many as there is room for, and none that only takes it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::task::TaskTracker;

use crate::context::Shared;

const HEADER_BYTES: usize = 64 * 1024;
/// After this the connections that are left are dropped.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(50);

pub async fn accept(
    listener: TcpListener,
    service: Router,
    shared: &Arc<Shared>,
    stop: impl Future<Output = ()>,
) {
    let room = Arc::new(Semaphore::new(shared.limits.connections));
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
            let stream = TokioIo::new(ImpatientStream::new(stream, limits.unread));
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
            let service = TowerToHyperService::new(service);
            let connection = builder.serve_connection_with_upgrades(stream, service);
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
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

/// A stream that ends with an error when the other side does not read for too long.
struct ImpatientStream {
    stream: TcpStream,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    fn new(stream: TcpStream, limit: Duration) -> Self {
        ImpatientStream {
            stream,
            limit,
            waiting: None,
        }
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
