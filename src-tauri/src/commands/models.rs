//! Models, providers and API keys.

use std::sync::Arc;

use lathe_protocol::ipc::{
    ConnectionReport, KeyView, ModelList, ModelView, PriceView, ProviderView, UiError,
};
use lathe_protocol::{Count, ModelRef};
use lathe_session::AddedProvider;
use lathe_session::models::{ApiKey, KeyEntry, KeySource, Model, Models, Provider, WireKind};
use tauri::State;

use super::session::project;
use crate::error::{Answer, OrUi, failed};
use crate::state::Shell;
use crate::texts;

/// The models of a project, which may add its own once it is trusted, or else the person's.
#[tauri::command]
pub async fn list_models(shell: State<'_, Shell>, project_id: Option<String>) -> Answer<ModelList> {
    Ok(list(&*models(&shell, project_id).await?).await)
}

/// Searches for model servers on this machine first.
#[tauri::command]
pub async fn find_local_models(shell: State<'_, Shell>) -> Answer<ModelList> {
    let models = shell.sessions.models();
    models.discover_local_servers().await;
    Ok(list(models).await)
}

#[tauri::command]
pub async fn set_key(
    shell: State<'_, Shell>,
    project_id: Option<String>,
    provider_id: String,
    key: String,
) -> Answer<ModelList> {
    let models = models(&shell, project_id).await?;
    let key = ApiKey::new(key.trim()).ok_or_else(|| failed(texts::KEY_EMPTY))?;
    known(&models, &provider_id)?;
    models.set_key(&provider_id, key).await.map_err(failed)?;
    if let Some(log) = &shell.log {
        log.set_redactor(shell.sessions.text_redactor().await);
    }
    Ok(list(&models).await)
}

#[tauri::command]
pub async fn remove_key(
    shell: State<'_, Shell>,
    project_id: Option<String>,
    provider_id: String,
) -> Answer<ModelList> {
    let models = models(&shell, project_id).await?;
    known(&models, &provider_id)?;
    models.remove_key(&provider_id).await.map_err(failed)?;
    Ok(list(&models).await)
}

/// The providers that were set up in the window.
#[tauri::command]
pub async fn added_providers(shell: State<'_, Shell>) -> Answer<Vec<AddedProvider>> {
    shell.sessions.added_providers().await.or_ui()
}

/// Connects to a provider that is not stored yet. The answer is the ids of its models.
#[tauri::command]
pub async fn try_provider(
    shell: State<'_, Shell>,
    provider: AddedProvider,
    key: String,
) -> Answer<Vec<String>> {
    let key = ApiKey::new(key.trim());
    shell.sessions.try_provider(&provider, key).await.or_ui()
}

/// Stores a provider, and its key unless that is empty.
#[tauri::command]
pub async fn save_provider(
    shell: State<'_, Shell>,
    project_id: Option<String>,
    provider: AddedProvider,
    key: String,
) -> Answer<ModelList> {
    let id = shell.sessions.save_provider(provider).await.or_ui()?;
    let models = models(&shell, project_id).await?;
    if let Some(key) = ApiKey::new(key.trim()) {
        models.set_key(&id, key).await.map_err(failed)?;
        if let Some(log) = &shell.log {
            log.set_redactor(shell.sessions.text_redactor().await);
        }
    }
    Ok(list(&models).await)
}

/// Removes a provider that was set up in the window, with its key.
#[tauri::command]
pub async fn remove_provider(
    shell: State<'_, Shell>,
    project_id: Option<String>,
    provider_id: String,
) -> Answer<ModelList> {
    shell.sessions.remove_provider(&provider_id).await.or_ui()?;
    let models = models(&shell, project_id).await?;
    models.remove_key(&provider_id).await.map_err(failed)?;
    Ok(list(&models).await)
}

#[tauri::command]
pub async fn test_connection(
    shell: State<'_, Shell>,
    project_id: Option<String>,
    provider_id: String,
) -> Answer<ConnectionReport> {
    let models = models(&shell, project_id).await?;
    Ok(match models.test(&provider_id).await {
        Ok(connection) => {
            let message = texts::connected(connection.models.len());
            ConnectionReport { ok: true, message }
        }
        Err(error) => ConnectionReport {
            ok: false,
            message: error.to_string(),
        },
    })
}

async fn models(shell: &Shell, project_id: Option<String>) -> Answer<Arc<Models>> {
    let Some(id) = project_id else {
        return Ok(shell.sessions.models().clone());
    };
    let project = project(shell, &id).await?;
    Ok(shell.sessions.models_of(&project).await)
}

fn known(models: &Models, provider: &str) -> Result<(), UiError> {
    match models.catalog().provider(provider) {
        Some(_) => Ok(()),
        None => Err(failed(texts::unknown_provider(provider))),
    }
}

async fn list(models: &Models) -> ModelList {
    let catalog = models.catalog();
    let keys = models.keys().await;
    let view = |provider| provider_view(provider, &keys);
    let default: ModelRef = models.default().await;
    ModelList {
        providers: catalog.providers().iter().map(view).collect(),
        default,
        problems: models.problems().iter().map(ToString::to_string).collect(),
    }
}

fn provider_view(provider: &Provider, keys: &[KeyEntry]) -> ProviderView {
    let key = keys.iter().find(|entry| entry.provider == provider.id);
    let needs_key = !provider.is_local && provider.wire != WireKind::Demo;
    ProviderView {
        id: provider.id.clone(),
        name: provider.name.clone(),
        local: provider.is_local,
        ready: match needs_key {
            true => key.is_some(),
            false => !provider.models.is_empty(),
        },
        needs_key,
        key: key.map(key_view),
        key_env: provider.key_env.clone(),
        key_page: provider.key_page.clone(),
        models: provider.models.iter().map(model_view).collect(),
    }
}

fn key_view(entry: &KeyEntry) -> KeyView {
    let (source, stored) = match &entry.source {
        KeySource::Config => ("config", false),
        KeySource::Environment(name) => (name.as_str(), false),
        KeySource::Keyring => ("keyring", true),
        KeySource::File => ("file", true),
    };
    KeyView {
        hint: entry.hint.clone(),
        source: source.to_owned(),
        stored,
    }
}

fn model_view(model: &Model) -> ModelView {
    let info = &model.info;
    let tokens = |count: u64| Count(i64::try_from(count).unwrap_or(i64::MAX));
    ModelView {
        id: info.id.clone(),
        name: info.name.clone(),
        context: tokens(info.limits.input.unwrap_or(0).max(info.limits.context)),
        output: tokens(info.limits.output),
        images: info.images,
        pdf: info.pdf,
        tools: info.tools,
        reasoning: info.reasoning,
        variants: info.variants.clone(),
        price: info.prices.as_ref().map(|prices| {
            let dollars = |amount: lathe_session::models::Decimal| amount.try_into().unwrap_or(0.0);
            PriceView {
                input: dollars(prices.base.input),
                output: dollars(prices.base.output),
                long_input: prices.over_200k.as_ref().map(|tier| dollars(tier.input)),
                long_output: prices.over_200k.as_ref().map(|tier| dollars(tier.output)),
            }
        }),
    }
}
