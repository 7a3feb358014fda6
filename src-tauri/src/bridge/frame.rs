//! Gathers the updates of one frame and renders them.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use lathe_protocol::ipc::UiUpdate;
use lathe_protocol::{Event, Part, PartId, SessionId};
use lathe_render::markdown::Stream;
use lathe_session::Sessions;
use lathe_session::bus::{Delta, Notification, ReviewNews};

use super::bound::Bound;
use super::view::{self, Roots};

pub struct Frame {
    sessions: Sessions,
    roots: Roots,
    updates: Vec<Pending>,
    streams: HashMap<PartId, Live>,
    /// Parts that could not be rendered while they stream, and their sessions.
    undrawable: HashMap<PartId, SessionId>,
}

#[allow(clippy::large_enum_variant, reason = "lives for one frame")]
enum Pending {
    Ready(UiUpdate),
    /// Only the newest state of a part in a frame is sent.
    Part(Arc<Event>),
    /// Text appended to a streaming part, gathered so that it is rendered once.
    Text(Arc<Delta>, String),
}

/// A part with streaming text, rendered up to byte `length`.
struct Live {
    session: SessionId,
    stream: Stream,
    bound: Bound,
    length: usize,
}

impl Frame {
    pub fn new(sessions: Sessions, roots: Roots) -> Self {
        Frame {
            sessions,
            roots,
            updates: Vec::new(),
            streams: HashMap::new(),
            undrawable: HashMap::new(),
        }
    }

    pub fn add(&mut self, update: UiUpdate) {
        self.updates.push(Pending::Ready(update));
    }

    /// These sessions must be opened again; what was gathered is obsolete.
    pub fn reset(&mut self, sessions: Vec<SessionId>) {
        self.updates.clear();
        self.streams.clear();
        self.undrawable.clear();
        for session_id in sessions {
            self.add(UiUpdate::Reset { session_id });
        }
    }

    pub fn forget(&mut self, session: &SessionId) {
        self.streams.retain(|_, live| live.session != *session);
        self.undrawable.retain(|_, of| of != session);
    }

    pub fn take(&mut self, notification: Notification, open: bool) {
        match notification {
            Notification::Delta(delta) if open => self.take_delta(delta),
            Notification::Queue(waiting) if open => self.add(UiUpdate::Queue {
                session_id: waiting.session_id.clone(),
                messages: waiting.messages.clone(),
            }),
            Notification::Review(news) => match &*news {
                ReviewNews::Changed { session_id, files } => self.add(UiUpdate::Review {
                    session_id: session_id.clone(),
                    files: files.clone(),
                }),
                ReviewNews::Outside { session_id, path } => self.add(UiUpdate::Outside {
                    session_id: session_id.clone(),
                    path: path.clone(),
                }),
            },
            Notification::Delta(_) | Notification::Queue(_) => {}
            Notification::Event(event) => match &*event {
                Event::MessagePartUpdated(updated) if open => {
                    self.supersede(updated.part.id());
                    self.updates.push(Pending::Part(event));
                }
                Event::MessagePartUpdated(_) => {}
                Event::MessageUpdated { .. }
                | Event::MessageRemoved { .. }
                | Event::MessagePartRemoved { .. }
                    if !open => {}
                // Nothing streams any more, whether the end of it was for this window or not.
                Event::SessionIdle { session_id } => {
                    self.forget(session_id);
                    self.add(UiUpdate::Event {
                        event: (*event).clone(),
                    });
                }
                event => self.add(UiUpdate::Event {
                    event: event.clone().shortened(),
                }),
            },
        }
    }

    pub fn finish(&mut self) -> Vec<UiUpdate> {
        let pending = std::mem::take(&mut self.updates);
        pending
            .into_iter()
            .filter_map(|one| self.render_safely(one))
            .collect()
    }

    fn take_delta(&mut self, delta: Arc<Delta>) {
        let gathered = self.updates.iter_mut().rev().find_map(|one| match one {
            Pending::Text(first, text) if first.part_id == delta.part_id => Some((first.at, text)),
            _ => None,
        });
        match gathered {
            Some((at, text)) if at + text.len() == delta.at => text.push_str(&delta.text),
            _ => {
                let text = delta.text.clone();
                self.updates.push(Pending::Text(delta, text));
            }
        }
    }

