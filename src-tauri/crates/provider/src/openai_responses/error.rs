//! Decodes OpenAI's error responses.
//!
//! Inside a stream there are no headers, so the retry delay is only in the message.

use serde_json::Value;

use crate::{
    decoder::parse,
    error::{ProviderError, ResponseHeaders},
    error_body::ErrorBody,
};

const RETRY_AFTER_MS: &str = "retry-after-ms";

pub(super) fn decode(status: u16, mut headers: ResponseHeaders, body: &[u8]) -> ProviderError {
    let error = ErrorBody::from_body(body);
    let wait = error.message.as_deref().and_then(retry_delay);
    if let (429, Some(wait), false) = (status, wait, headers.contains_key("retry-after")) {
        headers.entry(RETRY_AFTER_MS.to_owned()).or_insert(wait);
    }
    error.with_status(status, headers, body)
}

/// The error is in the event itself, in its `error` field, or in the failed response.
pub(super) fn in_stream(data: &[u8]) -> Result<ProviderError, ProviderError> {
    let value: Value = parse(data)?;
    let error = value
        .pointer("/response/error")
        .or_else(|| value.get("error"))
        .filter(|error| !error.is_null())
        .unwrap_or(&value);
    let mut error = ErrorBody::from_value(error).in_stream();
    if let ProviderError::Api(failure) = &mut error
        && failure.status == Some(429)
        && let Some(wait) = retry_delay(&failure.message)
    {
        failure.headers.insert(RETRY_AFTER_MS.to_owned(), wait);
    }
    Ok(error)
}

/// "Please try again in 11.054s." or "in 350ms", in whole milliseconds.
fn retry_delay(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("try again in ")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = rest.split_at(end);
    let number: f64 = number.parse().ok()?;
    let millis = if unit.starts_with("ms") {
        number
    } else if unit.starts_with('s') {
        number * 1000.0
    } else {
        return None;
    };
    (millis.is_finite() && millis >= 0.0).then(|| (millis.ceil() as u64).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_delay_is_parsed_from_the_message() {
        let cases = [
            (
                "Rate limit reached. Please try again in 11.054s. Visit",
                Some("11054"),
            ),
            ("Please try again in 350ms.", Some("350")),
            ("Please try again in 6m0s.", None),
            ("Please try again in", None),
            ("Slow down", None),
        ];
        for (message, delay) in cases {
            assert_eq!(retry_delay(message).as_deref(), delay, "{message}");
        }
    }
}
