//! Tests the connection to a provider and lists its models.
//!
//! Listing models is free and requires a valid key at almost every provider, so it also serves
//! as the connection test. A server that cannot list models is asked for one token instead.

mod listing;

use std::time::Duration;

use futures::StreamExt;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use self::listing::{is_text_model, parse_model_list};
use crate::{
    client::{Endpoint, ModelClient, response_headers, root_cause},
    error::{ApiFailure, ProviderError},
    event::StreamEvent,
    model::ModelInfo,
    request::{ModelMessage, ModelRequest, UserContent},
    wire::WireKind,
};

/// Short, because the user waits for the result.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The longest known list has a few hundred kilobytes.
const MAX_LIST_SIZE: usize = 16 * 1024 * 1024;

/// The result of a successful connection test.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionTest {
    /// Empty for a server that cannot list its models.
    pub models: Vec<ModelInfo>,
}

/// A cheap request that shows whether address and key are valid. If the server cannot list its
/// models, `model` is asked for one token.
pub async fn test_connection(
    client: &ModelClient,
    provider: &str,
    endpoint: &Endpoint,
    model: Option<&ModelInfo>,
) -> Result<ConnectionTest, ProviderError> {
    if endpoint.wire == WireKind::Demo {
        return Ok(ConnectionTest { models: Vec::new() });
    }
    endpoint.check_key()?;
    if provider == "openrouter" {
        // Its list needs no key, so it does not test one; this address does.
        get(client, endpoint, "/key", TIMEOUT).await?;
    }
    match list_models(client, provider, endpoint).await {
        Ok(models) => Ok(ConnectionTest { models }),
        Err(error) if cannot_list(&error) => match model {
            Some(model) => {
                ask_for_a_token(client, endpoint, model).await?;
                Ok(ConnectionTest { models: Vec::new() })
            }
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

async fn list_models(
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
    let list = get(client, endpoint, path, TIMEOUT).await?;
    parse_model_list(provider, &list).ok_or_else(|| {
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

/// An authenticated GET request below the endpoint's base URL. Errors are redacted.
pub(crate) async fn get(
    client: &ModelClient,
    endpoint: &Endpoint,
    path: &str,
    timeout: Duration,
) -> Result<Value, ProviderError> {
    let result = tokio::time::timeout(timeout, fetch(client, endpoint, path)).await;
    let result = result.unwrap_or_else(|_| {
        let message = format!("{} does not answer", endpoint.name);
        Err(ProviderError::Api(ApiFailure::timeout(message)))
    });
    result.map_err(|error| error.redacted(&endpoint.redactor()))
}

async fn fetch(
    client: &ModelClient,
    endpoint: &Endpoint,
    path: &str,
) -> Result<Value, ProviderError> {
    let url = format!("{}{path}", endpoint.base_url);
    let http = client.http_for(&endpoint.base_url)?;
    let request = http.get(url).headers(request_headers(endpoint)?);
    let sent = request.send().await;
    let response = sent.map_err(|error| connection_error(endpoint, &error))?;
    let status = response.status();
    let headers = response_headers(response.headers());
    let body = read(endpoint, response).await?;
    if status != StatusCode::OK {
        let status = status.as_u16();
        return Err(match endpoint.wire.codec() {
            Some(wire) => wire.decode_error(status, headers, &body),
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
        let chunk = chunk.map_err(|error| connection_error(endpoint, &error))?;
        if body.len() + chunk.len() > MAX_LIST_SIZE {
            let message = format!("{} answered with far too much", endpoint.name);
            return Err(ProviderError::Api(ApiFailure::malformed(message)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn request_headers(endpoint: &Endpoint) -> Result<HeaderMap, ProviderError> {
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
        let (Some(name), Some(mut value)) = parsed else {
            let message = format!("The header {name} holds characters it may not hold");
            return Err(ProviderError::Api(ApiFailure::malformed(message)));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn connection_error(endpoint: &Endpoint, error: &reqwest::Error) -> ProviderError {
    let cause = root_cause(error);
    let message = format!("{} couldn’t be reached: {cause}", endpoint.name);
    ProviderError::Api(ApiFailure::connection(message))
}

#[cfg(test)]
mod tests;
