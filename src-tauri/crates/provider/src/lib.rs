//! Models in: one neutral request goes out, one neutral stream of events comes back.
//!
//! Every provider is reached over a *wire*, a pure codec between the neutral vocabulary
//! ([`ModelRequest`], [`StreamEvent`]) and the bytes of one public API. Only [`client`]
//! does I/O. This crate knows nothing of sessions, parts or storage: what a turn does with
//! the events, and whether it tries again, is the loop's business.

pub mod anthropic;
pub mod catalog;
pub mod client;
pub mod config;
pub mod connection;
pub mod cost;
pub mod demo;
pub mod discover;
pub mod error;
pub mod event;
pub mod gemini;
pub mod keys;
pub mod model;
pub mod openai_chat;
pub mod openai_responses;
pub mod refusal;
pub mod request;
pub mod resolve;
pub mod retry;
pub mod secret;
pub mod sse;
mod stream;
pub mod wire;

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
