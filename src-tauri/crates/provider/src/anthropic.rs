//! The Anthropic Messages API.

mod event;
mod generation;
mod request;
mod stream;
mod thinking;

use crate::{
    decoder::SseDecoder,
    error::{ProviderError, ResponseHeaders},
    error_body::ErrorBody,
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    wire::{Decoder, HttpCall, Wire},
};

pub struct Anthropic;

impl Wire for Anthropic {
    fn encode(&self, request: &ModelRequest, model: &ModelInfo) -> HttpCall {
        request::encode(request, model)
    }

    fn auth_header(&self, key: &ApiKey) -> (&'static str, String) {
        ("x-api-key", key.expose().to_owned())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(SseDecoder::new(stream::MessagesDecoder::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        ErrorBody::from_body(body).with_status(status, headers, body)
    }
}
