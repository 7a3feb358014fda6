//! Turns the core's notices into updates for the webview: filtered, coalesced, rendered.
//!
//! A window gets the state of every session, but messages and parts only of the sessions that it has
//! open. Updates of one frame are sent as one batch. Streaming text is rendered once per frame, and
//! only from its last unfinished block on.

mod bound;
mod frame;
mod view;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use lathe_protocol::ipc::{MessagePage, SessionView, UiBatch, UiUpdate};
use lathe_protocol::{MessageId, SessionId};
use lathe_session::bus::{BusItem, Subscription};
use lathe_session::{Health, Result, Sessions, WindowAnchor};
use parking_lot::Mutex;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;

use frame::Frame;
use view::Roots;

/// How long notices are gathered before they are sent. Thirty updates a second look smooth, and cost
/// half as much as sixty where the webview renders in software.
const FRAME: Duration = Duration::from_millis(33);

/// The pause after a fault, so that one that repeats itself does not use up the processor.
const AFTER_A_FAULT: Duration = Duration::from_millis(500);

pub struct Bridge {
    sessions: Sessions,
    open: Mutex<HashSet<SessionId>>,
    /// Sessions that were just opened again: the rendering of their streaming text starts over.
    reopened: Mutex<HashSet<SessionId>>,
    roots: Roots,
    feeding: Mutex<Option<JoinHandle<()>>>,
}

impl Bridge {
    pub fn new(sessions: Sessions) -> Self {
        Bridge {
            sessions,
            open: Mutex::default(),
            reopened: Mutex::default(),
            roots: Roots::default(),
            feeding: Mutex::default(),
        }
    }

    /// Begins to feed a window. A page that was loaded again replaces the old one, and has
    /// nothing open yet.
    pub fn feed(self: Arc<Self>, channel: Channel<UiBatch>) {
        for id in self.open.lock().drain() {
            self.roots.remove(&id);
        }
        let bridge = self.clone();
        // Before the caller goes on: it relies on being sent what happens from now on.
        let notices = self.sessions.subscribe();
        let task =
            tauri::async_runtime::spawn(async move { bridge.feed_page(channel, notices).await });
        if let Some(earlier) = self.feeding.lock().replace(task) {
            earlier.abort();
        }
    }

    pub async fn open(&self, id: &SessionId, limit: usize) -> Result<SessionView> {
        // Before the messages are read, so that no update in between is missed.
        self.open.lock().insert(id.clone());
        self.reopened.lock().insert(id.clone());
        view::session(&self.sessions, &self.roots, id, limit).await
    }

    /// Like [`Bridge::open`], but around a message.
    pub async fn open_at(
        &self,
        id: &SessionId,
        at: &MessageId,
        limit: usize,
    ) -> Result<SessionView> {
        self.open.lock().insert(id.clone());
        self.reopened.lock().insert(id.clone());
        view::session_at(&self.sessions, &self.roots, id, at, limit).await
    }

    pub async fn newer(
        &self,
        id: &SessionId,
        after: &MessageId,
        limit: usize,
    ) -> Result<MessagePage> {
        let anchor = WindowAnchor::After(after.clone());
        view::window(&self.sessions, &self.roots, id, &anchor, limit).await
    }

    pub async fn older(
        &self,
        id: &SessionId,
        before: &MessageId,
        limit: usize,
    ) -> Result<MessagePage> {
        view::page(&self.sessions, &self.roots, id, Some(before), limit).await
    }

    pub fn close(&self, id: &SessionId) {
        self.open.lock().remove(id);
        self.roots.remove(id);
    }

    /// A fault of the program must not leave a page that is never sent anything again: it is given
    /// everything once more, as after lost notices.
    async fn feed_page(&self, channel: Channel<UiBatch>, mut notices: Subscription) {
        let mut frame = Frame::new(self.sessions.clone(), self.roots.clone());
        loop {
            let run = AssertUnwindSafe(self.run(&channel, &mut notices, frame));
            if run.catch_unwind().await.is_ok() {
                return;
            }
            tokio::time::sleep(AFTER_A_FAULT).await;
            frame = Frame::new(self.sessions.clone(), self.roots.clone());
            frame.reset(self.open.lock().iter().cloned().collect());
        }
    }

    async fn run(&self, channel: &Channel<UiBatch>, notices: &mut Subscription, mut frame: Frame) {
        let mut health = self.sessions.health();
        self.add_whole_state(&mut frame).await;
        loop {
            let updates = frame.finish();
            if !updates.is_empty() && channel.send(UiBatch { updates }).is_err() {
                return;
            }
            tokio::select! {
                Some(first) = notices.next() => self.take(&mut frame, first).await,
                Ok(()) = health.changed() => frame.add(store_update(&health.borrow_and_update())),
                else => return,
            }
            tokio::time::sleep(FRAME).await;
            while let Some(more) = notices.try_next() {
                self.take(&mut frame, more).await;
            }
        }
    }

    /// What a window must know before the notices that follow make sense to it.
    async fn add_whole_state(&self, frame: &mut Frame) {
        let activity = self.sessions.activity().await;
        frame.add(UiUpdate::Activity { activity });
        frame.add(store_update(&self.sessions.health().borrow()));
    }

    async fn take(&self, frame: &mut Frame, item: BusItem) {
        for id in self.reopened.lock().drain() {
            frame.forget(&id);
        }
        match item {
            BusItem::Missed => {
                tracing::info!("notifications were missed; the window is given everything again");
                let open: Vec<_> = self.open.lock().iter().cloned().collect();
                frame.reset(open);
                self.add_whole_state(frame).await;
            }
            BusItem::Notification(notice) => {
                let open = notice
                    .session_id()
                    .is_none_or(|id| self.open.lock().contains(id));
                frame.take(notice.notification, open);
            }
        }
    }
}

fn store_update(health: &Health) -> UiUpdate {
    let problem = match health {
        Health::Good => None,
        Health::Failing(error) => Some(error.to_string()),
    };
    UiUpdate::Store { problem }
}

#[cfg(test)]
mod tests;
