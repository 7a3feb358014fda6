//! Events as the bytes of a stream, encoded once for all subscribers.
//!
//! A subscriber that is as fast as the others finds what they were sent; a slower one encodes
//! again. So the memory does not grow with the number of subscribers, nor with how far they are
//! behind.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use lathe_protocol::{Event, Part, PartId};
use lathe_session::Sessions;
use lathe_session::bus::{Delta, Notification};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wire;

/// Frames that are held for those who come a little later.
const MOST_FRAMES: usize = 256;
const MOST_BYTES: usize = 1024 * 1024;
/// Parts that have ended, for subscribers that are still in the middle of them.
const MOST_ENDED: usize = 16;

/// The form of streaming text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeltaForm {
    /// `message.part.updated` with the whole part and the new text.
    Part,
    /// `message.part.delta` with the new text.
    Delta,
}

#[derive(Default)]
pub struct Frames {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The newest last.
    recent: VecDeque<Recent>,
    bytes: usize,
    encoded: u64,
    parts: StreamingParts,
}

struct Recent {
    /// Held, so that no other has its address.
    notification: Notification,
    form: DeltaForm,
    in_envelope: bool,
    frame: Bytes,
}

impl Frames {
    /// The frame of a notification; `None` if these clients are not sent it. With a directory it
    /// is in the envelope of the stream of all projects.
    pub fn of(
        &self,
        sessions: &Sessions,
        notification: &Notification,
        form: DeltaForm,
        envelope: Option<Option<&str>>,
    ) -> Option<Bytes> {
        let in_envelope = envelope.is_some();
        let mut state = self.state.lock();
        let known = state.recent.iter().rev().find(|recent| {
            recent.form == form
                && recent.in_envelope == in_envelope
                && is_same(&recent.notification, notification)
        });
        if let Some(known) = known {
            return Some(known.frame.clone());
        }
        let payload = state.parts.payload(sessions, notification, form)?;
        let data = match envelope {
            Some(directory) => in_envelope_of(directory, payload),
            None => payload,
        };
        state.encoded += 1;
        let frame = Bytes::from(format!("id: {}\ndata: {data}\n\n", state.encoded));
        state.keep(Recent {
            notification: notification.clone(),
            form,
            in_envelope,
            frame: frame.clone(),
        });
        Some(frame)
    }

    /// The same as a value.
    pub fn payload(
        &self,
        sessions: &Sessions,
        notification: &Notification,
        form: DeltaForm,
    ) -> Option<Value> {
        let parts = &mut self.state.lock().parts;
        parts.payload(sessions, notification, form)
    }
}

impl State {
    fn keep(&mut self, recent: Recent) {
        self.bytes += recent.frame.len();
        self.recent.push_back(recent);
        while (self.bytes > MOST_BYTES || self.recent.len() > MOST_FRAMES)
            && let Some(oldest) = self.recent.pop_front()
        {
            self.bytes -= oldest.frame.len();
        }
    }
}

pub fn in_envelope_of(directory: Option<&str>, payload: Value) -> Value {
    match directory {
        Some(directory) => json!({ "directory": directory, "payload": payload }),
        None => json!({ "payload": payload }),
    }
}

