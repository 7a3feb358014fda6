//! How asking a model can fail, in terms that decide what happens next: try again, ask for
//! a key, make the context smaller, or tell the user.

use std::collections::BTreeMap;

use lathe_protocol::{ApiErrorData, Count, MessageError};
use serde::{Deserialize, Serialize};

use crate::secret::Redactor;

/// Lower-cased names; only those of [`allowed_headers`] are ever kept.
pub type ResponseHeaders = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProviderError {
    #[error("{}", .0.message)]
    Api(ApiFailure),
    /// The key is missing or refused: the UI offers to enter one.
    #[error("{message}")]
    Auth { message: String },
    /// The request is too long for the model: the loop compacts and replays.
    #[error("{}", .0.message)]
    ContextOverflow(ApiFailure),
    #[error("The request was aborted")]
    Aborted,
}

/// What is known of a failed call. Message and body are redacted before they leave this
/// crate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiFailure {
    pub message: String,
    pub cause: FailureCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub is_retryable: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: ResponseHeaders,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCause {
    /// The provider answered with an error, by status or inside the stream.
    Refused,
    /// No connection, or one that broke.
    Connection,
    /// Silence for longer than the configured limit.
    Timeout,
    /// The stream ended without its terminal event.
    Truncated,
    /// Bytes that are not what the API documents.
    Malformed,
}

/// Longest body kept with an error; providers (and proxies) send whole pages.
const BODY_CAP: usize = 8 * 1024;

impl ApiFailure {
    pub fn refused(status: u16, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            cause: FailureCause::Refused,
            status: Some(status),
            is_retryable: retryable_status(status),
            headers: ResponseHeaders::new(),
            body: None,
        }
    }

    /// An error inside the stream that names no status. The request had been accepted, so
    /// the trouble came later and may pass.
    pub fn refused_in_stream(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Refused, true, message)
    }

    /// Reset or closed under way: the same request may well succeed.
    pub fn connection(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Connection, true, message)
    }

    /// Not retried by itself: a session may not stay busy past the limit just waited for.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Timeout, false, message)
    }

    pub fn truncated() -> Self {
        let message = "The model's answer broke off before its end";
        Self::transport(FailureCause::Truncated, true, message)
    }

    pub fn malformed(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Malformed, false, message)
    }

    fn transport(cause: FailureCause, is_retryable: bool, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            cause,
            status: None,
            is_retryable,
            headers: ResponseHeaders::new(),
            body: None,
        }
    }

    pub fn with_headers(mut self, headers: ResponseHeaders) -> Self {
        self.headers = headers;
        self
    }

    pub fn with_body(mut self, body: &[u8]) -> Self {
        let cut = &body[..body.len().min(BODY_CAP)];
        let text = String::from_utf8_lossy(cut).trim().to_owned();
        self.body = (!text.is_empty()).then_some(text);
        self
    }
}

impl ProviderError {
    /// Takes known secrets out of everything that will be shown or stored.
    pub fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::Api(failure) => Self::Api(failure.redacted(redactor)),
            Self::ContextOverflow(failure) => Self::ContextOverflow(failure.redacted(redactor)),
            Self::Auth { message } => Self::Auth {
                message: redactor.redact(&message),
            },
            Self::Aborted => Self::Aborted,
        }
    }

    /// The error as it is stored with a message.
    pub fn to_message_error(&self, provider: &str) -> MessageError {
        match self {
            Self::Api(failure) | Self::ContextOverflow(failure) => failure.to_message_error(),
            Self::Auth { message } => MessageError::provider_auth(provider, message),
            Self::Aborted => MessageError::aborted(self.to_string()),
        }
    }

    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Api(failure) if failure.is_retryable)
    }
}

impl ApiFailure {
    fn to_message_error(&self) -> MessageError {
        MessageError::Api(ApiErrorData {
            message: self.message.clone(),
            status_code: self.status.map(|status| Count(i64::from(status))),
            is_retryable: self.is_retryable,
            response_headers: (!self.headers.is_empty()).then(|| self.headers.clone()),
            response_body: self.body.clone(),
            ..ApiErrorData::default()
        })
    }

    fn redacted(mut self, redactor: &Redactor) -> Self {
        self.message = redactor.redact(&self.message);
        self.body = self.body.map(|body| redactor.redact(&body));
        for value in self.headers.values_mut() {
            *value = redactor.redact(value);
        }
        self
    }
}

/// BEHAVIOUR "Retry": 408, 409, 429 and any 5xx (529 included).
pub const fn retryable_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// Keeps what helps to wait or to report, drops the rest (cookies, organisation ids).
pub fn allowed_headers<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> ResponseHeaders {
    const KEPT: [&str; 5] = [
        "content-type",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
    ];
    headers
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .filter(|(name, _)| KEPT.contains(&name.as_str()) || name.starts_with("x-ratelimit-"))
        .collect()
}
