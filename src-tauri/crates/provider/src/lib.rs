//! Access to language models: one request goes out, one stream of events comes back, in the
//! same form for every provider.
//!
//! Every provider is reached over a *wire*: a pure codec between the provider-neutral types
//! ([`ModelRequest`], [`StreamEvent`]) and the bytes of one public API. Only [`client`],
//! [`connection`], [`discover`] and [`keys`] do I/O. This crate must not know sessions, parts or
//! storage: what a turn does with the events, and whether it retries, is up to the session.

mod anthropic;
pub mod catalog;
pub mod client;
pub mod config;
pub mod connection;
pub mod cost;
mod decoder;
pub mod demo;
pub mod discover;
mod error;
mod error_body;
mod event;
mod gemini;
pub mod keys;
mod model;
mod openai_chat;
mod openai_responses;
mod request;
pub mod resolve;
pub mod retry;
mod secret;
mod sse;
#[cfg(test)]
mod test_server;
mod wire;

pub use client::{Endpoint, ModelClient, Timeouts};
pub use demo::DemoPace;
pub use error::{ApiFailure, FailureCause, ProviderError, ResponseHeaders};
pub use event::{FinishReason, Metadata, StreamEvent, Usage};
pub use model::{Limits, ModelInfo, PriceTier, Prices};
pub use request::{
    AssistantContent, Conversation, FileContent, FileData, ModelMessage, ModelRequest, ToolChoice,
    ToolOutcome, ToolSpec, UserContent,
};
pub use secret::{ApiKey, Redactor};
pub use wire::{Decoder, HttpCall, Wire, WireKind};
