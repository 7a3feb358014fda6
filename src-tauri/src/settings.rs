//! The person's settings and the session they had open, in one file of tauri-plugin-store.

use std::path::Path;
use std::sync::Arc;

use lathe_protocol::ipc::{Recent, Settings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tauri::{AppHandle, Wry};
use tauri_plugin_store::{Store, StoreExt};

const SETTINGS: &str = "settings";
const RECENT: &str = "recent";

pub struct SettingsFile {
    store: Arc<Store<Wry>>,
}

impl SettingsFile {
    pub fn open(app: &AppHandle, data_dir: &Path) -> Result<Self, tauri_plugin_store::Error> {
        Ok(SettingsFile {
            store: app.store(data_dir.join("settings.json"))?,
        })
    }

    pub fn settings(&self) -> Settings {
        self.get(SETTINGS)
    }

    pub fn recent(&self) -> Recent {
        self.get(RECENT)
    }

    pub fn set_settings(&self, settings: &Settings) {
        self.set(SETTINGS, settings);
    }

    pub fn set_recent(&self, recent: &Recent) {
        self.set(RECENT, recent);
    }

    /// A failure is only logged: the program works without stored settings.
    pub fn save(&self) {
        if let Err(error) = self.store.save() {
            tracing::warn!(%error, "the settings could not be saved");
        }
    }

    /// A value that cannot be read, such as one of an older version, becomes the default.
    fn get<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let stored = self.store.get(key);
        stored
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default()
    }

    fn set(&self, key: &str, value: &impl Serialize) {
        match serde_json::to_value(value) {
            Ok(value) => self.store.set(key, value),
            Err(error) => tracing::warn!(%error, "a setting could not be written"),
        }
        self.save();
    }
}
