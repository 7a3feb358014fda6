//! Routes of the clients for what this program does not have: an empty value, or an error that
//! says so. Where a client would gain a right that the window asks about, it is an error.

use axum::Json;
use axum::response::Response;
use serde_json::{Value, json};

use crate::reply::{self, Answer, Refusal};

pub async fn empty_list() -> Answer {
    Ok(Json(json!([])))
}

pub async fn empty_object() -> Answer {
    Ok(Json(json!({})))
}

pub async fn yes() -> Answer {
    reply::yes()
}

pub async fn no() -> Answer {
    Ok(Json(Value::Bool(false)))
}

/// There is no terminal interface here that could be asked to do something.
pub async fn no_request() -> Answer {
    Ok(Json(json!({ "path": "", "body": null })))
}

pub async fn console() -> Answer {
    Ok(Json(
        json!({ "consoleManagedProviders": [], "switchableOrgCount": 0 }),
    ))
}

pub async fn capabilities() -> Answer {
    Ok(Json(json!({ "backgroundSubagents": false })))
}

pub async fn not_available() -> Answer<Response> {
    Err(Refusal::not_available("This"))
}
