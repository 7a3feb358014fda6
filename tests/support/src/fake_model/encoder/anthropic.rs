use lathe_provider::Usage;
use serde_json::{Value, json};

use super::{Encoder, pieces};

#[derive(Default)]
pub(super) struct Anthropic {
    blocks: usize,
    called: bool,
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

impl Anthropic {
    fn block(&mut self, block: &Value, deltas: &[Value]) -> String {
        let index = self.blocks;
        self.blocks += 1;
        let mut events = event(
            &json!({ "type": "content_block_start", "index": index, "content_block": block }),
        );
        for delta in deltas {
            events +=
                &event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events + &event(&json!({ "type": "content_block_stop", "index": index }))
    }
}

impl Encoder for Anthropic {
    fn begin(&mut self, usage: &Usage) -> String {
        let message = json!({
            "id": "msg_fake", "type": "message", "role": "assistant", "content": [],
            "model": "fake-model", "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "output_tokens": 1,
            },
        });
        event(&json!({ "type": "message_start", "message": message }))
            + &event(&json!({ "type": "ping" }))
    }

    fn text(&mut self, text: &str) -> String {
        let deltas: Vec<Value> = pieces(text)
            .iter()
            .map(|piece| json!({ "type": "text_delta", "text": piece }))
            .collect();
        self.block(&json!({ "type": "text", "text": "" }), &deltas)
    }

    fn reasoning(&mut self, text: &str) -> String {
        let mut deltas: Vec<Value> = pieces(text)
            .iter()
            .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
            .collect();
        deltas.push(json!({ "type": "signature_delta", "signature": "fake-signature" }));
        self.block(
            &json!({ "type": "thinking", "thinking": "", "signature": "" }),
            &deltas,
        )
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        self.called = true;
        let deltas: Vec<Value> = pieces(arguments)
            .iter()
            .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
            .collect();
        self.block(
            &json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
            &deltas,
        )
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        event(&json!({ "type": "error", "error": { "type": kind, "message": message } }))
    }

    fn finish(&mut self, usage: &Usage, full: bool) -> String {
        let reason = match (full, self.called) {
            (true, _) => "max_tokens",
            (false, true) => "tool_use",
            (false, false) => "end_turn",
        };
        event(&json!({
            "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": {
                "output_tokens": usage.output + usage.reasoning,
                "output_tokens_details": { "thinking_tokens": usage.reasoning },
            },
        })) + &event(&json!({ "type": "message_stop" }))
    }
}
