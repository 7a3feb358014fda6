//! The person's settings, in one file.
//!
//! What cannot be read of it costs no more than itself: the limits of money must not be lost because
//! of a theme of a newer version.

mod lenient;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lathe_protocol::ipc::Settings;
use lathe_session::write_private_file;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use lenient::read_leniently;

const FILE: &str = "settings.json";
/// The file as it was, when not all of it could be read.
const DAMAGED: &str = "settings.json.damaged";
const SETTINGS: &str = "settings";

pub struct SettingsFile {
    path: PathBuf,
    values: Mutex<Map<String, Value>>,
    /// Where the file is that could not be read whole, until the window has said so.
    damaged: Mutex<Option<PathBuf>>,
}

impl SettingsFile {
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE);
        let (values, whole) = match fs::read(&path) {
            Ok(bytes) => values_of(&bytes),
            Err(error) => (Map::new(), error.kind() == io::ErrorKind::NotFound),
        };
        let file = SettingsFile {
            path,
            values: Mutex::new(values),
            damaged: Mutex::default(),
        };
        if !whole {
            *file.damaged.lock() = file.set_damaged_aside(&data_dir.join(DAMAGED));
        }
        file
    }

    pub fn settings(&self) -> Settings {
        let values = self.values.lock();
        let stored = values.get(SETTINGS);
        stored
            .map(|stored| read_leniently(stored).0)
            .unwrap_or_default()
    }

    pub fn set_settings(&self, settings: &Settings) -> io::Result<()> {
        let Value::Object(fields) = serde_json::to_value(settings)? else {
            return Ok(());
        };
        let mut values = self.values.lock();
        match values.get_mut(SETTINGS) {
            // Those of a newer version stay.
            Some(Value::Object(stored)) => stored.extend(fields),
            _ => _ = values.insert(SETTINGS.to_owned(), Value::Object(fields)),
        }
        self.write(&values)
    }

    /// The first time: where the file is of which not everything could be read.
    pub fn take_damaged(&self) -> Option<PathBuf> {
        self.damaged.lock().take()
    }

    fn write(&self, values: &Map<String, Value>) -> io::Result<()> {
        let written = write_private_file(&self.path, &serde_json::to_vec_pretty(values)?);
        written.inspect_err(|error| tracing::warn!(%error, "the settings were not saved"))
    }

    /// Keeps the file as it is under another name, and stores what was understood of it.
    fn set_damaged_aside(&self, kept: &Path) -> Option<PathBuf> {
        // One that cannot be read can still be moved.
        let aside = fs::copy(&self.path, kept).map(|_| ());
        let aside = aside.or_else(|_| fs::rename(&self.path, kept));
        if let Err(error) = aside {
            tracing::warn!(%error, "the damaged settings were not kept");
            return Some(self.path.clone());
        }
        tracing::warn!(kept = %kept.display(), "not all settings were understood");
        // If it fails, the same is done at the next start.
        let _ = self.write(&self.values.lock());
        Some(kept.to_owned())
    }
}

/// What can be read of a file, and whether that is all of it.
fn values_of(bytes: &[u8]) -> (Map<String, Value>, bool) {
    let Ok(mut values) = serde_json::from_slice::<Map<String, Value>>(bytes) else {
        return (Map::new(), false);
    };
    let mut whole = true;
    if let Some(stored) = values.get_mut(SETTINGS) {
        let (_, understood) = read_leniently::<Settings>(stored);
        whole = understood == *stored;
        *stored = understood;
    }
    (values, whole)
}

#[cfg(test)]
mod tests;
