//! A wire: the pure codec between the provider-neutral types and one public API.
//!
//! No I/O, no clock, no randomness: the same request gives the same bytes, and the same
//! bytes give the same events however they are cut into chunks.

mod body;

use serde::{Deserialize, Serialize};

use crate::{
    anthropic::Anthropic,
    error::{ProviderError, ResponseHeaders},
    event::StreamEvent,
    gemini::Gemini,
    model::ModelInfo,
    openai_chat::OpenaiChat,
    openai_responses::OpenaiResponses,
    request::ModelRequest,
    secret::ApiKey,
};

pub use body::Body;

/// The supported APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
    /// The built-in offline model. It has no codec, because nothing is sent.
    Demo,
}

impl WireKind {
    /// `None` for the built-in model.
    pub fn codec(self) -> Option<&'static dyn Wire> {
        match self {
            Self::Anthropic => Some(&Anthropic),
            Self::OpenaiChat => Some(&OpenaiChat),
            Self::OpenaiResponses => Some(&OpenaiResponses),
            Self::Gemini => Some(&Gemini),
            Self::Demo => None,
        }
    }
}

/// One POST request. The caller adds base URL, authentication and content type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HttpCall {
    /// Appended to the base URL; starts with `/` and may contain a query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

pub trait Wire: Send + Sync {
    /// Cannot fail: content that the API does not support is replaced by a text that says so.
    fn encode(&self, request: &ModelRequest, model: &ModelInfo) -> HttpCall;

    /// Name and value of the header that carries the key.
    fn auth_header(&self, key: &ApiKey) -> (&'static str, String);

    /// For one response with a success status.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// For a response with any other status. `headers` holds only the allowed ones.
    fn decode_error(&self, status: u16, headers: ResponseHeaders, body: &[u8]) -> ProviderError;
}

/// Turns the bytes of one response into content events.
///
/// It emits everything between `start-step` and `finish`: content, then exactly one
/// `finish-step` or `error`, and nothing after that.
pub trait Decoder: Send {
    fn feed(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>);

    /// The body has ended. Unless a terminal event came before, that is an error.
    fn end(&mut self, out: &mut Vec<StreamEvent>);
}
