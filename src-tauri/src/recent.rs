//! What was open when the window was used last, in a file of tauri-plugin-store.
//!
//! That file is not written safely, and may be lost: the window then opens the newest project. What
//! must not be lost is in [`crate::settings`].

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::Recent;
use tauri::{AppHandle, Wry};
use tauri_plugin_store::{Store, StoreExt};

const FILE: &str = "recent.json";
const RECENT: &str = "recent";

pub struct RecentFile(Arc<Store<Wry>>);

impl RecentFile {
    pub fn open(app: &AppHandle, data_dir: &Path) -> Result<Self, tauri_plugin_store::Error> {
        app.store(data_dir.join(FILE)).map(RecentFile)
    }

    /// Nothing if it was never stored, or cannot be read.
    pub fn get(&self) -> Recent {
        let stored = self.0.get(RECENT);
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        stored.unwrap_or_default()
    }

    /// A failure is only logged: where the next start begins is not worth an error.
    pub fn set(&self, recent: &Recent) {
        match serde_json::to_value(recent) {
            Ok(value) => self.0.set(RECENT, value),
            Err(error) => tracing::warn!(%error, "what is open was not stored"),
        }
        if let Err(error) = self.0.save() {
            tracing::warn!(%error, "what is open was not stored");
        }
    }
}
