//! The Gemini API (`streamGenerateContent`).

mod chunk;
mod error;
mod request;
mod schema;
mod stream;

use crate::{
    error::{ProviderError, ResponseHeaders},
    model::ModelInfo,
    request::ModelRequest,
    secret::ApiKey,
    stream::Framed,
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
        Box::new(Framed::new(stream::Frames::default()))
    }

    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError {
        error::decode(status, headers, body)
    }
}

/// Our name among the facts only a provider understands.
const FAMILY: &str = "google";
/// Seals what the model thought; has to come back at the same place.
const SIGNATURE: &str = "thoughtSignature";

/// Models from the third generation on think in levels and insist on signatures; the
/// second counts tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    Second,
    Third,
    /// Open models behind the same API.
    Other,
}

impl Generation {
    fn of(model: &str) -> Self {
        let Some((_, version)) = model.split_once("gemini-") else {
            return Self::Other;
        };
        match version.split(['.', '-']).next().map(str::parse::<u32>) {
            Some(Ok(..=2)) => Self::Second,
            // Names like `gemini-flash-latest` mean the newest.
            _ => Self::Third,
        }
    }
}

#[cfg(test)]
mod tests;
