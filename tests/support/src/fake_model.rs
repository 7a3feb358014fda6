//! A model server of our own, for tests: real HTTP on loopback, scripted answers.
//!
//! It speaks the four wires and decides by the path which one is asked for. Replies are
//! given in the order they were scripted. What the app may never do (ask more often than
//! scripted, send a tool call without its result) is remembered and fails the test when the
//! [`FakeModel`] goes away.

#![allow(clippy::expect_used, reason = "test support: to stop is to report")]

mod http;
mod request;
mod script;
mod server;
mod voice;

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

/// One scripted reply, to ask about the request it answered.
#[derive(Clone)]
pub struct Answered {
    slot: Arc<Mutex<Option<SeenRequest>>>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Rings at every request.
    asked: Notify,
}

struct State {
    /// What the script begins with again when it is used up.
    again: Vec<Reply>,
    replies: VecDeque<(Reply, Arc<Mutex<Option<SeenRequest>>>)>,
    title: String,
    /// Bytes per write; 0 writes each event whole.
    chunk: usize,
    calls: usize,
    forgets: bool,
    requests: Vec<SeenRequest>,
    titles: Vec<SeenRequest>,
    offences: Vec<String>,
}

impl FakeModel {
    pub async fn start() -> Self {
        Self::start_at(0).await.expect("a free port on loopback")
    }

    /// On a port of choice; 0 takes a free one.
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
                forgets: false,
                requests: Vec::new(),
                titles: Vec::new(),
                offences: Vec::new(),
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

    /// What to configure as the provider's base URL.
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

    /// Scripts these answers, over and over.
    pub fn repeat(&self, replies: Vec<Reply>) {
        self.shared.lock().again = replies;
    }

    /// The requests since the last time, which are then forgotten: what goes on for long must
    /// not gather them all.
    pub fn take_requests(&self) -> Vec<SeenRequest> {
        std::mem::take(&mut self.shared.lock().requests)
    }

    /// Nothing is checked and kept of a turn's requests from now on: where time is taken, the
    /// model's own is not what is measured.
    pub fn forget(&self) {
        self.shared.lock().forgets = true;
    }

    /// What requests for a title are answered with.
    pub fn title(&self, title: &str) {
        self.shared.lock().title = title.to_owned();
    }

    /// Cuts every answer into writes of this many bytes.
    pub fn split(&self, bytes: usize) {
        self.shared.lock().chunk = bytes;
    }

    /// Every request so far, without those for titles.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.shared.lock().requests.clone()
    }

    pub fn title_requests(&self) -> Vec<SeenRequest> {
        self.shared.lock().titles.clone()
    }

    /// Scripted replies that nobody asked for yet.
    pub fn left(&self) -> usize {
        self.shared.lock().replies.len()
    }

    /// Takes the next scripted reply back, because whoever was to ask for it is gone.
    pub fn take_back(&self) {
        self.shared.lock().replies.pop_front();
    }

    /// What the app did wrong so far.
    pub fn offences(&self) -> Vec<String> {
        self.shared.lock().offences.clone()
    }

    /// For tests about offences: they no longer fail the test.
    pub fn forgive(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().offences)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.server.abort();
        let offences = self.shared.lock().offences.clone();
        if !offences.is_empty() && !std::thread::panicking() {
            panic!("the fake model was misused:\n{}", offences.join("\n"));
        }
    }
}

impl Answered {
    /// The request that got this reply.
    #[track_caller]
    pub fn request(&self) -> SeenRequest {
        let seen = lock(&self.slot).clone();
        seen.expect("this reply was not asked for yet")
    }

    pub fn was_asked(&self) -> bool {
        lock(&self.slot).is_some()
    }

    /// Waits until the request has come.
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
    fn begin_again(&mut self) {
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
