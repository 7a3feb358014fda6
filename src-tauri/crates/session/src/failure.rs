//! Converts a provider's failure to the error that is stored with a message.

use lathe_protocol::{ApiErrorData, Count, Extra, MessageError};
use lathe_provider::{ApiFailure, ProviderError};

pub fn message_error(provider: &str, error: ProviderError) -> MessageError {
    match error {
        ProviderError::Api(_) | ProviderError::ContextOverflow(_) => {
            MessageError::Api(api_error_data(&error))
        }
        ProviderError::Auth { message } => MessageError::provider_auth(provider, message),
        ProviderError::Aborted => MessageError::aborted("The turn was stopped"),
    }
}

pub fn api_error_data(error: &ProviderError) -> ApiErrorData {
    match error {
        ProviderError::Api(failure) | ProviderError::ContextOverflow(failure) => {
            from_failure(failure)
        }
        other => ApiErrorData {
            message: other.to_string(),
            ..ApiErrorData::default()
        },
    }
}

fn from_failure(failure: &ApiFailure) -> ApiErrorData {
    ApiErrorData {
        message: failure.message.clone(),
        status_code: failure.status.map(|status| Count(status.into())),
        is_retryable: failure.is_retryable,
        response_headers: (!failure.headers.is_empty()).then(|| failure.headers.clone()),
        response_body: failure.body.clone(),
        metadata: None,
        extra: Extra::default(),
    }
}
