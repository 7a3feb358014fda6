//! Stores keys in a file that only its owner may read, for machines without a keyring.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use lathe_files::{create_private_folder, write_private_file};
use parking_lot::Mutex;

use crate::secret::ApiKey;

pub(super) struct KeyFile {
    path: PathBuf,
    /// Held while the file is read, changed and written.
    changing: Mutex<()>,
}

impl KeyFile {
    pub(super) fn new(data_folder: &Path) -> Self {
        Self {
            path: data_folder.join("keys.json"),
            changing: Mutex::default(),
        }
    }

    /// An unreadable file counts as empty and is not changed.
    pub(super) fn read(&self, provider: &str) -> Option<ApiKey> {
        match self.load() {
            Ok(keys) => keys.get(provider).and_then(ApiKey::new),
            Err(error) => {
                tracing::warn!(kind = %error.kind(), "the key file cannot be read");
                None
            }
        }
    }

    pub(super) fn write(&self, provider: &str, key: &ApiKey) -> io::Result<()> {
        let _guard = self.changing.lock();
        let mut keys = match self.load() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.rename_damaged_file()?;
                BTreeMap::new()
            }
            loaded => loaded?,
        };
        keys.insert(provider.to_owned(), key.expose().to_owned());
        self.store(&keys)
    }

    pub(super) fn remove(&self, provider: &str) -> io::Result<()> {
        let _guard = self.changing.lock();
        let mut keys = match self.load() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(()),
            loaded => loaded?,
        };
        if keys.remove(provider).is_none() {
            return Ok(());
        }
        if keys.is_empty() {
            return fs::remove_file(&self.path);
        }
        self.store(&keys)
    }

    fn load(&self) -> io::Result<BTreeMap<String, String>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            read => read?,
        };
        // Without the parser's message, which may quote a key.
        serde_json::from_slice(&bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not a key file"))
    }

    fn store(&self, keys: &BTreeMap<String, String>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_private(folder)?;
        write_private_file(&self.path, &serde_json::to_vec_pretty(keys)?)
    }

    fn rename_damaged_file(&self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_file_name("keys.damaged.json"))
    }
}

/// Also an existing folder, which may have been created by another program.
fn make_private(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if folder.is_dir() {
        use std::os::unix::fs::PermissionsExt;
        return fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    create_private_folder(folder)
}
