//! The OpenAI Responses API.
//!
//! Used without storage at the provider: everything that a later request needs (encrypted
//! reasoning) is sent along with the conversation.

mod error;
mod event;
mod item;
mod request;
mod stream;

use crate::{
    decoder::SseDecoder,
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
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
        Box::new(SseDecoder::new(stream::ResponsesDecoder::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        error::decode(status, headers, body)
    }
}

/// Key of this provider's entry in [`crate::event::Metadata`].
const FAMILY: &str = "openai";

#[cfg(test)]
mod tests;
