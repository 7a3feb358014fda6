//! The error stored with a message.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;
use ts_rs::TS;

use crate::json::{Count, Extra};

/// `{ "name": …, "data": … }`. An error with an unknown name is kept unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(tag = "name", content = "data")]
pub enum MessageError {
    #[serde(rename = "APIError")]
    Api(ApiErrorData),
    #[serde(rename = "ProviderAuthError")]
    ProviderAuth(ProviderAuthErrorData),
    #[serde(rename = "UnknownError")]
    Unknown(UnknownErrorData),
    #[serde(rename = "MessageOutputLengthError")]
    OutputLength(OutputLengthErrorData),
    #[serde(rename = "MessageAbortedError")]
    Aborted(AbortedErrorData),
    #[serde(untagged)]
    #[schemars(skip)]
    #[ts(skip)]
    Other(OtherError),
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ApiErrorData {
    pub message: String,
    pub status_code: Option<Count>,
    pub is_retryable: bool,
    pub response_headers: Option<BTreeMap<String, String>>,
    pub response_body: Option<String>,
    pub metadata: Option<BTreeMap<String, String>>,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ProviderAuthErrorData {
    #[serde(rename = "providerID")]
    pub provider_id: String,
    pub message: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct UnknownErrorData {
    pub message: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[ts(type = "Record<string, never>")]
pub struct OutputLengthErrorData {
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AbortedErrorData {
    pub message: String,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

/// An error with a name or a data shape that this program does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct OtherError {
    pub name: String,
    #[serde(default)]
    #[ts(type = "unknown")]
    pub data: Value,
    #[serde(flatten)]
    #[ts(skip)]
    pub extra: Extra,
}

const NO_SNAPSHOT: &str = "NoSnapshotError";

impl MessageError {
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::Unknown(UnknownErrorData {
            message: message.into(),
            extra: Extra::default(),
        })
    }

    pub fn aborted(message: impl Into<String>) -> Self {
        Self::Aborted(AbortedErrorData {
            message: message.into(),
            extra: Extra::default(),
        })
    }

    pub fn output_length() -> Self {
        Self::OutputLength(OutputLengthErrorData::default())
    }

    /// A warning that is published but never stored: the turn goes on, but its changes cannot
    /// be reverted. The window recognises it by its name.
    pub fn no_snapshot(message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self::Other(OtherError {
            name: NO_SNAPSHOT.to_owned(),
            data: serde_json::json!({ "message": message }),
            extra: Extra::default(),
        })
    }

    /// The turn goes on.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Other(other) if other.name == NO_SNAPSHOT)
    }

    pub fn provider_auth(provider_id: impl Into<String>, message: impl Into<String>) -> Self {
        Self::ProviderAuth(ProviderAuthErrorData {
            provider_id: provider_id.into(),
            message: message.into(),
            extra: Extra::default(),
        })
    }

    /// One sentence to show to the user.
    pub fn message(&self) -> String {
        match self {
            Self::Api(data) => data.message.clone(),
            Self::ProviderAuth(data) => data.message.clone(),
            Self::Unknown(data) => data.message.clone(),
            Self::OutputLength(_) => "The answer reached the model's output limit".into(),
            Self::Aborted(data) => data.message.clone(),
            Self::Other(other) => other
                .data
                .get("message")
                .and_then(Value::as_str)
                .map_or_else(|| other.name.clone(), str::to_owned),
        }
    }
}
