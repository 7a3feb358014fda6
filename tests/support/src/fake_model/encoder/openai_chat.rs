use lathe_provider::Usage;
use serde_json::{Value, json};

use super::{Encoder, pieces};

#[derive(Default)]
pub(super) struct Chat {
    calls: usize,
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let data = json!({
        "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": "fake-model",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {data}\n\n")
}

impl Encoder for Chat {
    fn begin(&mut self, _: &Usage) -> String {
        chunk(&json!({ "role": "assistant", "content": "" }), None)
    }

    fn text(&mut self, text: &str) -> String {
        pieces(text)
            .iter()
            .map(|piece| chunk(&json!({ "content": piece }), None))
            .collect()
    }

    fn reasoning(&mut self, text: &str) -> String {
        pieces(text)
            .iter()
            .map(|piece| chunk(&json!({ "reasoning_content": piece }), None))
            .collect()
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let index = self.calls;
        self.calls += 1;
        let function = json!({ "name": name, "arguments": "" });
        let first = json!({ "index": index, "id": id, "type": "function", "function": function });
        let mut events = chunk(&json!({ "tool_calls": [first] }), None);
        for piece in pieces(arguments) {
            let more = json!({ "index": index, "function": { "arguments": piece } });
            events += &chunk(&json!({ "tool_calls": [more] }), None);
        }
        events
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        let data = json!({ "error": { "type": kind, "message": message } });
        format!("data: {data}\n\n")
    }

    fn finish(&mut self, usage: &Usage, full: bool) -> String {
        let reason = match (full, self.calls) {
            (true, _) => "length",
            (false, 0) => "stop",
            (false, _) => "tool_calls",
        };
        let prompt = usage.input + usage.cache_read + usage.cache_write;
        let completion = usage.output + usage.reasoning;
        let data = json!({
            "id": "chatcmpl-fake", "object": "chat.completion.chunk", "choices": [],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "prompt_tokens_details": {
                    "cached_tokens": usage.cache_read,
                    "cache_write_tokens": usage.cache_write,
                },
                "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
            },
        });
        format!(
            "{}data: {data}\n\ndata: [DONE]\n\n",
            chunk(&json!({}), Some(reason))
        )
    }
}
