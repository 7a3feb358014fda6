//! Replies of the fake model in the events of each of the four APIs.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;

use lathe_provider::{Usage, WireKind};

/// Every function returns server-sent events as text.
pub(super) trait Encoder: Send {
    fn begin(&mut self, usage: &Usage) -> String;
    fn text(&mut self, text: &str) -> String;
    fn reasoning(&mut self, text: &str) -> String;
    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String;
    fn error(&mut self, kind: &str, message: &str) -> String;
    /// `full`: the answer stopped because it reached its length limit.
    fn finish(&mut self, usage: &Usage, full: bool) -> String;
}

pub(super) fn encoder_for(wire: WireKind) -> Box<dyn Encoder> {
    match wire {
        WireKind::Anthropic => Box::new(anthropic::Anthropic::default()),
        WireKind::OpenaiResponses => Box::new(openai_responses::Responses::default()),
        WireKind::Gemini => Box::new(gemini::Gemini),
        WireKind::OpenaiChat | WireKind::Demo => Box::new(openai_chat::Chat::default()),
    }
}

/// A longer text comes in larger pieces: a test is not to wait for a million of them.
const MOST_PIECES: usize = 20_000;

/// Text in pieces of a few characters, as a real model sends it.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks((chars.len() / MOST_PIECES).max(7))
        .map(|piece| piece.iter().collect())
        .collect()
}
