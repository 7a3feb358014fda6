//! Streams of events: `/event` for one project, `/global/event` for all. [`crate::grpc`] sends
//! the same.
//!
//! Streaming text has two forms. Older clients want the whole part with each piece of text;
//! newer ones take the piece alone, which costs bytes only once. A subscriber that falls behind
//! is cut off: it connects again and reads what it missed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::response::sse::{Event as SseEvent, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use lathe_protocol::{Event, Part, PartId, ProjectId, SessionId};
use lathe_session::bus::{BusItem, Delta, Notification, NumberedNotification, Subscription};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use crate::context::{Asked, Place, Shared};
use crate::reply::{Answer, Refusal};
use crate::wire;

/// The form of streaming text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeltaForm {
    /// `message.part.updated` with the whole part and the new text.
    Part,
    /// `message.part.delta` with the new text.
    Delta,
}

#[derive(Deserialize)]
pub struct StreamQuery {
    deltas: Option<DeltaForm>,
}

/// Which events a subscriber is sent.
pub enum Scope {
    Project(ProjectId),
    Session(SessionId),
    All,
}

pub async fn project_events(
    State(shared): State<Arc<Shared>>,
    place: Place,
    Asked(query): Asked<StreamQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let form = query.deltas.unwrap_or_else(|| form_for(&headers));
    open(shared, Scope::Project(place.project.id), form)
}

pub async fn all_events(
    State(shared): State<Arc<Shared>>,
    Asked(query): Asked<StreamQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let form = query.deltas.unwrap_or_else(|| form_for(&headers));
    open(shared, Scope::All, form)
}

/// Clients from 1.2 on read the short form and give their version; every client reads the long
/// one.
fn form_for(headers: &HeaderMap) -> DeltaForm {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.and_then(|value| value.to_str().ok());
    let version = agent.unwrap_or_default().strip_prefix("opencode/");
    let mut numbers = version.unwrap_or_default().split('.');
    let mut number = || numbers.next()?.parse::<u32>().ok();
    match (number(), number()) {
        (Some(major), Some(minor)) if (major, minor) >= (1, 2) => DeltaForm::Delta,
        _ => DeltaForm::Part,
    }
}

fn open(shared: Arc<Shared>, scope: Scope, form: DeltaForm) -> Answer<Response> {
    let in_envelope = matches!(scope, Scope::All);
    let subscriber = Subscriber::new(shared, scope, form)?;
    let events = stream::unfold(subscriber, move |mut subscriber| async move {
        let sent = subscriber.next().await.ok()?;
        let id = subscriber.sent.to_string();
        let data = if in_envelope {
            sent.in_envelope()
        } else {
            sent.payload
        };
        let event = SseEvent::default().id(id).data(data.to_string());
        Some((Ok::<_, Infallible>(event), subscriber))
    });
    let mut response = Sse::new(events).into_response();
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    let headers = response.headers_mut();
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    Ok(response)
}

/// An event in the form that the clients read.
pub struct Sent {
    pub payload: Value,
    directory: Option<String>,
}

impl Sent {
    fn in_envelope(self) -> Value {
        match self.directory {
            Some(directory) => json!({ "directory": directory, "payload": self.payload }),
            None => json!({ "payload": self.payload }),
        }
    }
}

/// Why a stream ends.
pub enum StreamEnd {
    Closing,
    /// The subscriber fell behind. It connects again and reads what it missed.
    Behind,
}

pub struct Subscriber {
    shared: Arc<Shared>,
    events: Subscription,
    scope: Scope,
    form: DeltaForm,
    /// The parts that text streams into, as this subscriber knows them.
    streaming: HashMap<PartId, Part>,
    heartbeat: Interval,
    sent: u64,
    _permit: OwnedSemaphorePermit,
}

