//! Decodes Gemini's error responses.
//!
//! Two things differ from other providers: a bad key gives a 400, and the retry delay is in
//! the body instead of a header.

use serde_json::Value;

use crate::{
    decoder::parse,
    error::{ProviderError, ResponseHeaders},
    error_body::ErrorBody,
};

const RETRY_AFTER_MS: &str = "retry-after-ms";

pub(super) fn decode(status: u16, mut headers: ResponseHeaders, body: &[u8]) -> ProviderError {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(wait) = retry_delay(&value)
        && !headers.contains_key("retry-after")
    {
        headers.entry(RETRY_AFTER_MS.to_owned()).or_insert(wait);
    }
    let error = ErrorBody::from_value(&value);
    if is_bad_key(&value) {
        let message = error.message.unwrap_or_default();
        return ProviderError::Auth { message };
    }
    error.with_status(status, headers, body)
}

/// For an error inside a stream that started successfully.
pub(super) fn in_stream(data: &[u8]) -> Result<ProviderError, ProviderError> {
    let value: Value = parse(data)?;
    let error = ErrorBody::from_value(&value);
    if is_bad_key(&value) {
        let message = error.message.unwrap_or_default();
        return Ok(ProviderError::Auth { message });
    }
    let mut error = error.in_stream();
    if let ProviderError::Api(failure) = &mut error
        && let Some(wait) = retry_delay(&value)
    {
        failure.headers.insert(RETRY_AFTER_MS.to_owned(), wait);
    }
    Ok(error)
}

fn details(value: &Value) -> impl Iterator<Item = &Value> {
    let value = value.get(0).unwrap_or(value);
    let details = value.pointer("/error/details").and_then(Value::as_array);
    details.into_iter().flatten()
}

fn is_bad_key(value: &Value) -> bool {
    details(value).any(|detail| {
        let reason = detail.get("reason").and_then(Value::as_str);
        matches!(reason, Some("API_KEY_INVALID" | "API_KEY_EXPIRED"))
    })
}

/// The delay of a `RetryInfo` (like `34.5s`) in whole milliseconds, rounded up.
fn retry_delay(value: &Value) -> Option<String> {
    let delay = details(value).find_map(|detail| {
        let kind = detail.get("@type")?.as_str()?;
        let delay = detail.get("retryDelay")?.as_str()?;
        kind.ends_with("RetryInfo").then_some(delay)
    })?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let millis = (seconds * 1000.0).ceil();
    (millis.is_finite() && millis >= 0.0).then(|| (millis as u64).to_string())
}
