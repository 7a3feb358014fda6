//! The door for other programs: HTTP, server-sent events and gRPC over the sessions.
//!
//! It speaks the HTTP interface of OpenCode, so that its clients can work with our sessions. All
//! work is done by [`lathe_session::Sessions`]; this crate checks who asks ([`guard`]), reads
//! requests, calls the handle and writes answers in the form that those clients read. It must not
//! know Tauri, windows, rendering, models or the store, and it decides nothing about permissions.

mod answers;
mod connections;
mod context;
mod events;
mod frames;
mod grpc;
mod guard;
mod handlers;
mod openapi;
mod password;
mod reply;
mod routes;
mod terminals;
mod unread;
mod wire;

pub use guard::AllowedOrigins;
pub use password::{Password, PasswordError};
pub use routes::{ROUTES, Route};

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use lathe_session::Sessions;
use tokio::net::TcpListener;

use context::Shared;

/// The port that clients try first.
pub const DEFAULT_PORT: u16 = 4096;

pub struct Options {
    pub hostname: String,
    /// 0 for a free one.
    pub port: u16,
    pub password: Password,
    /// Web pages that may call the server. None may, also of this machine, that is not named.
    pub origins: Vec<String>,
    /// The folder of requests that name none.
    pub directory: PathBuf,
    pub limits: Limits,
}

/// What one client may take.
#[derive(Debug, Clone)]
pub struct Limits {
    pub body_bytes: usize,
    /// The time in which a client has to send its headers, and then its body.
    pub request: std::time::Duration,
    /// How long a client may leave an answer unread.
    pub unread: std::time::Duration,
    pub connections: usize,
    pub subscribers: usize,
    /// The pause between two signs of life on a stream of events.
    pub heartbeat: std::time::Duration,
}

impl Default for Limits {
    fn default() -> Self {
        use std::time::Duration;
        Limits {
            // Pictures are sent as base64.
            body_bytes: 64 * 1024 * 1024,
            request: Duration::from_secs(30),
            unread: Duration::from_secs(60),
            connections: 2048,
            subscribers: 1024,
            heartbeat: Duration::from_secs(10),
        }
    }
}

/// A server that has its port but does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    pub async fn bind(sessions: Sessions, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((options.hostname.as_str(), options.port)).await?;
        let address = listener.local_addr()?;
        let hosts: HashSet<String> = [options.hostname.to_ascii_lowercase()].into();
        let shared = Arc::new(Shared::new(sessions, options, address, hosts));
        Ok(Server {
            listener,
            address,
            shared,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is done.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        // What another process does with the same data is published here too.
        let following = self.shared.sessions.follow_other_processes();
        if following.is_some() {
            self.shared.answers.keep();
        }
        let service = routes::service(self.shared.clone());
        connections::accept(self.listener, service, &self.shared, stop).await;
    }
}