impl Subscriber {
    pub fn new(shared: Arc<Shared>, scope: Scope, form: DeltaForm) -> Answer<Self> {
        let permit = shared.subscribers.clone().try_acquire_owned();
        let permit =
            permit.map_err(|_| Refusal::TooMany("There are too many subscribers".into()))?;
        let beat = shared.limits.heartbeat;
        let mut heartbeat = interval_at(tokio::time::Instant::now() + beat, beat);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Subscriber {
            events: shared.sessions.subscribe(),
            shared,
            scope,
            form,
            streaming: HashMap::new(),
            heartbeat,
            sent: 0,
            _permit: permit,
        })
    }

    pub async fn next(&mut self) -> Result<Sent, StreamEnd> {
        let sent = if self.sent == 0 {
            of_server("server.connected")
        } else {
            self.wait().await?
        };
        self.sent += 1;
        self.heartbeat.reset();
        Ok(sent)
    }

    async fn wait(&mut self) -> Result<Sent, StreamEnd> {
        let closing = self.shared.closing.clone();
        loop {
            let item = tokio::select! {
                () = closing.cancelled() => return Err(StreamEnd::Closing),
                _ = self.heartbeat.tick() => return Ok(of_server("server.heartbeat")),
                item = self.events.next() => item.ok_or(StreamEnd::Closing)?,
            };
            let BusItem::Notification(numbered) = item else {
                tracing::info!("a subscriber fell behind and was cut off");
                return Err(StreamEnd::Behind);
            };
            let directory = match self.locate(&numbered).await {
                Located::Elsewhere => continue,
                Located::In(directory) => directory,
            };
            let payload = match &numbered.notification {
                Notification::Event(event) => {
                    self.follow(event);
                    Some(wire::core_event(event))
                }
                Notification::Delta(delta) => self.delta(delta),
                Notification::Queue(_) | Notification::Review(_) => None,
            };
            if let Some(payload) = payload {
                return Ok(Sent { payload, directory });
            }
        }
    }

    /// Remembers the parts that text streams into.
    fn follow(&mut self, event: &Event) {
        if self.form == DeltaForm::Delta {
            return;
        }
        match event {
            Event::MessagePartUpdated(updated) => {
                let part = &updated.part;
                let ended = match part {
                    Part::Text(text) => text.time.as_ref().is_none_or(|time| time.end.is_some()),
                    Part::Reasoning(reasoning) => reasoning.time.end.is_some(),
                    _ => return,
                };
                if ended {
                    self.streaming.remove(part.id());
                } else {
                    self.streaming.insert(part.id().clone(), part.clone());
                }
            }
            Event::MessagePartRemoved { part_id, .. } => {
                self.streaming.remove(part_id);
            }
            _ => {}
        }
    }

    fn delta(&mut self, delta: &Delta) -> Option<Value> {
        if self.form == DeltaForm::Delta {
            return Some(wire::delta(delta));
        }
        let known = self.streaming.remove(&delta.part_id);
        let mut part = known.or_else(|| self.shared.sessions.streaming(&delta.part_id))?;
        let text = match &mut part {
            Part::Text(text) => &mut text.text,
            Part::Reasoning(reasoning) => &mut reasoning.text,
            _ => return None,
        };
        if !text.is_char_boundary(delta.at) {
            return None;
        }
        // A part that was read only now may already have more text.
        text.truncate(delta.at);
        text.push_str(&delta.text);
        let payload = wire::part_updated(&part, Some(&delta.text));
        self.streaming.insert(delta.part_id.clone(), part);
        Some(payload)
    }

    /// Whether this subscriber is sent a notification, and the folder it is about.
    async fn locate(&self, numbered: &NumberedNotification) -> Located {
        let Some(session) = numbered.session_id() else {
            return Located::In(None);
        };
        if let Notification::Event(event) = &numbered.notification
            && let Event::SessionCreated { info }
            | Event::SessionUpdated { info }
            | Event::SessionDeleted { info } = &**event
        {
            let place = (info.project_id.clone(), info.directory.clone());
            self.shared.places.lock().insert(session.clone(), place);
        }
        let Some((project, directory)) = self.place_of(session).await else {
            return Located::Elsewhere;
        };
        match &self.scope {
            Scope::Project(wanted) if *wanted != project => Located::Elsewhere,
            Scope::Session(wanted) if wanted != session => Located::Elsewhere,
            _ => Located::In(Some(directory)),
        }
    }

    async fn place_of(&self, session: &SessionId) -> Option<(ProjectId, String)> {
        let known = self.shared.places.lock().get(session).cloned();
        if known.is_some() {
            return known;
        }
        let info = self.shared.sessions.get(session).await.ok()?;
        let place = (info.project_id, info.directory);
        let mut places = self.shared.places.lock();
        places.insert(session.clone(), place.clone());
        Some(place)
    }
}

/// An event that is about no session.
fn of_server(kind: &str) -> Sent {
    Sent {
        payload: wire::event(kind, json!({})),
        directory: None,
    }
}

enum Located {
    Elsewhere,
    In(Option<String>),
}
