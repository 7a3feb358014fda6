//! The app's name on the session bus.

use std::time::Instant;

use zbus::blocking::{connection, fdo::DBusProxy};

use super::WindowError;
use super::desktop::Desktop;
use super::process::{TIMEOUT, next_check};

/// The end of the bus name under which a second start finds the first one.
const FIRST: &str = ".SingleInstance";

impl Desktop {
    /// Waits until the bus has released the app's name: an app that starts before that would
    /// believe that another one is running.
    pub async fn wait_for_released_name(&self) -> Result<(), WindowError> {
        let deadline = Instant::now() + TIMEOUT;
        while self.is_name_owned().await? {
            next_check(deadline, "the bus to let go of the app's name").await?;
        }
        Ok(())
    }

    async fn is_name_owned(&self) -> Result<bool, WindowError> {
        let address = self.bus().to_owned();
        let asked = tokio::task::spawn_blocking(move || -> zbus::Result<bool> {
            let connection = connection::Builder::address(address.as_str())?.build()?;
            let names = DBusProxy::new(&connection)?.list_names()?;
            Ok(names.iter().any(|name| name.ends_with(FIRST)))
        });
        asked.await.map_err(native)?.map_err(native)
    }
}

fn native(error: impl std::fmt::Display) -> WindowError {
    WindowError::Native(format!("the bus: {error}"))
}
