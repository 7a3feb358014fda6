//! Model providers that the person configures in the window.

use lathe_records::Result;
use lathe_workspace::added_providers::AddedProvider;
use lathe_workspace::models::ApiKey;

use super::Sessions;

impl Sessions {
    pub async fn added_providers(&self) -> Result<Vec<AddedProvider>> {
        self.core.workspace.added_providers().await
    }

    pub async fn save_provider(&self, provider: AddedProvider) -> Result<String> {
        self.core.workspace.save_provider(provider).await
    }

    pub async fn remove_provider(&self, id: &str) -> Result<()> {
        self.core.workspace.remove_provider(id).await
    }

    pub async fn try_provider(
        &self,
        provider: &AddedProvider,
        key: Option<ApiKey>,
    ) -> Result<Vec<String>> {
        self.core.workspace.try_provider(provider, key).await
    }
}
