//! The fake model as a program, to try things by hand.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program"
)]

use std::{process::ExitCode, time::Duration};

use lathe_provider::WireKind;
use lathe_test_support::fake_model::{FakeModel, Script};

const HELP: &str = r#"A model server that answers from a script, on loopback.

    cargo run -p lathe-test-support --bin fake-model -- SCRIPT.json [PORT]

It speaks four APIs and tells by the path which one is meant:
    POST /v1/messages                              Anthropic Messages
    POST /v1/chat/completions                      OpenAI Chat Completions
    POST /v1/responses                             OpenAI Responses
    POST /v1beta/models/ANY:streamGenerateContent  Gemini
    GET  /v1/models, /api/tags                     lists "fake-model"

The script:
    {
      "replies": [ REPLY, … ],      given in this order, one a request
      "repeat": true,               start again at the end (default: refuse with 400)
      "forget": true,               neither check nor store the requests
      "title": "My session",        answer to requests for a title
      "chunk": 5                    write so many bytes at a time (default: whole events)
    }

A REPLY is one of
    { "say": [ ITEM, … ] }          a stream; it ends well unless an item says otherwise
    { "refuse": { "status": 429, "headers": { "retry-after": "2" }, "body": { … } } }
    "hang"                          takes the request and never answers
    "drop"                          resets the connection without a byte
    "empty"                         status 200 and nothing in it

An ITEM is one of
    { "text": "Hello" }
    { "reasoning": "Hmm" }
    { "call": { "name": "read", "input": { "filePath": "a.txt" } } }
    { "raw-call": { "name": "read", "arguments": "{not json" } }
    { "pause": 500 }                silence, in milliseconds
    { "error": { "kind": "overloaded_error", "message": "Overloaded" } }
    { "usage": { "input": 100, "output": 20, "reasoning": 0, "cacheRead": 0, "cacheWrite": 0 } }
    "stall"                         silence for ever
    "reset"                         the connection is reset here
    "cut"                           the body ends here, without its terminal event
    "bad-json"                      an event that is not JSON
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [script] if script != "--help" && script != "-h" => run(script, "0").await,
        [script, port] => run(script, port).await,
        _ => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
    }
}

async fn run(path: &str, port: &str) -> ExitCode {
    match serve(path, port).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-model: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(path: &str, port: &str) -> Result<(), Box<dyn std::error::Error>> {
    let script: Script = serde_json::from_slice(&std::fs::read(path)?)?;
    let model = FakeModel::start_at(port.parse()?).await?;
    if let Some(title) = &script.title {
        model.title(title);
    }
    model.split(script.chunk);
    if script.forget {
        model.forget();
    }
    if script.repeat {
        model.repeat(script.replies);
    } else {
        for reply in script.replies {
            model.reply_with(reply);
        }
    }
    println!("Listening on {}", model.url());
    println!(
        "Base URL (OpenAI, Anthropic): {}",
        model.base_url(WireKind::OpenaiChat)
    );
    println!(
        "Base URL (Gemini):            {}",
        model.base_url(WireKind::Gemini)
    );
    let mut seen = 0;
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(100)) => {}
        }
        for request in model.take_requests() {
            seen += 1;
            println!("#{seen} {:?}: {}", request.wire, request.prompt());
        }
        for offence in model.take_violations() {
            println!("   {offence}");
        }
    }
}
