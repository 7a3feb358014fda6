use std::{fs, sync::mpsc};

use super::*;
use crate::catalog::Catalog;

/// A keyring in memory that can be made to fail or hang.
#[derive(Default)]
struct FakeKeyring {
    keys: Mutex<HashMap<String, ApiKey>>,
    absent: bool,
    /// Calls block until the sender is dropped.
    locked: Option<Mutex<mpsc::Receiver<()>>>,
    reads: Mutex<usize>,
}

impl FakeKeyring {
    fn check(&self) -> Result<(), KeyringError> {
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
        self.check()?;
        *self.reads.lock() += 1;
        Ok(self.keys.lock().get(provider).cloned())
    }

    fn write(&self, provider: &str, key: &ApiKey) -> Result<(), KeyringError> {
        self.check()?;
        self.keys.lock().insert(provider.to_owned(), key.clone());
        Ok(())
    }

    fn remove(&self, provider: &str) -> Result<(), KeyringError> {
        self.check()?;
        self.keys.lock().remove(provider);
        Ok(())
    }
}

struct Fixture {
    folder: tempfile::TempDir,
    keyring: Arc<FakeKeyring>,
    keys: Keys,
}

fn fixture(keyring: FakeKeyring, timeout: Duration) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Arc::new(keyring);
    let env: Environment = Box::new(|name| (name == "XAI_API_KEY").then(|| "env-key".to_owned()));
    let data = folder.path().join("data");
    let keys = Keys::with(&data, env, keyring.clone(), timeout);
    Fixture {
        folder,
        keyring,
        keys,
    }
}

const LONG: Duration = Duration::from_secs(60);

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
async fn config_overrides_environment_and_environment_overrides_stored_keys() {
    let fixture = fixture(FakeKeyring::default(), LONG);
    let mut xai = provider("xai");
    fixture.keys.set("xai", key("stored-key")).await.unwrap();
    let variable = KeySource::Environment("XAI_API_KEY".to_owned());
    assert_eq!(fixture.keys.find(&xai).await, found("env-key", variable));
    xai.access.key = ApiKey::new("config-key");
    assert_eq!(
        fixture.keys.find(&xai).await,
        found("config-key", KeySource::Config)
    );
    xai.access.key = None;
    xai.key_env.clear();
    assert_eq!(
        fixture.keys.find(&xai).await,
        found("stored-key", KeySource::Keyring)
    );
}

#[tokio::test]
async fn the_keyring_is_read_once_and_only_when_a_key_is_needed() {
    let fixture = fixture(FakeKeyring::default(), LONG);
    let openai = provider("openai");
    assert_eq!(*fixture.keyring.reads.lock(), 0);
    for _ in 0..3 {
        assert_eq!(fixture.keys.find(&openai).await, None);
    }
    assert_eq!(*fixture.keyring.reads.lock(), 1);
}

#[tokio::test]
async fn without_a_keyring_a_key_is_stored_in_a_private_file() {
    let fixture = fixture(absent(), LONG);
    let source = fixture
        .keys
        .set("openai", key("sk-canary-0123456789"))
        .await;
    assert_eq!(source.unwrap(), KeySource::File);
    let openai = provider("openai");
    let expected = found("sk-canary-0123456789", KeySource::File);
    assert_eq!(fixture.keys.find(&openai).await, expected);

    let file = fixture.folder.path().join("data/keys.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
    fixture.keys.remove("openai").await.unwrap();
    assert_eq!(fixture.keys.find(&openai).await, None);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_key_stored_in_the_keyring_is_removed_from_the_file() {
    let fixture = fixture(FakeKeyring::default(), LONG);
    let data = fixture.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("keys.json"), r#"{"openai":"old","groq":"other"}"#).unwrap();
    assert_eq!(
        fixture.keys.find(&provider("openai")).await,
        found("old", KeySource::File)
    );
    let source = fixture.keys.set("openai", key("new")).await.unwrap();
    assert_eq!(source, KeySource::Keyring);
    let remaining = fs::read_to_string(data.join("keys.json")).unwrap();
    assert_eq!(remaining, "{\n  \"groq\": \"other\"\n}");
}

#[tokio::test]
async fn a_damaged_file_is_renamed_before_writing() {
    let fixture = fixture(absent(), LONG);
    let data = fixture.folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("keys.json"), "{ broken").unwrap();
    assert_eq!(fixture.keys.find(&provider("openai")).await, None);
    fixture.keys.set("openai", key("new")).await.unwrap();
    let renamed = fs::read_to_string(data.join("keys.damaged.json")).unwrap();
    assert_eq!(renamed, "{ broken");
}

#[tokio::test]
async fn a_keyring_that_hangs_times_out_and_is_read_again_later() {
    let (lock, locked) = mpsc::channel();
    let keyring = FakeKeyring {
        locked: Some(Mutex::new(locked)),
        ..FakeKeyring::default()
    };
    keyring
        .keys
        .lock()
        .insert("openai".to_owned(), key("in-the-ring"));
    let fixture = fixture(keyring, Duration::from_millis(20));
    let openai = provider("openai");
    assert_eq!(fixture.keys.find(&openai).await, None);
    // One thread hangs; the next call waits for the permit and times out as well.
    assert_eq!(fixture.keys.find(&openai).await, None);
    drop(lock);
    let with_long_timeout = Keys::with(
        fixture.folder.path(),
        Box::new(|_| None),
        fixture.keyring.clone(),
        LONG,
    );
    assert_eq!(
        with_long_timeout.find(&openai).await,
        found("in-the-ring", KeySource::Keyring)
    );
}

#[tokio::test]
async fn a_list_shows_only_the_last_characters_of_keys() {
    let fixture = fixture(absent(), LONG);
    fixture
        .keys
        .set("openai", key("sk-canary-0123456789"))
        .await
        .unwrap();
    let entries = fixture.keys.list(Catalog::built_in().providers()).await;
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
