use lathe_provider::Usage;
use serde_json::{Value, json};

use super::{Encoder, pieces};

pub(super) struct Gemini;

fn chunk(parts: &Value, finish: Option<&str>, usage: Option<Value>) -> String {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let mut data = json!({ "candidates": [candidate], "modelVersion": "fake-model" });
    if let Some(usage) = usage {
        data["usageMetadata"] = usage;
    }
    format!("data: {data}\n\n")
}

impl Encoder for Gemini {
    fn begin(&mut self, _: &Usage) -> String {
        String::new()
    }

    fn text(&mut self, text: &str) -> String {
        pieces(text)
            .iter()
            .map(|piece| chunk(&json!([{ "text": piece }]), None, None))
            .collect()
    }

    fn reasoning(&mut self, text: &str) -> String {
        pieces(text)
            .iter()
            .map(|piece| chunk(&json!([{ "text": piece, "thought": true }]), None, None))
            .collect()
    }

    /// This API sends the arguments as one JSON value; invalid JSON is sent as a string.
    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        let part = json!({
            "functionCall": { "id": id, "name": name, "args": args },
            "thoughtSignature": "fake-signature",
        });
        chunk(&json!([part]), None, None)
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        let data = json!({ "error": { "status": kind, "message": message } });
        format!("data: {data}\n\n")
    }

    fn finish(&mut self, usage: &Usage, full: bool) -> String {
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let counts = json!({
            "promptTokenCount": prompt,
            "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": prompt + usage.output + usage.reasoning,
        });
        let reason = if full { "MAX_TOKENS" } else { "STOP" };
        chunk(&json!([{ "text": "" }]), Some(reason), Some(counts))
    }
}
