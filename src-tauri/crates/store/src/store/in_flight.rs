//! The operations that run on other threads.
//!
//! A caller that is dropped leaves its operation running. A writer that follows such a caller
//! waits here first, or the older write could land last.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(super) struct InFlight(Arc<State>);

#[derive(Default)]
struct State {
    running: Mutex<Running>,
    one_ended: Notify,
}

#[derive(Default)]
struct Running {
    next: u64,
    tickets: BTreeSet<u64>,
}

/// Held by a running operation.
pub(super) struct Ticket {
    number: u64,
    state: Arc<State>,
}

impl InFlight {
    pub(super) fn begin(&self) -> Ticket {
        let mut running = self.0.running.lock();
        let number = running.next;
        running.next += 1;
        running.tickets.insert(number);
        let state = self.0.clone();
        Ticket { number, state }
    }

    /// Waits for every operation that had begun when this was called.
    pub(super) async fn settled(&self) {
        let until = self.0.running.lock().next;
        loop {
            let ended = self.0.one_ended.notified();
            let oldest = self.0.running.lock().tickets.first().copied();
            if oldest.is_none_or(|oldest| oldest >= until) {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.state.running.lock().tickets.remove(&self.number);
        self.state.one_ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_ready(future: Pin<&mut impl Future<Output = ()>>) -> bool {
        future
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }

    #[tokio::test]
    async fn it_waits_for_what_had_begun_and_not_for_what_came_later() {
        let all = InFlight::default();
        all.settled().await;
        let (first, second) = (all.begin(), all.begin());
        let mut settled = std::pin::pin!(all.settled());
        assert!(!is_ready(settled.as_mut()));
        let _later = all.begin();
        drop(second);
        assert!(!is_ready(settled.as_mut()));
        drop(first);
        settled.await;
    }
}