fn is_same(one: &Notification, other: &Notification) -> bool {
    match (one, other) {
        (Notification::Event(one), Notification::Event(other)) => Arc::ptr_eq(one, other),
        (Notification::Delta(one), Notification::Delta(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

/// The parts that text streams into, with all the text that any subscriber was sent.
#[derive(Default)]
struct StreamingParts {
    parts: HashMap<PartId, Part>,
    ended: VecDeque<PartId>,
}

impl StreamingParts {
    fn payload(
        &mut self,
        sessions: &Sessions,
        notification: &Notification,
        form: DeltaForm,
    ) -> Option<Value> {
        match (notification, form) {
            (Notification::Event(event), DeltaForm::Delta) => Some(wire::core_event(event)),
            (Notification::Event(event), DeltaForm::Part) => {
                self.follow(event);
                Some(wire::core_event(event))
            }
            (Notification::Delta(delta), DeltaForm::Delta) => Some(wire::delta(delta)),
            (Notification::Delta(delta), DeltaForm::Part) => {
                let part = self.at(|id| sessions.streaming(id), delta)?;
                Some(wire::part_updated(&part, Some(&delta.text)))
            }
            (Notification::Queue(_) | Notification::Review(_), _) => None,
        }
    }

    fn follow(&mut self, event: &Event) {
        match event {
            Event::MessagePartUpdated(updated) => {
                let part = &updated.part;
                let Some(text) = text_of(part) else { return };
                // A slower subscriber is still at an earlier text.
                let known = self.parts.get(part.id()).and_then(text_of);
                if known.is_none_or(|known| known.len() < text.len()) {
                    self.parts.insert(part.id().clone(), part.clone());
                }
                if has_ended(part) && !self.ended.contains(part.id()) {
                    self.ended.push_back(part.id().clone());
                }
                if self.ended.len() > MOST_ENDED
                    && let Some(oldest) = self.ended.pop_front()
                {
                    self.parts.remove(&oldest);
                }
            }
            Event::MessagePartRemoved { part_id, .. } => {
                self.parts.remove(part_id);
            }
            _ => {}
        }
    }

    /// The part as it was right after a piece of text.
    fn at(&mut self, now: impl FnOnce(&PartId) -> Option<Part>, delta: &Delta) -> Option<Part> {
        let end = delta.at + delta.text.len();
        let known = self.parts.get(&delta.part_id).and_then(text_of);
        let length = known.map_or(0, str::len);
        if known.is_none() || length < delta.at {
            let part = now(&delta.part_id)?;
            self.parts.insert(delta.part_id.clone(), part);
        }
        let part = self.parts.get_mut(&delta.part_id)?;
        let text = text_in(part)?;
        if text.len() == delta.at {
            text.push_str(&delta.text);
            return Some(part.clone());
        }
        if !text.is_char_boundary(end) {
            return None;
        }
        let mut earlier = part.clone();
        text_in(&mut earlier)?.truncate(end);
        Some(earlier)
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(part) => Some(&part.text),
        Part::Reasoning(part) => Some(&part.text),
        _ => None,
    }
}

fn text_in(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text(part) => Some(&mut part.text),
        Part::Reasoning(part) => Some(&mut part.text),
        _ => None,
    }
}

fn has_ended(part: &Part) -> bool {
    match part {
        Part::Text(part) => part.time.as_ref().is_none_or(|time| time.end.is_some()),
        Part::Reasoning(part) => part.time.end.is_some(),
        _ => true,
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use lathe_protocol::{Extra, MessageId, SessionId, TextPart};

    use super::*;

    fn part(text: &str) -> Part {
        Part::Text(TextPart {
            id: PartId::parse("prt_a").expect("an id"),
            session_id: SessionId::parse("ses_a").expect("an id"),
            message_id: MessageId::parse("msg_a").expect("an id"),
            text: text.to_owned(),
            synthetic: None,
            ignored: None,
            time: None,
            metadata: None,
            extra: Extra::default(),
        })
    }

    fn delta(at: usize, text: &str) -> Delta {
        Delta {
            session_id: SessionId::parse("ses_a").expect("an id"),
            message_id: MessageId::parse("msg_a").expect("an id"),
            part_id: PartId::parse("prt_a").expect("an id"),
            at,
            text: text.to_owned(),
        }
    }

    fn text_at(parts: &mut StreamingParts, now: Option<&str>, delta: &Delta) -> Option<String> {
        let part = parts.at(|_| now.map(part), delta)?;
        text_of(&part).map(str::to_owned)
    }

    #[test]
    fn a_slower_subscriber_gets_the_text_of_then_and_a_later_one_the_rest() {
        let mut parts = StreamingParts::default();
        let pieces = [delta(0, "ä"), delta(2, "bc"), delta(4, "ü")];
        let mut seen = |delta| text_at(&mut parts, Some(""), delta);
        let first = [&pieces[0], &pieces[1], &pieces[2]].map(&mut seen);
        assert_eq!(
            first,
            ["ä", "äbc", "äbcü"].map(|text| Some(text.to_owned()))
        );
        let slower = [&pieces[1], &pieces[0]].map(&mut seen);
        assert_eq!(slower, ["äbc", "ä"].map(|text| Some(text.to_owned())));
    }

    #[test]
    fn a_part_that_is_not_known_is_read_from_where_it_streams() {
        let mut parts = StreamingParts::default();
        let third = delta(4, "ü");
        assert_eq!(text_at(&mut parts, None, &third), None);
        // It may already have more text than the subscriber is to see.
        let seen = text_at(&mut parts, Some("äbcüd"), &third);
        assert_eq!(seen.as_deref(), Some("äbcü"));
    }
}
