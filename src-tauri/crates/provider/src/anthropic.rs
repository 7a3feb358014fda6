//! The Anthropic Messages API.

mod event;
mod generation;
mod request;
mod stream;
mod thinking;

use crate::{
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    refusal::Refusal,
    request::ModelRequest,
    secret::ApiKey,
    stream::Framed,
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
        Box::new(Framed::new(stream::Frames::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        Refusal::from_body(body).with_status(status, headers, body)
    }
}
