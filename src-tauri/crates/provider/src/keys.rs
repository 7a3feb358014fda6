//! Where keys are kept and in which order they are looked for: the user's config, the
//! environment, the system's keyring, and a private file where there is no keyring.
//!
//! Nothing is asked of the keyring before a key is needed: it may be slow, locked or
//! absent. A key leaves this module only as an [`ApiKey`].

mod file;
mod keyring;

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Semaphore, oneshot};

use self::file::KeyFile;
pub use self::keyring::{Keyring, KeyringError, OsKeyring};
use crate::{catalog::Provider, secret::ApiKey};

/// Long enough for a keyring that has to start, short enough for a person who waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// Cheap to clone; all clones share what was found.
#[derive(Clone)]
pub struct Keys(Arc<Inner>);

struct Inner {
    env: Environment,
    keyring: Arc<dyn Keyring>,
    file: KeyFile,
    patience: Duration,
    /// One call at a time: a keyring that hangs holds one thread, not many.
    gate: Arc<Semaphore>,
    /// What is stored, once it is known; `None` for a provider without a stored key.
    known: Mutex<HashMap<String, Option<FoundKey>>>,
}

/// Looks an environment variable up.
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
    /// With the variable's name.
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
    /// Its last characters at most.
    pub hint: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("The key could not be written to a file: {0}")]
    File(#[from] std::io::Error),
    #[error("The key could not be taken out of the system's keyring: {0}")]
    Keyring(#[from] KeyringError),
}

impl Keys {
    /// With the process's environment and the system's keyring.
    pub fn new(data_folder: &Path) -> Self {
        let env: Environment = Box::new(|name| std::env::var(name).ok());
        Self::with(data_folder, env, Arc::new(OsKeyring), PATIENCE)
    }

    pub fn with(
        data_folder: &Path,
        env: Environment,
        keyring: Arc<dyn Keyring>,
        patience: Duration,
    ) -> Self {
        Self(Arc::new(Inner {
            env,
            keyring,
            file: KeyFile::new(data_folder),
            patience,
            gate: Arc::new(Semaphore::new(1)),
            known: Mutex::default(),
        }))
    }

    pub async fn find(&self, provider: &Provider) -> Option<FoundKey> {
        match self.find_given(provider) {
            Some(found) => Some(found),
            None => self.find_stored(&provider.id).await.0,
        }
    }

    /// What is stored wins no argument with config and environment, but stays for when
    /// they are gone.
    pub async fn set(&self, provider: &str, key: ApiKey) -> Result<KeySource, KeyError> {
        let stored = {
            let (provider, key) = (provider.to_owned(), key.clone());
            self.ask(move |keyring| keyring.write(&provider, &key))
                .await
        };
        let source = match stored {
            Ok(()) => {
                self.0.file.remove(provider)?;
                KeySource::Keyring
            }
            Err(error) => {
                tracing::info!(%error, "no keyring; the key goes into a file");
                self.0.file.write(provider, &key)?;
                KeySource::File
            }
        };
        let found = FoundKey {
            key,
            source: source.clone(),
        };
        self.remember(provider, Some(found));
        Ok(source)
    }

    /// Takes a stored key out of keyring and file.
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
        let removed = self.ask(move |keyring| keyring.remove(&name)).await;
        self.0.known.lock().remove(provider);
        match removed {
            // Without a keyring there is nothing to take out of one.
            Err(error) if was_in_keyring => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Every provider that has a key, and where it comes from.
    pub async fn list(&self, providers: &[Provider]) -> Vec<KeyEntry> {
        let found = self.find_all(providers).await.into_iter();
        let entry = |(provider, found): (String, FoundKey)| KeyEntry {
            provider,
            hint: found.key.hint(),
            source: found.source,
        };
        found.map(entry).collect()
    }

    /// Every key there is, by its provider.
    pub async fn find_all(&self, providers: &[Provider]) -> Vec<(String, FoundKey)> {
        let mut all = Vec::new();
        let mut keyring_answers = true;
        for provider in providers {
            let found = match self.find_given(provider) {
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

    fn find_given(&self, provider: &Provider) -> Option<FoundKey> {
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

    /// The key, and whether the keyring answered at all. Only an answer is remembered: a
    /// locked keyring may be unlocked a moment later.
    async fn find_stored(&self, provider: &str) -> (Option<FoundKey>, bool) {
        if let Some(known) = self.0.known.lock().get(provider) {
            return (known.clone(), true);
        }
        let name = provider.to_owned();
        let answer = self.ask(move |keyring| keyring.read(&name)).await;
        let absent = matches!(answer, Err(KeyringError::Absent(_)));
        let answered = answer.is_ok();
        let in_keyring = answer.ok().flatten().map(|key| FoundKey {
            key,
            source: KeySource::Keyring,
        });
        let found = in_keyring.or_else(|| self.0.find_in_file(provider));
        if answered || absent {
            self.remember(provider, found.clone());
        }
        (found, answered)
    }

    fn remember(&self, provider: &str, found: Option<FoundKey>) {
        self.0.known.lock().insert(provider.to_owned(), found);
    }

    /// Runs a blocking call to the keyring on a thread of its own, which neither the
    /// runtime nor the end of the program waits for.
    async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Keyring) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let inner = &self.0;
        let (gate, keyring) = (inner.gate.clone(), inner.keyring.clone());
        let asked = async move {
            let permit = gate.acquire_owned().await.map_err(KeyringError::absent)?;
            let (answer, answered) = oneshot::channel();
            let thread = std::thread::Builder::new().name("keyring".to_owned());
            let spawned = thread.spawn(move || {
                let _permit = permit;
                let _ = answer.send(call(keyring.as_ref()));
            });
            spawned.map_err(KeyringError::absent)?;
            answered.await.map_err(KeyringError::absent)?
        };
        match tokio::time::timeout(inner.patience, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(KeyringError::Slow),
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
