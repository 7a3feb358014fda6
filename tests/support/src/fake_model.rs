//! A fake model server for tests: real HTTP on loopback, scripted replies.
//!
//! It supports all four wires and selects one by the path of the request. Replies are given in
//! the order in which they were scripted. Requests that the app must never send (more than were
//! scripted, or a tool call without its result) are recorded and fail the test when the
//! [`FakeModel`] is dropped.

#![allow(clippy::expect_used, reason = "test support: to stop is to report")]

mod encoder;
mod http;
mod request;
mod script;
mod server;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lathe_provider::WireKind;
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

pub use request::{SeenCall, SeenRequest, SeenResult};
pub use script::{
    Gate, Item, Refusal, Reply, Script, bad_json, call, cut, full, hold, pause, raw_call,
    reasoning, reset, stall, stream_error, text, usage,
};

/// A running fake model; it stops when dropped.
pub struct FakeModel {
    url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// A scripted reply, through which a test reads the request that it answered.
#[derive(Clone)]
pub struct Answered {
    slot: Arc<Mutex<Option<SeenRequest>>>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified at every request.
    asked: Notify,
}

struct State {
    /// Replies that are scripted again when none is left.
    again: Vec<Reply>,
    replies: VecDeque<(Reply, Arc<Mutex<Option<SeenRequest>>>)>,
    title: String,
    /// Bytes per write; 0 writes each event at once.
    chunk: usize,
    calls: usize,
    records_nothing: bool,
    requests: Vec<SeenRequest>,
    titles: Vec<SeenRequest>,
    violations: Vec<String>,
}

impl FakeModel {
    pub async fn start() -> Self {
        Self::start_at(0).await.expect("a free port on loopback")
    }

    /// On this port; 0 takes a free one.
    pub async fn start_at(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                again: Vec::new(),
                replies: VecDeque::new(),
                title: "A fake title".to_owned(),
                chunk: 0,
                calls: 0,
                records_nothing: false,
                requests: Vec::new(),
                titles: Vec::new(),
                violations: Vec::new(),
            }),
            asked: Notify::new(),
        });
        let server = tokio::spawn(server::serve(listener, Arc::clone(&shared)));
        Ok(Self {
            url,
            shared,
            server,
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The base URL for the config of a provider.
    pub fn base_url(&self, wire: WireKind) -> String {
        match wire {
            WireKind::Gemini => format!("{}/v1beta", self.url),
            _ => format!("{}/v1", self.url),
        }
    }

    /// Scripts the next answer.
    pub fn reply(&self, items: impl IntoIterator<Item = Item>) -> Answered {
        self.reply_with(Reply::Say(items.into_iter().collect()))
    }

    /// Scripts a refusal with this status.
    pub fn refuse(&self, status: u16, headers: &[(&str, &str)], message: &str) -> Answered {
        self.reply_with(Reply::Refuse(Refusal::new(status, headers, message)))
    }

    pub fn reply_with(&self, reply: Reply) -> Answered {
        let slot = Arc::new(Mutex::new(None));
        self.shared
            .lock()
            .replies
            .push_back((reply, Arc::clone(&slot)));
        Answered {
            slot,
            shared: Arc::clone(&self.shared),
        }
    }

    /// Scripts these replies again and again.
    pub fn repeat(&self, replies: Vec<Reply>) {
        self.shared.lock().again = replies;
    }

    /// The requests since the last call. They are removed, so that a long run does not collect
    /// all of them.
    pub fn take_requests(&self) -> Vec<SeenRequest> {
        std::mem::take(&mut self.shared.lock().requests)
    }

    /// From now on, requests are neither checked nor stored: a benchmark must not measure the
    /// work of the fake model.
    pub fn forget(&self) {
        self.shared.lock().records_nothing = true;
    }

    /// The reply to requests for a title.
    pub fn title(&self, title: &str) {
        self.shared.lock().title = title.to_owned();
    }

    /// Splits every reply into writes of this many bytes.
    pub fn split(&self, bytes: usize) {
        self.shared.lock().chunk = bytes;
    }

    /// All requests so far, without those for titles.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.lock().requests.clone()
    }

    pub fn title_requests(&self) -> Vec<SeenRequest> {
        self.shared.lock().titles.clone()
    }

    /// The number of scripted replies that were not requested yet.
    pub fn unused_replies(&self) -> usize {
        self.shared.lock().replies.len()
    }

    /// Removes the next scripted reply: the process that was to request it was killed.
    pub fn remove_next_reply(&self) {
        self.shared.lock().replies.pop_front();
    }

    /// The requests so far that the app must not send.
    pub fn violations(&self) -> Vec<String> {
        self.shared.lock().violations.clone()
    }

    /// For tests of the fake model itself: forbidden requests so far no longer fail the test.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().violations)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.server.abort();
        let violations = self.shared.lock().violations.clone();
        if !violations.is_empty() && !std::thread::panicking() {
            panic!("the fake model was misused:\n{}", violations.join("\n"));
        }
    }
}

impl Answered {
    /// The request that was answered with this reply.
    #[track_caller]
    pub fn request(&self) -> SeenRequest {
        let seen = lock(&self.slot).clone();
        seen.expect("this reply was not asked for yet")
    }

    pub fn was_asked(&self) -> bool {
        lock(&self.slot).is_some()
    }

    /// Waits for the request.
    pub async fn asked(&self) -> SeenRequest {
        loop {
            let rung = self.shared.asked.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            if let Some(seen) = lock(&self.slot).clone() {
                return seen;
            }
            rung.await;
        }
    }
}

impl State {
    fn repeat_replies(&mut self) {
        if self.replies.is_empty() {
            let again = self.again.iter().cloned();
            self.replies
                .extend(again.map(|reply| (reply, Arc::default())));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
