//! Model providers that the person sets up in the window, in the file of the added tool servers.
//!
//! A key is not part of it: it goes to the keyring like every other.

use lathe_records::{Failed, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Workspace;
use crate::added_servers::{WRITE_LOCK, read, unreadable, write};
use crate::models::ApiKey;

const MAX_MODELS: usize = 500;

/// The API that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderApi {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

impl ProviderApi {
    const ALL: [Self; 4] = [
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
    ];

    /// The package that stands for it in a config.
    fn package(self) -> &'static str {
        match self {
            Self::OpenaiChat => "@ai-sdk/openai-compatible",
            Self::OpenaiResponses => "@ai-sdk/openai",
            Self::Anthropic => "@ai-sdk/anthropic",
            Self::Gemini => "@ai-sdk/google",
        }
    }
}

/// A provider as the form of the window has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedProvider {
    pub name: String,
    pub base_url: String,
    pub api: ProviderApi,
    /// The ids of the models to offer.
    pub models: Vec<String>,
}

impl AddedProvider {
    /// The id under which it is known: its name in small letters.
    pub fn id(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let id: String = self.name.to_ascii_lowercase().chars().map(plain).collect();
        let words: Vec<_> = id.split('-').filter(|word| !word.is_empty()).collect();
        words.join("-")
    }

    fn check(&self) -> Result<()> {
        if self.id().is_empty() {
            return Err(Failed::refused("Enter a name with letters or digits"));
        }
        let url = url::Url::parse(&self.base_url).ok();
        let on_the_web = url.is_some_and(|url| matches!(url.scheme(), "http" | "https"));
        if !on_the_web {
            return Err(Failed::refused("The base URL must be http or https"));
        }
        if self.models.len() > MAX_MODELS {
            let message = format!("Choose at most {MAX_MODELS} models");
            return Err(Failed::refused(message));
        }
        Ok(())
    }

    /// In the format of `opencode.json`.
    fn entry(&self) -> Value {
        let named = |id: &String| (id.clone(), json!({ "name": id }));
        let models: Map<_, _> = self.models.iter().map(named).collect();
        json!({
            "npm": self.api.package(),
            "name": self.name,
            "options": { "baseURL": self.base_url },
            "models": models,
        })
    }

    /// The inverse of [`AddedProvider::entry`]; `None` for an entry that the form does not have.
    fn from_entry(entry: &Value) -> Option<Self> {
        let package = entry["npm"].as_str()?;
        Some(AddedProvider {
            name: entry["name"].as_str()?.to_owned(),
            base_url: entry["options"]["baseURL"].as_str()?.to_owned(),
            api: ProviderApi::ALL
                .into_iter()
                .find(|api| api.package() == package)?,
            models: entry["models"].as_object()?.keys().cloned().collect(),
        })
    }
}

impl Workspace {
    /// The providers that were set up in the window.
    pub async fn added_providers(&self) -> Result<Vec<AddedProvider>> {
        self.change_providers(|providers| {
            Ok(providers
                .values()
                .filter_map(AddedProvider::from_entry)
                .collect())
        })
        .await
    }

    /// Stores a provider; one with the same id is replaced. Returns its id.
    pub async fn save_provider(&self, provider: AddedProvider) -> Result<String> {
        provider.check()?;
        let id = provider.id();
        self.ensure_own(&id).await?;
        let stored = id.clone();
        self.change_providers(move |providers| {
            providers.insert(stored, provider.entry());
            Ok(())
        })
        .await?;
        Ok(id)
    }

    pub async fn remove_provider(&self, id: &str) -> Result<()> {
        let id = id.to_owned();
        self.change_providers(move |providers| match providers.remove(&id) {
            Some(_) => Ok(()),
            None => Err(Failed::missing("provider", &id)),
        })
        .await
    }

    /// Connects to a provider that is not stored yet, and lists its models.
    pub async fn try_provider(
        &self,
        provider: &AddedProvider,
        key: Option<ApiKey>,
    ) -> Result<Vec<String>> {
        provider.check()?;
        let mut entry = provider.entry();
        let id = provider.id();
        // The key of another provider must not reach this address.
        self.ensure_own(&id).await?;
        // If none was typed, the stored key of the same provider is used.
        if let Some(key) = key {
            entry["options"]["apiKey"] = key.expose().into();
        }
        let config = json!({ "provider": { id.as_str(): entry } });
        let tried = self.models().with_config(config).test(&id).await;
        let connection = tried.map_err(|error| Failed::refused(error.to_string()))?;
        Ok(connection
            .models
            .into_iter()
            .map(|model| model.id)
            .collect())
    }

    /// A name that the catalog or a config of the person has already is taken.
    async fn ensure_own(&self, id: &str) -> Result<()> {
        let wanted = id.to_owned();
        let is_added = self.change_providers(move |added| Ok(added.contains_key(&wanted)));
        if !is_added.await? && self.models().catalog().provider(id).is_some() {
            let message = format!("There is already a provider called {id}");
            return Err(Failed::refused(message));
        }
        Ok(())
    }

    /// Runs `edit` on the providers of the file, and writes what it changed.
    async fn change_providers<T: Send + 'static>(
        &self,
        edit: impl FnOnce(&mut Map<String, Value>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let setups = self.setups().clone();
        let done = tokio::task::spawn_blocking(move || {
            let _guard = WRITE_LOCK.lock();
            let path = setups.added_file();
            let path = path.ok_or_else(|| Failed::refused("There is no folder for settings"))?;
            let mut file = read(&path)?;
            let before = file.clone();
            let providers = file.entry("provider").or_insert_with(|| json!({}));
            let Value::Object(providers) = providers else {
                return Err(unreadable(&path, "`provider` is not a table"));
            };
            let done = edit(providers)?;
            if providers.is_empty() {
                file.remove("provider");
            }
            if file != before {
                write(&path, &Value::Object(file))?;
            }
            Ok(done)
        });
        done.await
            .unwrap_or_else(|_| Err(Failed::refused("Changing the providers broke off")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(name: &str, base_url: &str) -> AddedProvider {
        AddedProvider {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            api: ProviderApi::OpenaiChat,
            models: vec!["small".to_owned(), "large".to_owned()],
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let written = provider("My Lab", "https://models.example/v1");
        assert_eq!(AddedProvider::from_entry(&written.entry()), Some(written));
    }

    #[test]
    fn the_id_is_the_name_in_small_letters() {
        assert_eq!(provider(" My Lab (EU) ", "").id(), "my-lab-eu");
    }

    #[test]
    fn a_name_without_letters_and_an_address_of_another_scheme_are_refused() {
        assert!(provider("—", "https://models.example").check().is_err());
        assert!(provider("Lab", "file:///etc/passwd").check().is_err());
        assert!(provider("Lab", "https://models.example").check().is_ok());
    }
}
