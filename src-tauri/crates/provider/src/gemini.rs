//! The Gemini API (`streamGenerateContent`).

mod chunk;
mod error;
mod request;
mod schema;
mod stream;

use crate::{
    decoder::SseDecoder,
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    wire::{Decoder, HttpCall, Wire},
};

pub struct Gemini;

impl Wire for Gemini {
    fn encode(&self, request: &ModelRequest, model: &ModelInfo) -> HttpCall {
        request::encode(request, model)
    }

    fn auth_header(&self, key: &ApiKey) -> (&'static str, String) {
        ("x-goog-api-key", key.expose().to_owned())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(SseDecoder::new(stream::GeminiDecoder::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        error::decode(status, headers, body)
    }
}

/// Key of this provider's entry in [`crate::event::Metadata`].
const FAMILY: &str = "google";
/// The signature of the model's thoughts; it has to be sent back with the same part.
const SIGNATURE: &str = "thoughtSignature";

/// The second generation takes a thinking budget in tokens; from the third on, thinking has
/// levels and signatures are required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    Second,
    Third,
    /// Open models served by the same API.
    Other,
}

impl Generation {
    fn parse(model: &str) -> Self {
        let Some((_, version)) = model.split_once("gemini-") else {
            return Self::Other;
        };
        match version.split(['.', '-']).next().map(str::parse::<u32>) {
            Some(Ok(..=2)) => Self::Second,
            // Names like `gemini-flash-latest` refer to the newest.
            _ => Self::Third,
        }
    }
}

#[cfg(test)]
mod tests;
