//! How fast each wire decodes, and how often it allocates.
//!
//! Prints one JSON object per line. `ours` is the time in seconds to decode 20,000 deltas in
//! chunks of 1,400 bytes (one packet); `baseline` is the time to parse the JSON of the same
//! events into plain values, which any decoder has to do in some form.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reports"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    fmt::Write as _,
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use lathe_provider::{StreamEvent, WireKind};
use serde_json::{Value, json};

const DELTAS: usize = 20_000;
const PACKET: usize = 1_400;
const ROUNDS: usize = 5;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
#[allow(unsafe_code, reason = "an allocator cannot be written without it")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    for (name, kind, stream) in [
        ("anthropic", WireKind::Anthropic, anthropic()),
        ("openai_chat", WireKind::OpenaiChat, chat()),
        ("openai_responses", WireKind::OpenaiResponses, responses()),
        ("gemini", WireKind::Gemini, gemini()),
    ] {
        let baseline = best(|| plain_json(&stream));
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let deltas = decode(kind, &stream);
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let ours = best(|| decode(kind, &stream));
        println!(
            "{}",
            json!({
                "name": format!("decode/{name}"),
                "ours": ours,
                "baseline": baseline,
                "ratio": ours / baseline,
                "bytesPerSecond": stream.len() as f64 / ours,
                "allocationsPerDelta": allocations as f64 / deltas as f64,
            })
        );
    }
}

fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    let times = (0..ROUNDS).map(|_| {
        let began = Instant::now();
        black_box(run());
        began.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Returns the number of decoded deltas.
fn decode(kind: WireKind, stream: &str) -> usize {
    let mut decoder = kind.codec().expect("a wire with a codec").decoder();
    let mut events = Vec::new();
    let mut deltas = 0;
    for packet in stream.as_bytes().chunks(PACKET) {
        decoder.feed(packet, &mut events);
        deltas += events.drain(..).filter(is_delta).count();
    }
    decoder.end(&mut events);
    assert!(deltas >= DELTAS, "{kind:?} lost deltas: {deltas}");
    deltas
}

fn is_delta(event: &StreamEvent) -> bool {
    matches!(event, StreamEvent::TextDelta { .. })
}

fn plain_json(stream: &str) -> usize {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .filter(|value| black_box(value).is_object())
        .count()
}

fn frames(named: bool, events: impl Iterator<Item = Value>) -> String {
    let mut stream = String::new();
    for event in events {
        if named {
            let _ = writeln!(
                stream,
                "event: {}",
                event["type"].as_str().unwrap_or_default()
            );
        }
        let _ = write!(stream, "data: {event}\n\n");
    }
    stream
}

fn words() -> impl Iterator<Item = String> {
    (0..DELTAS).map(|at| format!(" word{at}"))
}

fn anthropic() -> String {
    let start = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
    let deltas = words().map(|text| {
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
    });
    frames(true, std::iter::once(start).chain(deltas))
}

fn chat() -> String {
    frames(
        false,
        words().map(|text| {
            json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{ "index": 0, "delta": { "content": text }, "logprobs": null, "finish_reason": null }],
            })
        }),
    )
}

fn responses() -> String {
    let item = json!({ "type": "message", "id": "msg_1", "status": "in_progress", "role": "assistant", "content": [] });
    let part = json!({ "type": "output_text", "text": "", "annotations": [] });
    let opening = [
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part }),
    ];
    let deltas = words().map(|text| {
        json!({
            "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": text, "sequence_number": 4,
        })
    });
    frames(true, opening.into_iter().chain(deltas))
}

fn gemini() -> String {
    frames(
        false,
        words().map(|text| {
            json!({
                "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "index": 0 }],
                "usageMetadata": { "promptTokenCount": 10, "totalTokenCount": 10 },
                "modelVersion": "m",
            })
        }),
    )
}
