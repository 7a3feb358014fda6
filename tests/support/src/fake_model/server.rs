//! Reads a request from a connection and writes a scripted reply.

use std::{collections::BTreeMap, io, sync::Arc, time::Duration};

use lathe_provider::{Usage, WireKind};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use super::{
    Shared,
    encoder::{Encoder, encoder_for},
    http::{self, Body, Request},
    request::SeenRequest,
    script::{Item, Refusal, Reply},
};

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // Some tests close the connection early.
            let _ = handle(socket, &shared).await;
        });
    }
}

async fn handle(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = http::read(&mut socket).await? else {
        return Ok(());
    };
    let Some(wire) = wire_of(&request) else {
        return list_models(&mut socket, &request).await;
    };
    let (reply, chunk) = shared.choose_reply(wire, &request);
    match reply {
        Reply::Refuse(Refusal {
            status,
            headers,
            body,
        }) => {
            let body = match body {
                Value::Null => Vec::new(),
                Value::String(text) => text.into_bytes(),
                body => body.to_string().into_bytes(),
            };
            http::respond(&mut socket, status, &headers, &body).await
        }
        Reply::Hang => http::wait_for_hangup(&mut socket).await,
        Reply::Drop => http::reset(&socket),
        Reply::Empty => Body::start(&mut socket, 0).await?.end().await,
        Reply::Say(items) => {
            let body = Body::start(&mut socket, chunk).await?;
            ReplyWriter {
                body,
                encoder: encoder_for(wire),
                usage: Usage {
                    input: 100,
                    output: 20,
                    ..Usage::default()
                },
            }
            .write(items, shared)
            .await
        }
    }
}

fn wire_of(request: &Request) -> Option<WireKind> {
    let path = request.path.split('?').next().unwrap_or_default();
    match path {
        _ if request.method != "POST" => None,
        path if path.ends_with("/messages") => Some(WireKind::Anthropic),
        path if path.ends_with("/chat/completions") => Some(WireKind::OpenaiChat),
        path if path.ends_with("/responses") => Some(WireKind::OpenaiResponses),
        path if path.ends_with(":streamGenerateContent") => Some(WireKind::Gemini),
        _ => None,
    }
}

/// The lists of models for discovery and for "test connection".
async fn list_models(socket: &mut TcpStream, request: &Request) -> io::Result<()> {
    let body = match request.path.as_str() {
        "/api/tags" => json!({ "models": [{ "name": "fake-model" }] }),
        "/v1/models" => {
            json!({ "object": "list", "data": [{ "id": "fake-model", "object": "model" }] })
        }
        "/v1beta/models" => json!({ "models": [{ "name": "models/fake-model" }] }),
        _ => {
            let body = json!({ "error": { "message": "the fake model has nothing here" } });
            return http::respond(socket, 404, &BTreeMap::new(), body.to_string().as_bytes()).await;
        }
    };
    http::respond(socket, 200, &BTreeMap::new(), body.to_string().as_bytes()).await
}

impl Shared {
    fn choose_reply(&self, wire: WireKind, request: &Request) -> (Reply, usize) {
        let records_nothing = self.lock().records_nothing;
        let seen = match records_nothing {
            true => SeenRequest::glance(wire, request),
            false => SeenRequest::read(wire, request),
        };
        let mut state = self.lock();
        let chunk = state.chunk;
        if seen.is_for_title() {
            let title = state.title.clone();
            state.titles.push(seen);
            return (Reply::Say(vec![Item::Text(title)]), chunk);
        }
        if !records_nothing {
            state.requests.push(seen.clone());
        }
        let unanswered = seen.unanswered();
        if !unanswered.is_empty() {
            let violation = format!("tool calls without a result: {}", unanswered.join(", "));
            state.violations.push(violation.clone());
            return (refusal(&violation), chunk);
        }
        state.repeat_replies();
        let Some((reply, slot)) = state.replies.pop_front() else {
            let violation = format!("request {} has no scripted reply", state.requests.len());
            state.violations.push(violation.clone());
            return (refusal(&violation), chunk);
        };
        *super::lock(&slot) = Some(seen);
        drop(state);
        self.asked.notify_waiters();
        (reply, chunk)
    }

    fn next_call(&self) -> usize {
        let mut state = self.lock();
        state.calls += 1;
        state.calls
    }
}

fn refusal(message: &str) -> Reply {
    Reply::Refuse(Refusal::new(400, &[], message))
}

/// Writes one reply.
struct ReplyWriter<'a> {
    body: Body<'a>,
    encoder: Box<dyn Encoder>,
    usage: Usage,
}

impl ReplyWriter<'_> {
    async fn write(mut self, items: Vec<Item>, shared: &Shared) -> io::Result<()> {
        // Some wires report usage first.
        for item in &items {
            if let Item::Usage(usage) = item {
                self.usage = *usage;
            }
        }
        let full = items.iter().any(|item| matches!(item, Item::Full));
        let opening = self.encoder.begin(&self.usage);
        self.body.write(opening.as_bytes()).await?;
        for item in items {
            let events = match item {
                Item::Text(text) => self.encoder.text(&text),
                Item::Reasoning(text) => self.encoder.reasoning(&text),
                Item::Call { name, input } => self.call(shared, &name, &input.to_string()),
                Item::RawCall { name, arguments } => self.call(shared, &name, &arguments),
                Item::Error { kind, message } => self.encoder.error(&kind, &message),
                Item::BadJson => "data: {\"type\": oops\n\n".to_owned(),
                Item::Usage(_) | Item::Full => String::new(),
                Item::Pause(milliseconds) => {
                    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                    String::new()
                }
                Item::Hold(gate) => {
                    gate.wait().await;
                    String::new()
                }
                Item::Stall => return self.body.stall().await,
                Item::Cut => return self.body.end().await,
                Item::Reset => {
                    http::settle().await;
                    return self.body.reset();
                }
            };
            self.body.write(events.as_bytes()).await?;
        }
        let closing = self.encoder.finish(&self.usage, full);
        self.body.write(closing.as_bytes()).await?;
        self.body.end().await
    }

    fn call(&mut self, shared: &Shared, name: &str, arguments: &str) -> String {
        let id = format!("call_{}", shared.next_call());
        self.encoder.call(&id, name, arguments)
    }
}
