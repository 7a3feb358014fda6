//! Answers: JSON, and errors in the form that the clients read.

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use lathe_protocol::BadId;
use lathe_session::Failed;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a request was not done.
#[derive(Debug)]
pub enum Refusal {
    BadRequest(String),
    NotFound(String),
    Conflict(String),
    TooMany(String),
    TooLarge(String),
    Failed(String),
}

pub type Answer<T = Json<Value>> = Result<T, Refusal>;

impl Refusal {
    /// For what other servers do and this one does not.
    pub fn not_available(what: &str) -> Self {
        Refusal::BadRequest(format!("{what} is not available here"))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Refusal::BadRequest(message) => (StatusCode::BAD_REQUEST, message),
            Refusal::NotFound(message) => (StatusCode::NOT_FOUND, message),
            Refusal::Conflict(message) => (StatusCode::CONFLICT, message),
            Refusal::TooMany(message) => (StatusCode::SERVICE_UNAVAILABLE, message),
            Refusal::TooLarge(message) => (StatusCode::PAYLOAD_TOO_LARGE, message),
            Refusal::Failed(message) => {
                tracing::error!(%message, "a request failed");
                (StatusCode::INTERNAL_SERVER_ERROR, message)
            }
        };
        error(status, &message)
    }
}

/// One body for every version of the clients: the older ones read `errors` and `success` of a bad
/// request, the newer ones `name` and `data`.
pub fn error(status: StatusCode, message: &str) -> Response {
    let name = match status {
        StatusCode::NOT_FOUND => "NotFoundError",
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => "BadRequest",
        StatusCode::UNAUTHORIZED => "UnauthorizedError",
        StatusCode::FORBIDDEN => "ForbiddenError",
        StatusCode::CONFLICT => "BusyError",
        _ => "UnknownError",
    };
    let mut body = json!({ "name": name, "data": { "message": message } });
    if status == StatusCode::BAD_REQUEST {
        body["error"] = json!([{ "message": message }]);
        body["success"] = json!(false);
    }
    (status, Json(body)).into_response()
}

impl From<Failed> for Refusal {
    fn from(failed: Failed) -> Self {
        let message = failed.to_string();
        match failed {
            Failed::Missing { .. } => Refusal::NotFound(message),
            Failed::Busy => Refusal::Conflict(message),
            Failed::NeedsConsent(_) | Failed::Refused(_) | Failed::BadId(_) => {
                Refusal::BadRequest(message)
            }
            Failed::Store(_) => Refusal::Failed(message),
        }
    }
}

impl From<BadId> for Refusal {
    fn from(bad: BadId) -> Self {
        Refusal::BadRequest(bad.to_string())
    }
}

pub fn json<T: Serialize>(value: &T) -> Answer {
    match serde_json::to_value(value) {
        Ok(value) => Ok(Json(value)),
        Err(error) => Err(Refusal::Failed(error.to_string())),
    }
}

pub fn bytes<T: Serialize>(value: &T) -> Answer<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Refusal::Failed(error.to_string()))
}

pub fn yes() -> Answer {
    Ok(Json(Value::Bool(true)))
}

pub fn no_content() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
