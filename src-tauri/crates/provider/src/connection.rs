//! Whether a provider answers, and which models it lists.
//!
//! Listing costs nothing and needs a good key almost everywhere, so it is also the test of
//! a connection. A server that cannot list is asked for one token instead.

mod listing;

use std::time::Duration;

use futures::StreamExt;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use self::listing::{is_for_text, listed_models};
use crate::{
    client::{Endpoint, ModelClient},
    error::{ApiFailure, ProviderError, allowed_headers},
    event::StreamEvent,
    model::ModelInfo,
    request::{ModelMessage, ModelRequest, UserContent},
    wire::WireKind,
};

/// A person waits for the answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// The longest list known has a few hundred kilobytes.
const LIST_CAP: usize = 16 * 1024 * 1024;

/// The provider answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// What it lists; empty for one that cannot.
    pub models: Vec<ModelInfo>,
}

/// A cheap request that shows whether address and key are good. `model` is asked for one
/// token where models cannot be listed.
pub async fn test_connection(
    client: &ModelClient,
    provider: &str,
    endpoint: &Endpoint,
    model: Option<&ModelInfo>,
) -> Result<Connection, ProviderError> {
    if endpoint.wire == WireKind::Demo {
        return Ok(Connection { models: Vec::new() });
    }
    if endpoint.needs_key && endpoint.key.is_none() {
        let message = format!("There is no key for {} yet", endpoint.name);
        return Err(ProviderError::Auth { message });
    }
    if provider == "openrouter" {
        // Its list is public; this address is not.
        get(client, endpoint, "/key", PATIENCE).await?;
    }
    match list_models(client, provider, endpoint).await {
        Ok(models) => Ok(Connection { models }),
        Err(error) if cannot_list(&error) => match model {
            Some(model) => {
                ask_for_a_token(client, endpoint, model).await?;
                Ok(Connection { models: Vec::new() })
            }
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// The models a provider lists, with what it says about them.
pub async fn list_models(
    client: &ModelClient,
    provider: &str,
    endpoint: &Endpoint,
) -> Result<Vec<ModelInfo>, ProviderError> {
    let path = match endpoint.wire {
        WireKind::Anthropic => "/models?limit=1000",
        WireKind::Gemini => "/models?pageSize=1000",
        WireKind::OpenaiChat | WireKind::OpenaiResponses => "/models",
        WireKind::Demo => return Ok(Vec::new()),
    };
    let list = get(client, endpoint, path, PATIENCE).await?;
    listed_models(provider, &list).ok_or_else(|| {
        let message = format!(
            "{} answered with something other than models",
            endpoint.name
        );
        ProviderError::Api(ApiFailure::malformed(message))
    })
}

fn cannot_list(error: &ProviderError) -> bool {
    match error {
        ProviderError::Api(failure) => {
            matches!(failure.status, Some(404 | 405 | 501)) || failure.status == Some(200)
        }
        _ => false,
    }
}

async fn ask_for_a_token(
    client: &ModelClient,
    endpoint: &Endpoint,
    model: &ModelInfo,
) -> Result<(), ProviderError> {
    let mut request = ModelRequest::new(&model.wire_id);
    let text = "Hi".to_owned();
    request.messages = vec![ModelMessage::User {
        content: vec![UserContent::Text { text }],
    }]
    .into();
    request.max_output = Some(1);
    let mut events = client.stream(endpoint, model, &request, CancellationToken::new());
    while let Some(event) = events.next().await {
        if let StreamEvent::Error { error } = event {
            return Err(error);
        }
    }
    Ok(())
}

/// One GET below the endpoint's address, with its key. Errors are redacted.
pub(crate) async fn get(
    client: &ModelClient,
    endpoint: &Endpoint,
    path: &str,
    patience: Duration,
) -> Result<Value, ProviderError> {
    let answer = tokio::time::timeout(patience, fetch(client, endpoint, path)).await;
    let answer = answer.unwrap_or_else(|_| {
        let message = format!("{} does not answer", endpoint.name);
        Err(ProviderError::Api(ApiFailure::timeout(message)))
    });
    answer.map_err(|error| error.redacted(&endpoint.redactor()))
}

async fn fetch(
    client: &ModelClient,
    endpoint: &Endpoint,
    path: &str,
) -> Result<Value, ProviderError> {
    let url = format!("{}{path}", endpoint.base_url);
    let http = client.http_for(&endpoint.base_url)?;
    let sent = http.get(url).headers(headers(endpoint)?).send().await;
    let response = sent.map_err(|error| unreachable_server(endpoint, &error))?;
    let status = response.status();
    let said = response.headers().iter();
    let kept = allowed_headers(
        said.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))),
    );
    let body = read(endpoint, response).await?;
    if status != StatusCode::OK {
        let status = status.as_u16();
        return Err(match endpoint.wire.codec() {
            Some(wire) => wire.decode_error(status, kept, &body),
            None => ProviderError::Api(ApiFailure::refused(status, "refused")),
        });
    }
    serde_json::from_slice(&body).map_err(|_| {
        let message = format!("{} did not answer with JSON", endpoint.name);
        let mut failure = ApiFailure::malformed(message);
        failure.status = Some(status.as_u16());
        ProviderError::Api(failure)
    })
}

async fn read(endpoint: &Endpoint, response: reqwest::Response) -> Result<Vec<u8>, ProviderError> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| unreachable_server(endpoint, &error))?;
        if body.len() + chunk.len() > LIST_CAP {
            let message = format!("{} answered with far too much", endpoint.name);
            return Err(ProviderError::Api(ApiFailure::malformed(message)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, ProviderError> {
    let key = endpoint.key.as_ref();
    let auth = endpoint.wire.codec().zip(key).map(|(wire, key)| {
        let (name, value) = wire.auth_header(key);
        (name.to_owned(), value)
    });
    let version = (endpoint.wire == WireKind::Anthropic)
        .then(|| ("anthropic-version".to_owned(), "2023-06-01".to_owned()));
    let mut headers = HeaderMap::new();
    for (name, value) in auth
        .into_iter()
        .chain(version)
        .chain(endpoint.headers.clone())
    {
        let parsed = (
            HeaderName::try_from(name.as_str()).ok(),
            HeaderValue::try_from(value).ok(),
        );
        let (Some(known), Some(mut value)) = parsed else {
            let message = format!("The header {name} holds characters it may not hold");
            return Err(ProviderError::Api(ApiFailure::malformed(message)));
        };
        value.set_sensitive(true);
        headers.insert(known, value);
    }
    Ok(headers)
}

fn unreachable_server(endpoint: &Endpoint, error: &reqwest::Error) -> ProviderError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let message = format!("{} could not be reached: {cause}", endpoint.name);
    ProviderError::Api(ApiFailure::connection(message))
}

#[cfg(test)]
mod tests;
