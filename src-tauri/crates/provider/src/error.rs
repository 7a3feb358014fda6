//! Errors of a model request, by what the caller does about them: retry, ask for a key, compact
//! the context, or show the error.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::secret::Redactor;

/// By lower-case name; only the headers that [`allowed_headers`] lets through.
pub type ResponseHeaders = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProviderError {
    #[error("{}", .0.message)]
    Api(ApiFailure),
    /// The key is missing or was refused: the UI offers to enter one.
    #[error("{message}")]
    Auth { message: String },
    /// The request is too long for the model: the session compacts and asks again.
    #[error("{}", .0.message)]
    ContextOverflow(ApiFailure),
    #[error("The request was aborted")]
    Aborted,
}

/// Details of a failed call. Message, headers and body are redacted before they leave this
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
    /// The connection could not be made, or broke.
    Connection,
    /// No data arrived within the configured time.
    Timeout,
    /// The stream ended without its terminal event.
    Truncated,
    /// The data is not what the API documents.
    Malformed,
}

/// How much of an error body is stored; some providers and proxies send whole web pages.
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

    /// An error inside the stream without a status. The provider had accepted the request, so
    /// a retry may succeed.
    pub fn refused_in_stream(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Refused, true, message)
    }

    /// The connection failed or broke: a retry may succeed.
    pub fn connection(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Connection, true, message)
    }

    /// Not retried automatically: the session has already been busy for the whole limit.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::transport(FailureCause::Timeout, false, message)
    }

    pub fn truncated() -> Self {
        let message = "The model’s answer ended early";
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
    /// Removes known secrets from everything that will be shown or stored.
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

    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Api(failure) if failure.is_retryable)
    }
}

impl ApiFailure {
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
const fn retryable_status(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || status >= 500
}

/// Keeps the headers that help to time a retry or to report the error, and drops all others
/// (cookies, organisation ids).
pub(crate) fn allowed_headers<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> ResponseHeaders {
    const ALLOWED: [&str; 5] = [
        "content-type",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
    ];
    headers
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .filter(|(name, _)| ALLOWED.contains(&name.as_str()) || name.starts_with("x-ratelimit-"))
        .collect()
}
