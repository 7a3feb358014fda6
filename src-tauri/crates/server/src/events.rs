//! Streams of events: `/event` for one project, `/global/event` for all. [`crate::grpc`] sends
//! the same.
//!
//! Streaming text has two forms. Older clients want the whole part with each piece of text;
//! newer ones take the piece alone, which costs bytes only once. A subscriber that falls behind
//! is cut off: it connects again and reads what it missed.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use lathe_protocol::{Event, ProjectId, SessionId};
use lathe_session::bus::{BusItem, Notification, Subscription};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, broadcast};
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use crate::context::{Asked, Place, SessionPlace, Shared};
use crate::frames::{DeltaForm, in_envelope_of};
use crate::reply::{Answer, Refusal};
use crate::terminals::TerminalNews;
use crate::wire;

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
    let subscriber = Subscriber::new(shared, scope, form)?;
    let frames = stream::unfold(subscriber, |mut subscriber| async move {
        let frame = subscriber.next_frame().await.ok()?;
        Some((Ok::<_, Infallible>(frame), subscriber))
    });
    let mut response = Response::new(Body::from_stream(frames));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Something that a subscriber is sent.
enum Item {
    /// About no session.
    Server(&'static str),
    Core(Notification, Option<Arc<SessionPlace>>),
    Terminal(Arc<TerminalNews>),
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
    terminals: broadcast::Receiver<Arc<TerminalNews>>,
    scope: Scope,
    form: DeltaForm,
    heartbeat: Interval,
    is_connected: bool,
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
            terminals: shared.terminals.subscribe(),
            shared,
            scope,
            form,
            heartbeat,
            is_connected: false,
            _permit: permit,
        })
    }

    /// The bytes of the next event.
    async fn next_frame(&mut self) -> Result<Bytes, StreamEnd> {
        let in_envelope = matches!(self.scope, Scope::All);
        loop {
            let item = self.next_item().await?;
            let (payload, directory) = match &item {
                Item::Core(notification, place) => {
                    let directory = place.as_ref().map(|place| place.directory.as_str());
                    let envelope = in_envelope.then_some(directory);
                    let (frames, sessions) = (&self.shared.frames, &self.shared.sessions);
                    match frames.of(sessions, notification, self.form, envelope) {
                        Some(frame) => return Ok(frame),
                        None => continue,
                    }
                }
                Item::Server(kind) => (wire::event(kind, json!({})), None),
                Item::Terminal(news) => (news.payload.clone(), Some(news.directory.as_str())),
            };
            let data = match in_envelope {
                true => in_envelope_of(directory, payload),
                false => payload,
            };
            return Ok(Bytes::from(format!("data: {data}\n\n")));
        }
    }

    /// The next event as a value, without its envelope.
    pub async fn next_payload(&mut self) -> Result<Value, StreamEnd> {
        loop {
            let payload = match self.next_item().await? {
                Item::Server(kind) => Some(wire::event(kind, json!({}))),
                Item::Terminal(news) => Some(news.payload.clone()),
                Item::Core(notification, _) => {
                    let (frames, sessions) = (&self.shared.frames, &self.shared.sessions);
                    frames.payload(sessions, &notification, self.form)
                }
            };
            if let Some(payload) = payload {
                return Ok(payload);
            }
        }
    }

    async fn next_item(&mut self) -> Result<Item, StreamEnd> {
        if !self.is_connected {
            self.is_connected = true;
            return Ok(Item::Server("server.connected"));
        }
        let item = self.wait().await?;
        self.heartbeat.reset();
        Ok(item)
    }

    async fn wait(&mut self) -> Result<Item, StreamEnd> {
        let closing = self.shared.closing.clone();
        loop {
            let item = tokio::select! {
                () = closing.cancelled() => return Err(StreamEnd::Closing),
                _ = self.heartbeat.tick() => return Ok(Item::Server("server.heartbeat")),
                news = self.terminals.recv() => match news {
                    Ok(news) if self.wants(&news) => return Ok(Item::Terminal(news)),
                    Ok(_) | Err(broadcast::error::RecvError::Closed) => continue,
                    Err(broadcast::error::RecvError::Lagged(_)) => return Err(StreamEnd::Behind),
                },
                item = self.events.next() => item.ok_or(StreamEnd::Closing)?,
            };
            let BusItem::Notification(numbered) = item else {
                tracing::info!("a subscriber fell behind and was cut off");
                return Err(StreamEnd::Behind);
            };
            let notification = numbered.notification;
            if let Located::In(place) = self.locate(&notification).await {
                return Ok(Item::Core(notification, place));
            }
        }
    }

    fn wants(&self, news: &TerminalNews) -> bool {
        match &self.scope {
            Scope::Project(wanted) => *wanted == news.project,
            Scope::Session(_) => false,
            Scope::All => true,
        }
    }

    /// Whether this subscriber is sent a notification, and the folder it is about.
    async fn locate(&self, notification: &Notification) -> Located {
        let session = match notification {
            Notification::Event(event) => event.session_id(),
            Notification::Delta(delta) => Some(&delta.session_id),
            Notification::Queue(_) | Notification::Review(_) => return Located::Elsewhere,
        };
        let Some(session) = session else {
            return Located::In(None);
        };
        if let Notification::Event(event) = notification
            && let Event::SessionCreated { info }
            | Event::SessionUpdated { info }
            | Event::SessionDeleted { info } = &**event
        {
            self.shared.note_place(info);
        }
        let Some(place) = self.shared.place_of(session).await else {
            return Located::Elsewhere;
        };
        match &self.scope {
            Scope::Project(wanted) if *wanted != place.project => Located::Elsewhere,
            Scope::Session(wanted) if wanted != session => Located::Elsewhere,
            _ => Located::In(Some(place)),
        }
    }
}

enum Located {
    Elsewhere,
    In(Option<Arc<SessionPlace>>),
}
