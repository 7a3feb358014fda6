//! Classifies a provider's error response.
//!
//! Providers agree on HTTP status codes and little else: error bodies have many shapes, and
//! "request too long" is often recognisable only by its message. The known messages are here.

use serde_json::Value;

use crate::error::{ApiFailure, ProviderError, ResponseHeaders};

/// The known fields of an error response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorBody {
    pub message: Option<String>,
    /// The provider's names for the error (`type`, `code` and `status`), in lower case.
    pub kinds: Vec<String>,
}

impl ErrorBody {
    pub fn from_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self::default(),
        }
    }

    pub fn from_value(value: &Value) -> Self {
        let value = match value {
            Value::Array(items) => items.first().unwrap_or(value),
            _ => value,
        };
        let error = value.get("error").unwrap_or(value);
        let mut body = Self {
            message: message(error).or_else(|| message(value)),
            kinds: Vec::new(),
        };
        for holder in [error, value] {
            for key in ["type", "code", "status"] {
                body.add_kind(holder.get(key));
            }
        }
        // A router passes on the message of the provider behind it.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            let message = body.message.take().unwrap_or_default();
            body.message = Some(format!("{message}: {raw}"));
        }
        body
    }

    fn add_kind(&mut self, kind: Option<&Value>) {
        let kind = match kind {
            Some(Value::String(text)) => text.to_ascii_lowercase(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return,
        };
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// The status that an error inside a stream corresponds to; the response itself had 200.
    fn implied_status(&self) -> Option<u16> {
        let by_number = self
            .kinds
            .iter()
            .filter_map(|kind| kind.parse::<u16>().ok())
            .find(|status| (400..600).contains(status));
        by_number.or_else(|| self.kinds.iter().find_map(|kind| status_for(kind)))
    }

    /// The error for this body inside a stream.
    pub fn in_stream(self) -> ProviderError {
        let status = self.implied_status();
        self.classify(status, ResponseHeaders::new(), b"")
    }

    /// The error for a response with this status.
    pub fn with_status(self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        self.classify(Some(status), headers, body)
    }

    fn classify(self, status: Option<u16>, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        let message = self
            .message
            .clone()
            .unwrap_or_else(|| default_message(status));
        let refused_key = matches!(status, Some(401 | 403)) || self.is(AUTH_KINDS);
        let overloaded = self.is(&["overloaded_error", "overloaded"])
            || message.to_ascii_lowercase().contains("overloaded");
        let too_long = status == Some(413) || self.is(OVERFLOW_KINDS) || says_too_long(&message);

        if refused_key {
            return ProviderError::Auth { message };
        }
        let mut failure = match status {
            Some(status) => ApiFailure::refused(status, message),
            // Only known to have failed at the provider, after it accepted the request.
            None => ApiFailure::refused_in_stream(message),
        };
        failure = failure.with_headers(headers).with_body(body);
        if too_long && status != Some(429) {
            failure.is_retryable = false;
            return ProviderError::ContextOverflow(failure);
        }
        if overloaded && status != Some(400) {
            failure.is_retryable = true;
        }
        ProviderError::Api(failure)
    }
}

const AUTH_KINDS: &[&str] = &[
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "unauthenticated",
    "permission_denied",
];

const OVERFLOW_KINDS: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "model_max_prompt_tokens_exceeded",
];

/// Lower-case parts of the messages by which providers report that a request is too long.
const OVERFLOW_MESSAGES: &[&str] = &[
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "exceeds the context window",
    "exceeds the available context size",
    "exceeds the maximum number of tokens",
    "exceeds the context length",
    "greater than the context length",
    "context length exceeded",
    "context window exceeds limit",
    "exceeded model token limit",
    "maximum prompt length is",
    "input is too long for requested model",
    "reduce the length of the messages",
    "too many tokens in the prompt",
];

fn says_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    OVERFLOW_MESSAGES
        .iter()
        .any(|known| message.contains(known))
}

