//! Stores keys in a file that only its owner may read, for machines without a keyring.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

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

    /// Replaces the file atomically. Other users cannot read it at any moment.
    fn store(&self, keys: &BTreeMap<String, String>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_private_folder(folder)?;
        let new = folder.join(format!(".keys.{}.new", std::process::id()));
        let written = (|| {
            let _ = fs::remove_file(&new);
            let mut file = create_private_file(&new)?;
            file.write_all(&serde_json::to_vec_pretty(keys)?)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    fn rename_damaged_file(&self) -> io::Result<()> {
        fs::rename(&self.path, self.path.with_file_name("keys.damaged.json"))
    }
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    if folder.is_dir() {
        return fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// On Windows, a folder in the user's profile inherits its private permissions.
#[cfg(not(unix))]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
