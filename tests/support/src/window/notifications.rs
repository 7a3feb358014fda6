//! The notification service of the desktop, and clicks on notifications.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use zbus::blocking::{Connection, connection};
use zbus::object_server::SignalEmitter;
use zbus::zvariant::OwnedValue;

use super::process::{TIMEOUT, next_check};
use super::{Window, WindowError};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// The name of the action for a click on the notification itself.
const CLICK: &str = "default";

/// A notification that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub title: String,
    pub body: String,
    /// The sound that the app asked for.
    pub sound: Option<String>,
}

/// Records notifications until it is dropped.
pub struct Notifications {
    connection: Connection,
    shown: Arc<Mutex<Vec<Shown>>>,
}

impl Window {
    /// Starts the notification service; the desktop has none before.
    pub async fn notifications(&self) -> Result<Notifications, WindowError> {
        let bus = self.desktop.bus().to_owned();
        let begun = tokio::task::spawn_blocking(move || Notifications::begin(&bus)).await;
        begun.unwrap_or_else(|error| Err(native(error)))
    }
}

impl Notifications {
    fn begin(bus: &str) -> Result<Self, WindowError> {
        let shown = Arc::<Mutex<Vec<Shown>>>::default();
        let server = Server {
            shown: shown.clone(),
        };
        let connection = connection::Builder::address(bus)
            .and_then(|builder| builder.name(NAME))
            .and_then(|builder| builder.serve_at(PATH, server))
            .and_then(connection::Builder::build)
            .map_err(native)?;
        Ok(Self { connection, shown })
    }

    /// All notifications so far.
    pub fn shown(&self) -> Vec<Shown> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone()
    }

    /// Waits for this many notifications and returns all of them.
    pub async fn wait_for(&self, count: usize) -> Result<Vec<Shown>, WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let shown = self.shown();
            if shown.len() >= count {
                return Ok(shown);
            }
            next_check(deadline, "a notification").await?;
        }
    }

    /// Clicks on the newest one.
    pub async fn click(&self) -> Result<(), WindowError> {
        let id = u32::try_from(self.shown().len()).unwrap_or_default();
        let connection = self.connection.clone();
        let clicked = tokio::task::spawn_blocking(move || {
            let body = (id, CLICK);
            connection.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &body)
        });
        clicked.await.map_err(native)?.map_err(native)
    }
}

struct Server {
    shown: Arc<Mutex<Vec<Shown>>>,
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[allow(clippy::too_many_arguments, reason = "the protocol has so many")]
    fn notify(
        &self,
        _program: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        _actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.push(Shown {
            title: summary,
            body,
            sound: hints
                .get("sound-name")
                .and_then(|name| name.downcast_ref::<String>().ok()),
        });
        u32::try_from(shown.len()).unwrap_or_default()
    }

    fn close_notification(&self, _id: u32) {}

    fn get_capabilities(&self) -> Vec<String> {
        vec!["actions".into(), "body".into()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        let words = ["desktop", "tests", "1", "1.2"];
        words.map(str::to_owned).into()
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, key: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(
        emitter: &SignalEmitter<'_>,
        id: u32,
        reason: u32,
    ) -> zbus::Result<()>;
}

fn native(error: impl std::fmt::Display) -> WindowError {
    WindowError::Native(format!("notifications: {error}"))
}
