use std::{fs, sync::mpsc};

use super::*;
use crate::catalog::Catalog;

/// A keyring in memory that can be made to fail or hang.
#[derive(Default)]
struct FakeKeyring {
    keys: Mutex<HashMap<String, ApiKey>>,
    absent: bool,
    /// Calls wait until the other end is gone.
    locked: Option<Mutex<mpsc::Receiver<()>>>,
    reads: Mutex<usize>,
}

impl FakeKeyring {
    fn usable(&self) -> Result<(), KeyringError> {
        if let Some(locked) = &self.locked {
            let _ = locked.lock().recv();
        }
        match self.absent {
            true => Err(KeyringError::absent("none here")),
            false => Ok(()),
        }
    }
}

impl Keyring for FakeKeyring {
    fn read(&self, provider: &str) -> Result<Option<ApiKey>, KeyringError> {
        self.usable()?;
        *self.reads.lock() += 1;
        Ok(self.keys.lock().get(provider).cloned())
    }

    fn write(&self, provider: &str, key: &ApiKey) -> Result<(), KeyringError> {
        self.usable()?;
        self.keys.lock().insert(provider.to_owned(), key.clone());
        Ok(())
    }

    fn remove(&self, provider: &str) -> Result<(), KeyringError> {
        self.usable()?;
        self.keys.lock().remove(provider);
        Ok(())
    }
}

struct House {
    folder: tempfile::TempDir,
    keyring: Arc<FakeKeyring>,
    keys: Keys,
}

fn house(keyring: FakeKeyring, patience: Duration) -> House {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Arc::new(keyring);
    let env: Environment = Box::new(|name| (name == "XAI_API_KEY").then(|| "env-key".to_owned()));
    let data = folder.path().join("data");
    let keys = Keys::with(&data, env, keyring.clone(), patience);
    House {
        folder,
        keyring,
        keys,
    }
}

fn plenty() -> Duration {
    Duration::from_secs(60)
}

fn absent() -> FakeKeyring {
    FakeKeyring {
        absent: true,
        ..FakeKeyring::default()
    }
}

fn provider(id: &str) -> Provider {
    Catalog::built_in().provider(id).unwrap().clone()
}

fn key(text: &str) -> ApiKey {
    ApiKey::new(text).unwrap()
}

fn found(text: &str, source: KeySource) -> Option<FoundKey> {
    let key = key(text);
    Some(FoundKey { key, source })
}

#[tokio::test]
async fn config_wins_over_environment_and_environment_over_what_is_stored() {
    let house = house(FakeKeyring::default(), plenty());
    let mut xai = provider("xai");
    house.keys.set("xai", key("stored-key")).await.unwrap();
    let variable = KeySource::Environment("XAI_API_KEY".to_owned());
    assert_eq!(house.keys.find(&xai).await, found("env-key", variable));
    xai.access.key = ApiKey::new("config-key");
    assert_eq!(
        house.keys.find(&xai).await,
        found("config-key", KeySource::Config)
    );
    xai.access.key = None;
    xai.key_env.clear();
    assert_eq!(
        house.keys.find(&xai).await,
        found("stored-key", KeySource::Keyring)
    );
}

#[tokio::test]
async fn a_key_is_asked_of_the_keyring_once_and_only_when_needed() {
    let house = house(FakeKeyring::default(), plenty());
    let openai = provider("openai");
    assert_eq!(*house.keyring.reads.lock(), 0);
    for _ in 0..3 {
        assert_eq!(house.keys.find(&openai).await, None);
    }
    assert_eq!(*house.keyring.reads.lock(), 1);
}

#[tokio::test]
async fn without_a_keyring_a_key_goes_into_a_private_file() {
    let house = house(absent(), plenty());
    let source = house.keys.set("openai", key("sk-canary-0123456789")).await;
    assert_eq!(source.unwrap(), KeySource::File);
    let openai = provider("openai");
    let expected = found("sk-canary-0123456789", KeySource::File);
    assert_eq!(house.keys.find(&openai).await, expected);

    let file = house.folder.path().join("data/keys.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
    house.keys.remove("openai").await.unwrap();
    assert_eq!(house.keys.find(&openai).await, None);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_key_that_moves_into_the_keyring_leaves_the_file() {
    let house = house(FakeKeyring::default(), plenty());
    let data = house.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("keys.json"), r#"{"openai":"old","groq":"other"}"#).unwrap();
    assert_eq!(
        house.keys.find(&provider("openai")).await,
        found("old", KeySource::File)
    );
    let source = house.keys.set("openai", key("new")).await.unwrap();
    assert_eq!(source, KeySource::Keyring);
    let left = fs::read_to_string(data.join("keys.json")).unwrap();
    assert_eq!(left, "{\n  \"groq\": \"other\"\n}");
}

#[tokio::test]
async fn a_damaged_file_is_kept_aside() {
    let house = house(absent(), plenty());
    let data = house.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("keys.json"), "{ broken").unwrap();
    assert_eq!(house.keys.find(&provider("openai")).await, None);
    house.keys.set("openai", key("new")).await.unwrap();
    let kept = fs::read_to_string(data.join("keys.damaged.json")).unwrap();
    assert_eq!(kept, "{ broken");
}

#[tokio::test]
async fn a_keyring_that_hangs_delays_nobody_and_is_asked_again_later() {
    let (lock, locked) = mpsc::channel();
    let keyring = FakeKeyring {
        locked: Some(Mutex::new(locked)),
        ..FakeKeyring::default()
    };
    keyring
        .keys
        .lock()
        .insert("openai".to_owned(), key("in-the-ring"));
    let house = house(keyring, Duration::from_millis(20));
    let openai = provider("openai");
    assert_eq!(house.keys.find(&openai).await, None);
    // One thread hangs; the next call waits for its turn and gives up as well.
    assert_eq!(house.keys.find(&openai).await, None);
    drop(lock);
    let patient = Keys::with(
        house.folder.path(),
        Box::new(|_| None),
        house.keyring.clone(),
        plenty(),
    );
    assert_eq!(
        patient.find(&openai).await,
        found("in-the-ring", KeySource::Keyring)
    );
}

#[tokio::test]
async fn a_list_shows_only_the_ends_of_keys() {
    let house = house(absent(), plenty());
    house
        .keys
        .set("openai", key("sk-canary-0123456789"))
        .await
        .unwrap();
    let entries = house.keys.list(Catalog::built_in().providers()).await;
    let shown: Vec<(&str, &KeySource)> = entries
        .iter()
        .map(|entry| (entry.provider.as_str(), &entry.source))
        .collect();
    let variable = KeySource::Environment("XAI_API_KEY".to_owned());
    assert_eq!(shown, [("openai", &KeySource::File), ("xai", &variable)]);
    assert!(entries[0].hint.ends_with("6789"));
    let printed = format!("{entries:?} {}", serde_json::to_string(&entries).unwrap());
    assert!(!printed.contains("canary"), "{printed}");
}
