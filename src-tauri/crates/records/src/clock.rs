//! Injected time: tests set it and never wait for it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use lathe_protocol::Millis;
use parking_lot::Mutex;
use tokio::sync::Notify;

#[async_trait]
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Millis;
    async fn sleep(&self, time: Duration);
}

#[derive(Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Millis(since.as_millis() as i64)
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// A clock that only moves when it is set or advanced. Sleepers wake when it passes their time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    now: Arc<Mutex<i64>>,
    moved: Arc<Notify>,
}

impl ManualClock {
    pub fn at(now: Millis) -> Self {
        ManualClock {
            now: Arc::new(Mutex::new(now.0)),
            moved: Arc::default(),
        }
    }

    /// Sets the time; it may go backwards.
    pub fn set(&self, now: Millis) {
        *self.now.lock() = now.0;
        self.moved.notify_waiters();
    }

    pub fn advance(&self, time: Duration) {
        *self.now.lock() += time.as_millis() as i64;
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis(*self.now.lock())
    }

    async fn sleep(&self, time: Duration) {
        let until = self.now().0 + time.as_millis() as i64;
        loop {
            let moved = self.moved.notified();
            if self.now().0 >= until {
                return;
            }
            moved.await;
        }
    }
}
