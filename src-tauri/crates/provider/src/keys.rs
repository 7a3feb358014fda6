//! Stores and finds API keys. In order of precedence they come from the user's config, the
//! environment, the system's keyring, or a private file if there is no keyring.
//!
//! The keyring is not used before a key is needed, because it may be slow, locked or absent.
//! A key leaves this module only as an [`ApiKey`].

mod file;
mod keyring;

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Semaphore, oneshot};

use self::file::KeyFile;
pub use self::keyring::{Keyring, KeyringError, OsKeyring};
use crate::{catalog::Provider, secret::ApiKey};

/// Long enough for a keyring that has to start, short enough for a user who waits.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Cheap to clone; all clones share one cache.
#[derive(Clone)]
pub struct Keys(Arc<Inner>);

struct Inner {
    env: Environment,
    keyring: Arc<dyn Keyring>,
    file: KeyFile,
    timeout: Duration,
    /// Allows one call at a time, so that a keyring that hangs blocks only one thread.
    permits: Arc<Semaphore>,
    /// The stored keys read so far; `None` for a provider without a stored key.
    cache: Mutex<HashMap<String, Option<FoundKey>>>,
}

/// Reads an environment variable.
pub type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKey {
    pub key: ApiKey,
    pub source: KeySource,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum KeySource {
    Config,
    /// The name of the variable.
    Environment(String),
    Keyring,
    File,
}

/// A key as a settings page may show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyEntry {
    pub provider: String,
    pub source: KeySource,
    /// At most its last four characters.
    pub hint: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("The key couldn’t be written to a file: {0}")]
    File(#[from] std::io::Error),
    #[error("The key couldn’t be taken out of the system's keyring: {0}")]
    Keyring(#[from] KeyringError),
}

impl Keys {
    /// Uses the process's environment and the system's keyring.
    pub fn new(data_folder: &Path) -> Self {
        let env: Environment = Box::new(|name| std::env::var(name).ok());
        Self::with(data_folder, env, Arc::new(OsKeyring), TIMEOUT)
    }

    pub fn with(
        data_folder: &Path,
        env: Environment,
        keyring: Arc<dyn Keyring>,
        timeout: Duration,
    ) -> Self {
        Self(Arc::new(Inner {
            env,
            keyring,
            file: KeyFile::new(data_folder),
            timeout,
            permits: Arc::new(Semaphore::new(1)),
            cache: Mutex::default(),
        }))
    }

    pub async fn find(&self, provider: &Provider) -> Option<FoundKey> {
        match self.find_in_config_or_env(provider) {
            Some(found) => Some(found),
            None => self.find_stored(&provider.id).await.0,
        }
    }

    /// Stores a key. A key in config or environment still takes precedence over it.
    pub async fn set(&self, provider: &str, key: ApiKey) -> Result<KeySource, KeyError> {
        let stored = {
            let (provider, key) = (provider.to_owned(), key.clone());
            self.call_keyring(move |keyring| keyring.write(&provider, &key))
                .await
        };
        let source = match stored {
            Ok(()) => {
                self.0.file.remove(provider)?;
                KeySource::Keyring
            }
            Err(error) => {
                tracing::info!(%error, "no keyring; the key is stored in a file");
                self.0.file.write(provider, &key)?;
                KeySource::File
            }
        };
        let found = FoundKey {
            key,
            source: source.clone(),
        };
        self.put_in_cache(provider, Some(found));
        Ok(source)
    }

    /// Removes a stored key from keyring and file.
    pub async fn remove(&self, provider: &str) -> Result<(), KeyError> {
        let was_in_keyring = matches!(
            self.find_stored(provider).await.0,
            Some(FoundKey {
                source: KeySource::Keyring,
                ..
            })
        );
        self.0.file.remove(provider)?;
        let name = provider.to_owned();
        let removed = self
            .call_keyring(move |keyring| keyring.remove(&name))
            .await;
        self.0.cache.lock().remove(provider);
        match removed {
            // If the key was not in the keyring, its failure does not matter.
            Err(error) if was_in_keyring => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Every provider that has a key, and the source of the key.
    pub async fn list(&self, providers: &[Provider]) -> Vec<KeyEntry> {
        let found = self.find_all(providers).await.into_iter();
        let entry = |(provider, found): (String, FoundKey)| KeyEntry {
            provider,
            hint: found.key.hint(),
            source: found.source,
        };
        found.map(entry).collect()
    }

    /// The keys of all providers that have one, with the provider's id.
    pub async fn find_all(&self, providers: &[Provider]) -> Vec<(String, FoundKey)> {
        let mut all = Vec::new();
        // A keyring that fails once is not asked for the other providers.
        let mut keyring_answers = true;
        for provider in providers {
            let found = match self.find_in_config_or_env(provider) {
                Some(found) => Some(found),
                None if keyring_answers => {
                    let (found, answered) = self.find_stored(&provider.id).await;
                    keyring_answers = answered;
                    found
                }
                None => self.0.find_in_file(&provider.id),
            };
            all.extend(found.map(|found| (provider.id.clone(), found)));
        }
        all
    }

    fn find_in_config_or_env(&self, provider: &Provider) -> Option<FoundKey> {
        if let Some(key) = &provider.access.key {
            return Some(FoundKey {
                key: key.clone(),
                source: KeySource::Config,
            });
        }
        provider.key_env.iter().find_map(|name| {
            Some(FoundKey {
                key: ApiKey::new((self.0.env)(name)?)?,
                source: KeySource::Environment(name.clone()),
            })
        })
    }

    /// The key, and whether the keyring answered at all. Without an answer nothing is cached: a
    /// locked keyring may be unlocked a moment later.
    async fn find_stored(&self, provider: &str) -> (Option<FoundKey>, bool) {
        if let Some(cached) = self.0.cache.lock().get(provider) {
            return (cached.clone(), true);
        }
        let name = provider.to_owned();
        let answer = self.call_keyring(move |keyring| keyring.read(&name)).await;
        let absent = matches!(answer, Err(KeyringError::Absent(_)));
        let answered = answer.is_ok();
        let in_keyring = answer.ok().flatten().map(|key| FoundKey {
            key,
            source: KeySource::Keyring,
        });
        let found = in_keyring.or_else(|| self.0.find_in_file(provider));
        if answered || absent {
            self.put_in_cache(provider, found.clone());
        }
        (found, answered)
    }

    fn put_in_cache(&self, provider: &str, found: Option<FoundKey>) {
        self.0.cache.lock().insert(provider.to_owned(), found);
    }

    /// Runs a blocking call to the keyring on a separate thread, for which neither the runtime
    /// nor the end of the process waits.
    async fn call_keyring<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Keyring) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let inner = &self.0;
        let (permits, keyring) = (inner.permits.clone(), inner.keyring.clone());
        let result = async move {
            let permit = permits
                .acquire_owned()
                .await
                .map_err(KeyringError::absent)?;
            let (sender, receiver) = oneshot::channel();
            let thread = std::thread::Builder::new().name("keyring".to_owned());
            let spawned = thread.spawn(move || {
                let _permit = permit;
                let _ = sender.send(call(keyring.as_ref()));
            });
            spawned.map_err(KeyringError::absent)?;
            receiver.await.map_err(KeyringError::absent)?
        };
        match tokio::time::timeout(inner.timeout, result).await {
            Ok(result) => result,
            Err(_) => Err(KeyringError::TimedOut),
        }
    }
}

impl Inner {
    fn find_in_file(&self, provider: &str) -> Option<FoundKey> {
        Some(FoundKey {
            key: self.file.read(provider)?,
            source: KeySource::File,
        })
    }
}

#[cfg(test)]
mod tests;
