//! The OpenAI Responses API.
//!
//! Used without storage on their side: everything a next request needs (sealed reasoning)
//! travels with the conversation.

mod error;
mod event;
mod item;
mod request;
mod stream;

use crate::{
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    stream::Framed,
    wire::{Decoder, HttpCall, Wire},
};

pub struct OpenaiResponses;

impl Wire for OpenaiResponses {
    fn encode(&self, request: &ModelRequest, model: &ModelInfo) -> HttpCall {
        request::encode(request, model)
    }

    fn auth_header(&self, key: &ApiKey) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.expose()))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Framed::new(stream::Frames::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        error::decode(status, headers, body)
    }
}

#[cfg(test)]
mod tests;