fn status_for(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" | "invalid_argument" | "failed_precondition" => 400,
        "authentication_error" | "invalid_api_key" | "unauthenticated" => 401,
        "billing_error" => 402,
        "permission_error" | "permission_denied" => 403,
        "not_found_error" | "not_found" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "resource_exhausted" => 429,
        "api_error" | "server_error" | "internal_server_error" | "internal" => 500,
        "unavailable" | "service_unavailable" => 503,
        "timeout_error" | "deadline_exceeded" => 504,
        "overloaded_error" | "overloaded" => 529,
        _ => return None,
    })
}

fn message(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => Some(text.as_str()),
        Value::Object(map) => ["message", "detail", "error_description"]
            .iter()
            .find_map(|key| map.get(*key)?.as_str()),
        _ => None,
    };
    text.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

fn default_message(status: Option<u16>) -> String {
    match status {
        Some(401 | 403) => "The provider rejected the API key".to_owned(),
        Some(404) => "The provider has no such address or model".to_owned(),
        Some(429) => "Rate limit reached".to_owned(),
        Some(status @ 300..=399) => {
            format!("The provider redirected the request (status {status})")
        }
        Some(status @ 500..) => format!("The provider is unavailable (status {status})"),
        Some(status) => format!("The provider rejected the request (status {status})"),
        None => "The provider stopped with an error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn classify(status: u16, body: &Value) -> ProviderError {
        let bytes = body.to_string().into_bytes();
        ErrorBody::from_body(&bytes).with_status(status, ResponseHeaders::new(), &bytes)
    }

    #[test]
    fn every_known_message_for_too_long_is_an_overflow() {
        let cases = [
            (
                400,
                json!({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}),
            ),
            (
                400,
                json!({"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}),
            ),
            (
                400,
                json!({"error":{"code":"context_length_exceeded","message":"too long"}}),
            ),
            (
                400,
                json!({"error":{"message":"This model's maximum context length is 8192 tokens."}}),
            ),
            (
                400,
                json!({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}),
            ),
            (
                400,
                json!({"error":{"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}),
            ),
            (
                413,
                json!({"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}),
            ),
            (
                400,
                json!({"error":"Input length 9000 exceeds the context length of the model"}),
            ),
        ];
        for (status, body) in cases {
            let error = classify(status, &body);
            assert!(
                matches!(error, ProviderError::ContextOverflow(_)),
                "{body}: {error:?}"
            );
            assert!(!error.is_retryable());
        }
    }

    #[test]
    fn the_status_decides_whether_to_retry() {
        let body = json!({"error":{"message":"no"}});
        let retried: Vec<u16> = [400, 402, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529]
            .into_iter()
            .filter(|status| classify(*status, &body).is_retryable())
            .collect();
        assert_eq!(retried, [408, 409, 429, 500, 502, 503, 504, 529]);
    }

    #[test]
    fn a_refused_key_is_an_auth_error_whatever_the_body() {
        for status in [401, 403] {
            let error = classify(status, &json!("<html>no</html>"));
            assert!(matches!(error, ProviderError::Auth { .. }), "{error:?}");
        }
        let in_stream = json!({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}});
        assert_eq!(
            ErrorBody::from_value(&in_stream).in_stream(),
            ProviderError::Auth {
                message: "invalid x-api-key".to_owned()
            }
        );
    }

    #[test]
    fn overloaded_inside_a_stream_is_retryable_and_a_bad_request_is_not() {
        let overloaded = json!({"error":{"type":"overloaded_error","message":"Overloaded"}});
        let ProviderError::Api(failure) = ErrorBody::from_value(&overloaded).in_stream() else {
            panic!("an API error");
        };
        assert_eq!((failure.status, failure.is_retryable), (Some(529), true));

        let bad = json!({"error":{"type":"invalid_request_error","message":"Overloaded? no."}});
        assert!(!ErrorBody::from_value(&bad).in_stream().is_retryable());
    }

    #[test]
    fn the_message_is_found_in_bodies_of_many_shapes() {
        let shapes = [
            json!({"error":{"message":"m"}}),
            json!({"error":"m"}),
            json!({"message":"m"}),
            json!({"detail":"m"}),
            json!([{"error":{"message":"m"}}]),
        ];
        for shape in shapes {
            assert_eq!(
                ErrorBody::from_value(&shape).message.as_deref(),
                Some("m"),
                "{shape}"
            );
        }
    }
}
