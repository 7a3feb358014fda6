//! The fake model's four voices: the same things said in the events of each API.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;

use lathe_provider::{Usage, WireKind};

/// Everything returned is server-sent events, ready to be written.
pub(super) trait Voice: Send {
    fn begin(&mut self, usage: &Usage) -> String;
    fn text(&mut self, text: &str) -> String;
    fn reasoning(&mut self, text: &str) -> String;
    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String;
    fn error(&mut self, kind: &str, message: &str) -> String;
    /// `full`: the answer stopped because it reached its length limit.
    fn finish(&mut self, usage: &Usage, full: bool) -> String;
}

pub(super) fn voice_of(wire: WireKind) -> Box<dyn Voice> {
    match wire {
        WireKind::Anthropic => Box::new(anthropic::Anthropic::default()),
        WireKind::OpenaiResponses => Box::new(openai_responses::Responses::default()),
        WireKind::Gemini => Box::new(gemini::Gemini),
        WireKind::OpenaiChat | WireKind::Demo => Box::new(openai_chat::Chat::default()),
    }
}

/// Text comes a few characters at a time, as from a real model.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(7)
        .map(|piece| piece.iter().collect())
        .collect()
}
