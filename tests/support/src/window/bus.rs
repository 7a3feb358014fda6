//! What the session bus knows of the app.

use std::time::Instant;

use zbus::blocking::{connection, fdo::DBusProxy};

use super::WindowError;
use super::process::{PATIENCE, glance};
use super::stage::Stage;

/// The end of the name under which a second start finds the first.
const FIRST: &str = ".SingleInstance";

impl Stage {
    /// Waits until the bus has noticed that the app is gone: one that starts before would take
    /// itself for the second.
    pub async fn until_released(&self) -> Result<(), WindowError> {
        let deadline = Instant::now() + PATIENCE;
        while self.is_held().await? {
            glance(deadline, "the bus to let go of the app's name").await?;
        }
        Ok(())
    }

    async fn is_held(&self) -> Result<bool, WindowError> {
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
