use lathe_provider::Usage;
use serde_json::{Value, json};

use super::{Encoder, pieces};

#[derive(Default)]
pub(super) struct Responses {
    sequence: u64,
    items: Vec<Value>,
}

impl Responses {
    fn event(&mut self, mut data: Value) -> String {
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        let name = data["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {data}\n\n")
    }

    fn response(&self, status: &str, usage: Option<Value>) -> Value {
        json!({
            "id": "resp_fake", "object": "response", "status": status, "model": "fake-model",
            "output": self.items, "usage": usage,
        })
    }

    fn added(&mut self, item: &Value) -> String {
        let index = self.items.len();
        self.event(
            json!({ "type": "response.output_item.added", "output_index": index, "item": item }),
        )
    }

    fn done(&mut self, item: Value) -> String {
        let index = self.items.len();
        self.items.push(item.clone());
        self.event(
            json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        )
    }
}

impl Encoder for Responses {
    fn begin(&mut self, _: &Usage) -> String {
        let response = self.response("in_progress", None);
        self.event(json!({ "type": "response.created", "response": response }))
            + &self.event(json!({ "type": "response.in_progress", "response": response }))
    }

    fn text(&mut self, text: &str) -> String {
        let index = self.items.len();
        let id = format!("msg_fake_{index}");
        let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
        let mut events = self.added(&json!({
            "type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": [],
        }));
        events += &self.event(json!({
            "type": "response.content_part.added", "item_id": id, "output_index": index,
            "content_index": 0, "part": empty,
        }));
        for piece in pieces(text) {
            events += &self.event(json!({
                "type": "response.output_text.delta", "item_id": id, "output_index": index,
                "content_index": 0, "delta": piece,
            }));
        }
        events += &self.event(json!({
            "type": "response.output_text.done", "item_id": id, "output_index": index,
            "content_index": 0, "text": text,
        }));
        let whole = json!({ "type": "output_text", "text": text, "annotations": [] });
        events += &self.event(json!({
            "type": "response.content_part.done", "item_id": id, "output_index": index,
            "content_index": 0, "part": whole,
        }));
        events + &self.done(json!({
            "type": "message", "id": id, "status": "completed", "role": "assistant", "content": [whole],
        }))
    }

    fn reasoning(&mut self, text: &str) -> String {
        let index = self.items.len();
        let id = format!("rs_fake_{index}");
        let mut events = self.added(&json!({ "type": "reasoning", "id": id, "summary": [] }));
        events += &self.event(json!({
            "type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
            "summary_index": 0, "part": { "type": "summary_text", "text": "" },
        }));
        for piece in pieces(text) {
            events += &self.event(json!({
                "type": "response.reasoning_summary_text.delta", "item_id": id,
                "output_index": index, "summary_index": 0, "delta": piece,
            }));
        }
        let part = json!({ "type": "summary_text", "text": text });
        events += &self.event(json!({
            "type": "response.reasoning_summary_text.done", "item_id": id, "output_index": index,
            "summary_index": 0, "text": text,
        }));
        events += &self.event(json!({
            "type": "response.reasoning_summary_part.done", "item_id": id, "output_index": index,
            "summary_index": 0, "part": part,
        }));
        events + &self.done(json!({
            "type": "reasoning", "id": id, "summary": [part], "encrypted_content": "fake-sealed",
        }))
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str) -> String {
        let index = self.items.len();
        let item_id = format!("fc_fake_{index}");
        let item = |status: &str, arguments: &str| {
            json!({
                "type": "function_call", "id": item_id, "call_id": id, "name": name,
                "arguments": arguments, "status": status,
            })
        };
        let mut events = self.added(&item("in_progress", ""));
        for piece in pieces(arguments) {
            events += &self.event(json!({
                "type": "response.function_call_arguments.delta", "item_id": item_id,
                "output_index": index, "delta": piece,
            }));
        }
        events += &self.event(json!({
            "type": "response.function_call_arguments.done", "item_id": item_id,
            "output_index": index, "arguments": arguments,
        }));
        events + &self.done(item("completed", arguments))
    }

    fn error(&mut self, kind: &str, message: &str) -> String {
        self.event(json!({ "type": "error", "code": kind, "message": message, "param": null }))
    }

    fn finish(&mut self, usage: &Usage, full: bool) -> String {
        let input = usage.input + usage.cache_read + usage.cache_write;
        let output = usage.output + usage.reasoning;
        let usage = json!({
            "input_tokens": input,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": output,
            "output_tokens_details": { "reasoning_tokens": usage.reasoning },
            "total_tokens": input + output,
        });
        if full {
            let mut response = self.response("incomplete", Some(usage));
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
            return self.event(json!({ "type": "response.incomplete", "response": response }));
        }
        let response = self.response("completed", Some(usage));
        self.event(json!({ "type": "response.completed", "response": response }))
    }
}
