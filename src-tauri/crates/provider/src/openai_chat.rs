//! OpenAI Chat Completions, and everything that calls itself compatible with it.
//!
//! Compatible servers agree on the happy path only, so the decoder takes what comes and
//! the request avoids what somebody is known to refuse.

mod calls;
mod chunk;
mod request;
mod stream;
mod think;

use crate::{
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    refusal::Refusal,
    request::ModelRequest,
    secret::ApiKey,
    stream::Framed,
    wire::{Decoder, HttpCall, Wire},
};

pub struct OpenaiChat;

impl Wire for OpenaiChat {
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
        Refusal::from_body(body).with_status(status, headers, body)
    }
}
