//! OpenAI Chat Completions, and the servers that claim to be compatible with it.
//!
//! Such servers agree only on the common case, so the decoder is lenient and the request
//! avoids what any of them is known to refuse.

mod calls;
mod chunk;
mod request;
mod stream;
mod think_tags;

use crate::{
    decoder::SseDecoder,
    error::{ProviderError, ResponseHeaders},
    error_body::ErrorBody,
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
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
        Box::new(SseDecoder::new(stream::ChatDecoder::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        ErrorBody::from_body(body).with_status(status, headers, body)
    }
}