    /// An update of the whole part replaces what was gathered for it.
    fn supersede(&mut self, part: &PartId) {
        self.updates.retain(|one| match one {
            Pending::Part(event) => {
                !matches!(&**event, Event::MessagePartUpdated(older) if older.part.id() == part)
            }
            Pending::Text(delta, _) => delta.part_id != *part,
            Pending::Ready(_) => true,
        });
    }

    /// After a fault of the renderer the part is shown as it is, and is sent whole when it has
    /// ended. It is not tried again with every piece of text: it would fail again.
    fn render_safely(&mut self, one: Pending) -> Option<UiUpdate> {
        let streaming = match &one {
            Pending::Text(delta, _) => Some(delta.clone()),
            Pending::Part(_) | Pending::Ready(_) => None,
        };
        let rendered = panic::catch_unwind(AssertUnwindSafe(|| self.render(one)));
        rendered.unwrap_or_else(|_| {
            // The stream that failed is among them, and is in no known state.
            self.streams.clear();
            let delta = streaming?;
            let session = delta.session_id.clone();
            self.undrawable.insert(delta.part_id.clone(), session);
            let part = self.sessions.streaming(&delta.part_id)?;
            let part = view::plain_part(part);
            Some(UiUpdate::Part { part })
        })
    }

    fn render(&mut self, one: Pending) -> Option<UiUpdate> {
        match one {
            Pending::Ready(update) => Some(update),
            Pending::Part(event) => match &*event {
                Event::MessagePartUpdated(updated) => Some(self.render_part(&updated.part)),
                _ => None,
            },
            Pending::Text(delta, text) => self.render_text(&delta, &text),
        }
    }

    fn render_part(&mut self, part: &Part) -> UiUpdate {
        self.streams.remove(part.id());
        self.undrawable.remove(part.id());
        let options = self.roots.markdown(part.session_id());
        UiUpdate::Part {
            part: view::part(part.clone(), &options),
        }
    }

    fn render_text(&mut self, delta: &Delta, text: &str) -> Option<UiUpdate> {
        if self.undrawable.contains_key(&delta.part_id) {
            return None;
        }
        let Some(live) = self.streams.get_mut(&delta.part_id) else {
            return self.catch_up(&delta.part_id);
        };
        let end = delta.at + text.len();
        if end <= live.length {
            return None;
        }
        if delta.at > live.length {
            return self.catch_up(&delta.part_id);
        }
        let drawn = live.bound.push(&text[live.length - delta.at..]);
        live.length = end;
        if drawn.is_empty() {
            return None;
        }
        #[cfg(test)]
        super::tests::fail_if_undrawable(&drawn);
        let update = live.stream.push(&drawn);
        Some(UiUpdate::Blocks {
            session_id: delta.session_id.clone(),
            message_id: delta.message_id.clone(),
            part_id: delta.part_id.clone(),
            keep: update.keep as u32,
            blocks: update.blocks,
        })
    }

    /// For the first delta of a part, or after a gap: starts over with the part's whole text.
    fn catch_up(&mut self, id: &PartId) -> Option<UiUpdate> {
        // A part that has ended is sent whole by its own event.
        let part = self.sessions.streaming(id)?;
        let text = view::text(&part)?.to_owned();
        let mut stream = Stream::new(self.roots.markdown(part.session_id()));
        let mut bound = Bound::default();
        #[cfg(test)]
        super::tests::fail_if_undrawable(&text);
        let blocks = stream.push(&bound.push(&text)).blocks;
        let cut = bound.is_cut;
        let live = Live {
            session: part.session_id().clone(),
            stream,
            bound,
            length: text.len(),
        };
        self.streams.insert(id.clone(), live);
        let part = view::of(part, Some(blocks), cut);
        Some(UiUpdate::Part { part })
    }
}

#[cfg(test)]
mod tests;
